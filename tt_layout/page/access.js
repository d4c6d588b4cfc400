// What moving a tensor between registers and shared memory costs a warp: the rule of
// tt_layout.analyses.shared_memory.access, banks and addresses, under the same names.  What is linear is worked
// out on single bits, as BigInts; only padding, and lanes that collide, are enumerated.

const MATRIX_ROW_BYTES = 16;
const PARTITION_BYTES = 2 ** 20; // stands for the distance of two partitions
const MAX_INSTRUCTION_BITS = 16; // of all instructions of all warps at most 2^16 are looked at

/** Why an access cannot be worked out. */
class AccessError extends Error {}

// -- hardware location -> offset ----------------------------------------------------------------

/** Return where a register layout is stored in shared memory: the offsets of its bits. */
function accessMap(register, shared) {
  const elementBytes = bytesOfElements(register.spec.bits, shared.spec.bits);
  const vectors = Object.fromEntries(register.layout.ins);
  const offsets = (name, own) => own.map((vector) => offsetOf(shared, vector, name, elementBytes));
  return {
    register: offsets(
      "register",
      vectors.register.filter((vector) => vector.some(Boolean)),
    ),
    lane: offsets("lane", vectors.lane),
    warp: offsets("warp", vectors.warp),
    elementBytes,
    padding: shared.spec.padding,
  };
}

/** Return the bytes of an element that has as many bits on both sides. */
function bytesOfElements(held, kept) {
  const inBits = (bits) => ((bits ?? null) === null ? "an unknown number of bits" : counted(bits, "bit"));
  if (held !== kept) {
    const message = `elements have ${inBits(held)} in registers, but ${inBits(kept)} in memory`;
    throw new AccessError(`${message}: these are two tensors`);
  }
  if (kept === null || kept % 8) {
    const message = "elements in shared memory must be whole bytes";
    throw new AccessError(`${message}, but these have ${inBits(kept)}`);
  }
  if (!isPowerOfTwo(kept / 8) || kept > 128)
    throw new AccessError(`an element must have 1, 2, 4, 8 or 16 bytes, got ${kept / 8}`);
  return kept / 8;
}

/** Return the offset of the element of a register, lane or warp bit. */
function offsetOf(shared, element, name, elementBytes) {
  const place = shared.inverse.place(element);
  if (!place) throw new AccessError(`shared memory does not hold the element (${element})`);
  const { offset, partition } = shared.dims;
  const isElsewhere = place.some((value, d) => value && d !== offset && d !== partition);
  if (isElsewhere) throw new AccessError(`a ${name} bit reaches the memory of another CTA`);
  const far = shared.size("partition") > 1 ? shared.at(place, "partition") : 0;
  if (far && name === "lane") {
    const message = "lanes of one access reach several partitions of a partitioned_shared";
    throw new AccessError(`${message}: no document says what that takes`);
  }
  return BigInt(shared.at(place, "offset")) + BigInt(far) * BigInt(PARTITION_BYTES / elementBytes);
}

/** Return the target for warps as a layout has them; refuse a layout for warps of another size. */
function fittingTarget(places, target) {
  const lanes = 2 ** places.lane.length;
  const fitting = ofLanes(target, lanes);
  if (lanes === fitting.lanes) return fitting;
  const message = `the layout has ${counted(lanes, "lane")} per warp`;
  throw new AccessError(`${message}, but ${target.name} has ${target.lanes}`);
}

// -- the instruction ----------------------------------------------------------------------------

/** Return the instruction that the compiler uses for an access. */
function chooseInstruction(places, target, isStore) {
  const matrix = isStore ? "stmatrix" : "ldmatrix";
  if (target.matrixInstructions.includes(matrix) && !places.padding.length) {
    const hasBytes = target.matrixInstructions.includes(`${matrix}.b8`);
    const found = matrixRows(places) ?? transposedRows(places, { hasBytes, isStore });
    if (found) return matrixInstruction(places, found);
  }
  return (isStore ? null : transposingRead(places, target)) ?? vectorInstruction(places, target, isStore);
}

/** Return an instruction of which a thread's accesses have these forms. */
function madeOf(forms, rest) {
  const [first] = forms;
  return {
    forms,
    widthBytes: first.widthBytes * (first.addresses ? 2 : 1),
    count: forms.reduce((sum, form) => sum + form.instructions, 0),
    matrices: 0,
    ...rest,
  };
}

/** Return the plain loads or stores that an access becomes, joined as LLVM joins them. */
function vectorInstruction(places, target, isStore) {
  const { elementBytes, padding, register } = places;
  const rest = { kind: "vector", elementBytes, addresses: inBytes(places.lane, places) };
  let vector = compilerVector(places, target);
  if (padding.length || target.pairsAccesses) {
    const isMisaligned =
      !target.pairsAccesses && vector * elementBytes > alignmentOfVectors(places, vector);
    return madeOf(joinedForms(places, vector, target, isStore), { ...rest, isMisaligned });
  }
  vector = Math.max(vector, 2 ** joinedBits(places, Math.log2(target.maxVectorBytes / elementBytes)));
  const instructions = 2 ** register.length / vector;
  return madeOf([{ widthBytes: vector * elementBytes, instructions, addresses: "" }], rest);
}

/** Return a load as AMD's transposing reads; null where it has no tile, or the GPU none. */
function transposingRead(places, target) {
  const { elementBytes, register, padding } = places;
  const read = target.transposingReads[elementBytes];
  if (!read) return null;
  const tile = Math.min(...read.addresses.filter(([at]) => at === "lane").map(([, bit]) => bit));
  const moved = read.widthBytes / elementBytes;
  const isBroken = padding.some(([every]) => every < 2 ** tile);
  const lanes = Array.from({ length: tile }, (_, bit) => bit);
  if (2 ** register.length < moved || isBroken || !hasTile(places, lanes, [])) return null;
  const addresses = inBytes(
    read.addresses.map(([at, bit]) => places[at][bit]),
    places,
  );
  const instructions = 2 ** register.length / moved;
  const forms = [{ widthBytes: read.widthBytes, instructions, addresses: "" }];
  return madeOf(forms, { kind: "transposing", elementBytes, addresses });
}

/** Tell whether bits of the lane, then registers, are the lowest offset bits, and nothing else is. */
function hasTile({ register, lane, warp }, lanes, registers) {
  const tile = (1n << BigInt(lanes.length + registers.length)) - 1n;
  const own = lanes.map((bit) => lane[bit]);
  const others = [
    ...lane.filter((_, bit) => !lanes.includes(bit)),
    ...register.filter((basis) => !registers.includes(basis)),
    ...warp,
  ];
  const fits = isSame(own, units(lanes.length)) && registers.every((b) => register.includes(b));
  return fits && !others.some((basis) => basis & tile);
}

function inBytes(offsets, { elementBytes }) {
  return offsets.map((offset) => offset * BigInt(elementBytes));
}

function isSame(some, others) {
  return some.length === others.length && some.every((basis, k) => basis === others[k]);
}

/** Return the lowest `count` bits, one by one. */
function units(count) {
  return Array.from({ length: count }, (_, bit) => 1n << BigInt(bit));
}

/** Return the bits of the eight rows, where a row is 4 bytes of each of four lanes. */
function matrixRows({ register, lane, warp, elementBytes }) {
  if (elementBytes > 4) return null;
  const packed = log2(4 / elementBytes);
  const [packedUnits, across] = [units(packed), units(packed + 2).slice(packed)];
  const others = [...register.filter((b) => !packedUnits.includes(b)), ...lane.slice(2), ...warp];
  const fits = packedUnits.every((b) => register.includes(b)) && isSame(lane.slice(0, 2), across);
  const tile = (4n << BigInt(packed)) - 1n;
  return fits && !others.some((b) => b & tile) ? { kind: "matrix", rows: lane.slice(2) } : null;
}

/** Return the bits of the eight rows, where a row is a register or, of bytes, two of eight lanes. */
function transposedRows(places, { hasBytes, isStore }) {
  const { register, lane, elementBytes } = places;
  const isBytes = elementBytes === 1;
  if (lane.length < 5 || (isBytes ? !hasBytes : elementBytes !== 2)) return null;
  const inner = isBytes ? [8n] : [];
  const least = isBytes ? (isStore ? 2 : 3) : 1;
  if (register.length < least || !hasTile(places, [2, 3, 4], inner)) return null;
  const [first] = register.filter((basis) => !inner.includes(basis));
  return { kind: `matrix.trans${isBytes ? ".b8" : ""}`, rows: [first, ...lane.slice(0, 2)] };
}

function matrixInstruction(places, { kind, rows }) {
  const size = places.elementBytes;
  const perThread = 2 ** places.register.length;
  const registers = Math.min(MATRIX_ROW_BYTES / size, perThread);
  const forms = [
    { widthBytes: registers * size, instructions: perThread / registers, addresses: "" },
  ];
  const matrices = Math.floor((registers * size) / 4);
  return madeOf(forms, { kind, elementBytes: size, addresses: inBytes(rows, places), matrices });
}

/** Return the instruction as the target's assembler spells it. */
function instructionName({ instruction, isStore, target }) {
  const { kind, matrices, forms, elementBytes } = instruction;
  if (matrices) return matrixName(kind, matrices, isStore);
  if (kind === "transposing") return target.transposingReads[elementBytes].name;
  const word = Math.min(64, Math.max(32, 8 * elementBytes));
  return forms.map((form) => formName(form, word, target, isStore)).join("/");
}

function matrixName(kind, matrices, isStore) {
  const name = `${isStore ? "st" : "ld"}matrix`;
  if (kind !== "matrix.trans.b8") return `${name}.x${matrices}${kind.replace("matrix", "")}`;
  return isStore ? `${name}.m16n8.x${matrices}.trans.b8` : `${name}.m16n16.x${matrices / 2}.trans.b8`;
}

function formName({ widthBytes, addresses }, word, target, isStore) {
  const name = target.mnemonics[isStore ? 1 : 0];
  const bits = 8 * widthBytes;
  if (name.includes("_")) {
    const isOld = ["ds_read", "ds_write"].includes(name);
    const spelled = { "": "", 2: "_2addr", "2st64": "_2addr_stride64" }[addresses];
    return `${name}${isOld ? addresses : spelled}_${bits < 32 && !isStore ? "u" : "b"}${bits}`;
  }
  if (name.endsWith(".slm")) {
    const widened = bits < 32 ? "u32" : "";
    return `${name}.d${Math.min(bits, word)}${bits > word ? `x${bits / word}` : widened}`;
  }
  const vector = bits > word ? `v${bits / word}.` : "";
  return `${name}.${vector}b${Math.min(bits, word)}`;
}

/** Return how many elements of a lane the compiler moves at once, before its backend. */
function compilerVector(places, target) {
  const { padding, elementBytes } = places;
  const longest = Math.min(target.maxVectorBytes / elementBytes, ...padding.map(([every]) => every));
  let bits = Math.floor(Math.log2(longest));
  while (!isVector(places, bits)) bits -= 1;
  return 2 ** bits;
}

/** Tell whether registers are the lowest offset bits, and nothing else touches those. */
function isVector({ register, lane, warp, padding }, bits) {
  const wanted = units(bits);
  // With padding the compiler does not reorder registers.
  if (padding.length && !isSame(register.slice(0, bits), wanted)) return false;
  const others = [...register.filter((basis) => !wanted.includes(basis)), ...lane, ...warp];
  const mask = (1n << BigInt(bits)) - 1n;
  return wanted.every((b) => register.includes(b)) && !others.some((basis) => basis & mask);
}

/** Return how many of the lowest offset bits registers at constant distances span. */
function joinedBits(places, most) {
  const near = byDistance(places, places.register);
  const added = new Span(near.added);
  let bits = 0;
  while (bits < most && !((near.used >> BigInt(bits)) & 1n) && added.contains(1n << BigInt(bits)))
    bits += 1;
  return bits;
}

/**
 * Return the registers of a thread by what their offsets have in common with lanes and warps: a basis
 * of the distances between those that are alike in it, and what is xored, then added, for the others.
 */
function byDistance({ lane, warp, padding }, registers) {
  const used = [...lane, ...warp].reduce((all, basis) => all | basis, 0n);
  if (padding.length) {
    const added = registers.filter((basis) => !(basis & used));
    return { used, added, mixed: registers.filter((basis) => basis & used), constants: [] };
  }
  const pivots = new Map();
  const added = [];
  for (const register of registers) {
    let basis = register;
    const top = () => (basis & used).toString(2).length;
    while (basis & used && pivots.has(top())) basis ^= pivots.get(top());
    if (basis & used) pivots.set(top(), basis);
    else added.push(basis);
  }
  const mixed = [...pivots.values()];
  return {
    used,
    added,
    mixed: mixed.map((basis) => basis & used),
    constants: mixed.map((basis) => basis & ~used),
  };
}

// -- what LLVM joins: the rule of tt_layout.analyses.shared_memory.joined_accesses --------------------------------

const MAX_DISTANCE_BITS = 10;
const MAX_TERMS = 6;
const BASE_ALIGNMENT = 16;
const MAX_WIDTH = 16;
const STRIDE = 64;
const MAX_DISTANCE = 255;

/** Return the instructions of an access after LLVM has joined what it can. */
function joinedForms(places, vector, target, isStore) {
  const { lane, warp, padding, elementBytes } = places;
  const registers = places.register.filter((basis) => !units(Math.log2(vector)).includes(basis));
  const near = byDistance(places, registers);
  const isKnown = !padding.length || termsOf(lane) + termsOf(warp) <= MAX_TERMS;
  const alignment = isKnown ? alignmentOf([...lane, ...warp, ...near.mixed], places) : 0;
  const pairs = target.pairsAccesses;
  if (isStore && near.mixed.length && !padding.length && registers.length <= MAX_DISTANCE_BITS)
    return ordered(formsOfStores(registers, near.used, alignment, vector, elementBytes));
  const added = near.added.map(Number).sort((a, b) => a - b);
  added.splice(MAX_DISTANCE_BITS);
  const firsts = cosets(near.constants, added).slice(0, MAX_DISTANCE_BITS - added.length);
  const found = new Map();
  for (const first of allValues(firsts)) {
    const slots = allValues(added).map((at) => padded(xor(at, first), padding) * elementBytes);
    slots.sort((a, b) => a - b);
    pairUp(joinNeighbours(slots, vector * elementBytes, alignment, pairs), pairs, found);
  }
  return ordered(found, 2 ** (registers.length - added.length - firsts.length));
}

/** Return so many instructions of each width and form, the most frequent first. */
function ordered(found, times = 1) {
  const forms = [...found.values()].map((form) => ({
    ...form,
    instructions: times * form.instructions,
  }));
  return forms.sort((a, b) => b.instructions - a.instructions || b.widthBytes - a.widthBytes);
}

/**
 * Return the instructions of stores from several addresses: none of two is paired past one from
 * another address that it may meet.
 */
function formsOfStores(registers, used, alignment, vector, elementBytes) {
  const places = allValues(programOrder(registers, used).map(Number));
  const stores = places.map(BigInt).map((place, number) => {
    return { number, address: place & used, distance: Number(place & ~used) * elementBytes };
  });
  const reach = Number(used) * elementBytes;
  const found = new Map();
  const groups = [...Map.groupBy(stores, ({ address }) => address)];
  for (const [address, own] of groups.sort(([a], [b]) => Number(a - b))) {
    const numbers = new Map(own.map(({ distance, number }) => [distance, number]));
    const mayPair = (...two) => {
      const [first, second] = two.map((piece) => numbers.get(piece.distance)).sort((a, b) => a - b);
      const near = reach + two[0].width;
      const meets = (one) => Math.abs(one.distance - stores[first].distance) < near;
      const passed = stores.slice(first + 1, second);
      return !passed.some((one) => one.address !== address && meets(one));
    };
    const distances = [...numbers.keys()].sort((a, b) => a - b);
    const pieces = joinNeighbours(distances, vector * elementBytes, alignment, true);
    pairUp(pieces, true, found, mayPair);
  }
  return found;
}

/** Return registers as the compiler stores them: first those whose offsets it only adds. */
function programOrder(registers, used) {
  for (let rest = []; ; ) {
    const taken = rest.reduce((all, basis) => all | basis, used);
    const more = registers.filter((basis) => basis & taken);
    if (more.length === rest.length)
      return [...registers.filter((basis) => !rest.includes(basis)), ...rest];
    rest = more;
  }
}

/** Return those of the constants that lead to distances that the others and `added` lack. */
function cosets(constants, added) {
  const span = new Span([...added.map(BigInt), ...constants]);
  const later = span.pivots.filter((index) => index >= added.length);
  return later.map((index) => Number(constants[index - added.length]));
}

/** Return how many shifted parts of the lane, or of the warp, an address is the xor of. */
function termsOf(bases) {
  return bases.filter((basis, k) => basis && basis !== 2n * (bases[k - 1] ?? 0n)).length;
}

/** Return what the addresses of all vectors of an access are multiples of, in bytes. */
function alignmentOfVectors(places, vector) {
  const registers = places.register.filter((basis) => basis >= BigInt(vector));
  return alignmentOf([...registers, ...places.lane, ...places.warp], places);
}

/** Return what the addresses that some bases lead to are multiples of, padding included. */
function alignmentOf(bases, { padding, elementBytes }) {
  const added = [BASE_ALIGNMENT];
  for (const basis of bases.map(Number).filter(Boolean)) {
    added.push(basis * elementBytes);
    for (const [every, gap] of padding)
      if (basis >= every) added.push(Math.floor(basis / every) * gap * elementBytes);
  }
  return Math.min(...added.map(lowestBit));
}

function lowestBit(value) {
  return Number(BigInt(value) & -BigInt(value));
}

/** Return the accesses from one address after LLVM has joined neighbours. */
function joinNeighbours(distances, width, alignment, pairs) {
  const pieces = [];
  for (let at = 0; at < distances.length; ) {
    const start = distances[at];
    const own = start ? Math.min(alignment, lowestBit(start)) : alignment;
    let count = Math.max(1, MAX_WIDTH / width);
    const areNeighbours = (n) => distances[at + n - 1] - start === (n - 1) * width;
    while (count > 1 && !(areNeighbours(count) && mayBe(count * width, own, pairs))) count /= 2;
    const joined = count * width;
    pieces.push({ distance: start, width: joined, isSplit: count > 1 && joined > own && own >= 4 });
    at += count;
  }
  return pieces;
}

/** Tell whether LLVM makes an access so wide at an address so aligned. */
function mayBe(width, alignment, pairs) {
  if (!pairs || width <= 4 || !alignment) return alignment >= width;
  return 2 * alignment >= width || alignment < 4;
}

/** Count how many instructions of each width and form the accesses from one address are. */
function pairUp(pieces, pairs, found, mayPair = (_piece, _other) => true) {
  for (let at = 0; at < pieces.length; ) {
    const piece = pieces[at];
    const other = pieces[at + 1];
    const form = pairs && other && mayPair(piece, other) ? formOf(piece, other) : "";
    const isSplit = pairs && piece.isSplit;
    const own = isSplit
      ? { widthBytes: piece.width / 2, addresses: "2" }
      : { widthBytes: piece.width, addresses: form };
    const key = `${own.widthBytes} ${own.addresses}`;
    found.set(key, { ...own, instructions: (found.get(key)?.instructions ?? 0) + 1 });
    at += form ? 2 : 1;
  }
}

/** Return the form of one instruction for two accesses; empty where there is none. */
function formOf(piece, other) {
  const { width } = piece;
  const isAlike = other.width === width && !piece.isSplit && !other.isSplit;
  if (!isAlike || ![4, 8].includes(width)) return "";
  if (piece.distance % width || other.distance % width) return "";
  const [first, second] = [piece.distance / width, other.distance / width];
  const longest = MAX_DISTANCE * STRIDE;
  if (!(first % STRIDE || second % STRIDE) && second <= longest) return "2st64";
  if (second <= MAX_DISTANCE) return "2";
  if ((second - first) % STRIDE === 0 && second - first <= longest) return "2st64";
  return second - first <= MAX_DISTANCE ? "2" : "";
}

// -- the cost -----------------------------------------------------------------------------------

/** Return the cost of one access. */
function cost(places, target, isStore) {
  const instruction = chooseInstruction(places, target, isStore);
  const { matrices, forms, count } = instruction;
  if (matrices) {
    const phase = target.matrixPhase;
    const wavefronts = matrices * wavefrontsOfPhase(instruction, MATRIX_ROW_BYTES, phase, target);
    return {
      ...{ target, isStore, instruction, phase, phases: matrices, places },
      wavefrontsPerInstruction: wavefronts,
    };
  }
  const phase = mergedPhase(forms[0].widthBytes, instruction, target, isStore);
  let [ideal, total] = [0, 0];
  for (const { widthBytes, instructions, addresses } of forms) {
    const own = mergedPhase(widthBytes, instruction, target, isStore);
    const accesses = instructions * (addresses ? 2 : 1);
    const phases = target.lanes / 2 ** own.masks.length;
    ideal += accesses * phases;
    total +=
      accesses *
      (places.padding.length
        ? meanCycles(places, instruction, widthBytes, own, target)
        : phases * wavefrontsOfPhase(instruction, widthBytes, own, target));
  }
  return {
    ...{ target, isStore, instruction, phase, phases: ideal / count, places },
    wavefrontsPerInstruction: total / count,
  };
}

/** Return the phase of an access of some width, twice as large where two go together. */
function mergedPhase(widthBytes, instruction, target, isStore) {
  const table = (isStore && target.storePhases) || target.loadPhases;
  const narrowest = Math.min(...Object.keys(table).map(Number));
  const phase = table[Math.max(widthBytes, narrowest)];
  const lanes = 2 ** phase.masks.length;
  const isWide = widthBytes > target.bankBytes && lanes < target.lanes;
  const isRepeated = instruction.addresses.slice(0, 2).includes(0n);
  if (!target.mergesWideLoads || isStore || !isWide || !isRepeated) return phase;
  return { ...phase, masks: [...phase.masks, lanes] };
}

/** Return the wavefronts of one phase: its words are a coset of a subspace, and so are their banks. */
function wavefrontsOfPhase(instruction, width, phase, target) {
  const perLane = Math.max(1, width / target.bankBytes);
  const bases = phase.masks.map((mask) => xorOfBits(instruction.addresses, mask));
  const words = [...bases.map((b) => b / BigInt(target.bankBytes)), ...units(log2(perLane))];
  const banks = new Span(words.map((word) => word % BigInt(phase.banks)));
  return 2 ** (new Span(words).rank - banks.rank);
}

/** Return the xor of the bases of a mask's bits. */
function xorOfBits(bases, mask) {
  return bases.reduce((sum, basis, bit) => (hasBit(mask, bit) ? sum ^ basis : sum), 0n);
}

// -- addresses enumerated: for padding, and to show which lanes collide --------------------------

/** Return the xor of every subset of the bases, that of a mask's bits at its index. */
function allValues(bases) {
  return bases.reduce((values, b) => [...values, ...values.map((v) => xor(v, b))], [0]);
}

/** Return the position in memory of an unpadded offset. */
function padded(offset, padding) {
  return padding.reduce((sum, [every, gap]) => sum + Math.floor(offset / every) * gap, offset);
}

/** Return the lanes of every phase. */
function phaseLanes(phase, lanes) {
  const members = allValues(phase.masks);
  const groups = new Map();
  for (let lane = 0; lane < lanes; lane++) {
    const group = members.map((member) => member ^ lane).sort((a, b) => a - b);
    groups.set(group[0], group);
  }
  return [...groups.values()];
}

/** Return the words that an access of some bytes at an address touches. */
function wordsOf(address, width, bankBytes) {
  const first = Math.floor(address / bankBytes);
  return Array.from({ length: Math.max(1, width / bankBytes) }, (_, k) => first + k);
}

/** Return how many different words the fullest bank has. */
function wavefrontsOfWords(words, banks) {
  const counts = Array(banks).fill(0);
  for (const word of new Set(words)) counts[word % banks] += 1;
  return Math.max(...counts);
}

/** Return the offset that each lane gives, in elements and before padding. */
function unpadded({ addresses }, { elementBytes }) {
  return allValues(addresses.map((address) => Number(address) / elementBytes));
}

/** Return the mean wavefronts of accesses of some width, over all warps, padding included. */
function meanCycles(places, instruction, width, phase, target) {
  const vector = BigInt(width / places.elementBytes);
  const firsts = places.register.filter((basis) => !(basis & (vector - 1n)));
  const bases = [...firsts, ...places.warp].slice(0, MAX_INSTRUCTION_BITS);
  const lanes = unpadded(instruction, places);
  const groups = phaseLanes(phase, target.lanes);
  let [wavefronts, instructions] = [0, 0];
  for (const [start, count] of classesOf(bases, places, target.bankBytes)) {
    for (const group of groups) {
      const words = group.flatMap((lane) => {
        const address = padded(xor(start, lanes[lane]), places.padding) * places.elementBytes;
        return wordsOf(address, width, target.bankBytes);
      });
      wavefronts += count * wavefrontsOfWords(words, phase.banks);
    }
    instructions += count;
  }
  return wavefronts / instructions;
}

/**
 * Return instructions that differ in their wavefronts, and how many are like each.  Where every padding
 * is whole words, an instruction that differs from another only in bits that no lane moves has the
 * other's addresses, all moved by the same number of words.
 */
function classesOf(bases, places, bankBytes) {
  const starts = allValues(bases.map(Number));
  const isWhole = places.padding.every(([, gap]) => (gap * places.elementBytes) % bankBytes === 0);
  const used = places.lane.reduce((all, basis) => all | basis, 0n);
  const classes = new Map();
  for (const start of starts) {
    const key = isWhole ? Number(BigInt(start) & used) : start;
    classes.set(key, (classes.get(key) ?? 0) + 1);
  }
  return classes;
}

/**
 * Return lanes and words of the first instruction's phase with most wavefronts.  Of a matrix
 * instruction the lanes are those that give the addresses of its first matrix.
 */
function firstPhase({ instruction, phase, places, target }) {
  const { padding, elementBytes } = places;
  if (instruction.matrices) {
    const rows = allValues(instruction.addresses.map(Number));
    const words = rows.map((row) => wordsOf(row, MATRIX_ROW_BYTES, target.bankBytes));
    return { lanes: rows.map((_, row) => row), words };
  }
  const addresses = unpadded(instruction, places).map((at) => padded(at, padding) * elementBytes);
  const width = instruction.forms[0].widthBytes;
  const words = addresses.map((at) => wordsOf(at, width, target.bankBytes));
  const groups = phaseLanes(phase, target.lanes);
  const wavefronts = groups.map((lanes) =>
    wavefrontsOfWords(
      lanes.flatMap((l) => words[l]),
      phase.banks,
    ),
  );
  const lanes = groups[wavefronts.indexOf(Math.max(...wavefronts))];
  return { lanes, words: lanes.map((lane) => words[lane]) };
}

/** Return the banks of the first instruction's worst phase that have conflicts. */
function collisions(access) {
  const { banks } = access.phase;
  const { lanes, words } = firstPhase(access);
  return Array.from({ length: banks }, (_, bank) => {
    const touching = lanes.filter((_, k) => words[k].some((word) => word % banks === bank));
    const here = new Set(words.flat().filter((word) => word % banks === bank));
    return { bank, lanes: touching, words: [...here].sort((a, b) => a - b) };
  }).filter((collision) => collision.words.length > 1);
}

/** Return in which cycle of the worst phase each word is served: a bank serves one in each. */
function cycleOfWords(access) {
  const served = Array(access.phase.banks).fill(0);
  const cycles = new Map();
  for (const word of firstPhase(access).words.flat())
    if (!cycles.has(word)) cycles.set(word, served[word % access.phase.banks]++);
  return cycles;
}

/** Return a basis of the lane masks that lead to another word of the same bank. */
function collidingBits(access) {
  const { lanes, words } = firstPhase(access);
  const weight = (mask) => mask.toString(2).replaceAll("0", "").length;
  const masks = lanes
    .filter((_, k) => {
      const moved = words[k][0] - words[0][0];
      return moved !== 0 && moved % access.phase.banks === 0;
    })
    .map((lane) => lane ^ lanes[0])
    .sort((a, b) => weight(a) - weight(b) || a - b);
  return new Span(masks.map(BigInt)).pivots.map((k) => masks[k]);
}
