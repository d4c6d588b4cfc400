// What moving a tensor between registers and shared memory costs a warp: the rule of
// tt_layout.analyses.access, banks and addresses, under the same names.  What is linear is worked
// out on single bits, as BigInts; only padding, and lanes that collide, are enumerated.

const MATRIX_ROW_BYTES = 16;
const MAX_INSTRUCTION_BITS = 16; // of all instructions of all warps at most 2^16 are looked at

/** Why an access cannot be worked out. */
class AccessError extends Error {}

// -- hardware location -> offset ----------------------------------------------------------------

/** Return where a register layout is stored in shared memory: the offsets of its bits. */
function accessMap(register, shared) {
  const elementBytes = bytesOfElements(register.spec.bits, shared.spec.bits);
  if (shared.size("partition") > 1) {
    const message = "the partitions of a partitioned_shared are buffers at unknown distances";
    throw new AccessError(`${message}, so their banks are not known`);
  }
  const vectors = Object.fromEntries(register.layout.ins);
  const offsets = (name, own) => own.map((vector) => offsetOf(shared, vector, name));
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
  const inBits = (bits) => `${bits ?? "an unknown number of"} bits`;
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
function offsetOf(shared, element, name) {
  const place = shared.inverse.place(element);
  if (!place) throw new AccessError(`shared memory does not hold the element (${element})`);
  const isElsewhere = place.some((value, d) => value && d !== shared.dims.offset);
  if (isElsewhere) throw new AccessError(`a ${name} bit reaches the memory of another CTA`);
  return BigInt(shared.at(place, "offset"));
}

/** Refuse a layout for warps of another size than the target's. */
function checkLanes(places, target) {
  const lanes = 2 ** places.lane.length;
  if (lanes === target.lanes) return;
  const message = `the layout has ${lanes} lanes per warp`;
  throw new AccessError(`${message}, but ${target.name} has ${target.lanes}`);
}

// -- the instruction ----------------------------------------------------------------------------

/** Return the instruction that the compiler uses for an access. */
function chooseInstruction(places, target, isStore) {
  const matrix = isStore ? "stmatrix" : "ldmatrix";
  if (target.matrixInstructions.includes(matrix) && !places.padding.length) {
    const found = matrixRows(places) ?? transposedRows(places);
    if (found) return matrixInstruction(places, found);
  }
  const vector = vectorElements(places, target);
  return {
    kind: "vector",
    widthBytes: vector * places.elementBytes,
    count: 2 ** places.register.length / vector,
    addresses: inBytes(places.lane, places),
    matrices: 0,
  };
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

/** Return the bits of the eight rows, where a row is 2 bytes of each of eight lanes. */
function transposedRows({ register, lane, warp, elementBytes }) {
  if (elementBytes !== 2 || !register.length || !isSame(lane.slice(2), units(3))) return null;
  const others = [...register, ...lane.slice(0, 2), ...warp];
  if (others.some((basis) => basis & 7n)) return null;
  return { kind: "matrix.trans", rows: [register[0], ...lane.slice(0, 2)] };
}

function matrixInstruction(places, { kind, rows }) {
  const size = places.elementBytes;
  const perThread = 2 ** places.register.length;
  const registers = Math.min(MATRIX_ROW_BYTES / size, perThread);
  return {
    kind,
    widthBytes: registers * size,
    count: perThread / registers,
    addresses: inBytes(rows, places),
    matrices: Math.floor((registers * size) / 4),
  };
}

/** Return the instruction as the target's assembler spells it. */
function instructionName({ instruction, isStore, target }) {
  if (instruction.matrices) {
    const transposed = instruction.kind === "matrix.trans" ? ".trans" : "";
    return `${isStore ? "st" : "ld"}matrix.x${instruction.matrices}${transposed}`;
  }
  const name = target.mnemonics[isStore ? 1 : 0];
  const bits = 8 * instruction.widthBytes;
  if (name.includes("_")) return `${name}_${bits < 32 && !isStore ? "u" : "b"}${bits}`;
  const vector = bits > 32 ? `v${bits / 32}.` : "";
  return `${name}.${vector}b${Math.min(bits, 32)}`;
}

/** Return how many elements of a lane one instruction moves. */
function vectorElements(places, target) {
  const { padding, elementBytes } = places;
  const longest = Math.min(target.maxVectorBytes / elementBytes, ...padding.flat());
  let bits = Math.floor(Math.log2(longest));
  while (!isVector(places, bits)) bits -= 1;
  if (target.joinsRegisters && !padding.length)
    bits = Math.max(bits, joinedBits(places, Math.floor(Math.log2(longest))));
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
function joinedBits({ register, lane, warp }, most) {
  const fixed = [...lane, ...warp];
  const used = fixed.reduce((all, basis) => all | basis, 0n);
  const added = new Span(register.filter((basis) => !(basis & used)));
  const free = register.filter((basis) => basis & used).reduce((all, b) => all | b, used);
  let bits = 0;
  while (bits < most && !((free >> BigInt(bits)) & 1n) && added.contains(1n << BigInt(bits)))
    bits += 1;
  return bits;
}

// -- the cost -----------------------------------------------------------------------------------

/** Return the cost of one access. */
function cost(places, target, isStore) {
  const instruction = chooseInstruction(places, target, isStore);
  const phase = instruction.matrices ? target.matrixPhase : mergedPhase(instruction, target, isStore);
  const phases = instruction.matrices || target.lanes / 2 ** phase.masks.length;
  const wavefrontsPerInstruction = places.padding.length
    ? meanCycles(places, instruction, phase, target)
    : phases * wavefrontsOfPhase(instruction, phase, target);
  return { target, isStore, instruction, phase, phases, wavefrontsPerInstruction, places };
}

/** Return the phase of an access, twice as large where two go together. */
function mergedPhase(instruction, target, isStore) {
  const table = isStore ? target.storePhases : target.loadPhases;
  const narrowest = Math.min(...Object.keys(table).map(Number));
  const phase = table[Math.max(instruction.widthBytes, narrowest)];
  const lanes = 2 ** phase.masks.length;
  const isWide = instruction.widthBytes > target.bankBytes && lanes < target.lanes;
  const isRepeated = instruction.addresses.slice(0, 2).includes(0n);
  if (!target.mergesWideLoads || isStore || !isWide || !isRepeated) return phase;
  return { ...phase, masks: [...phase.masks, lanes] };
}

/** Return the wavefronts of one phase: its words are a coset of a subspace, and so are their banks. */
function wavefrontsOfPhase(instruction, phase, target) {
  const width = instruction.matrices ? MATRIX_ROW_BYTES : instruction.widthBytes;
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

/** Return the mean wavefronts of an access's instructions, over all warps, padding included. */
function meanCycles(places, instruction, phase, target) {
  const vector = BigInt(instruction.widthBytes / places.elementBytes);
  const firsts = places.register.filter((basis) => !(basis & (vector - 1n)));
  const bases = [...firsts, ...places.warp].slice(0, MAX_INSTRUCTION_BITS);
  const lanes = allValues(places.lane.map(Number));
  const groups = phaseLanes(phase, target.lanes);
  let [wavefronts, instructions] = [0, 0];
  for (const [start, count] of classesOf(bases, places, target.bankBytes)) {
    for (const group of groups) {
      const words = group.flatMap((lane) => {
        const address = padded(xor(start, lanes[lane]), places.padding) * places.elementBytes;
        return wordsOf(address, instruction.widthBytes, target.bankBytes);
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
  const addresses = allValues(places.lane.map(Number)).map(
    (at) => padded(at, padding) * elementBytes,
  );
  const words = addresses.map((at) => wordsOf(at, instruction.widthBytes, target.bankBytes));
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
