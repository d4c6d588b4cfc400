// Attribute and type texts that can be edited in the page.  The rules are those of
// tt_layout.encodings; kinds that are not here are read by the tool only.

/** What is wrong with a text. */
class TextError extends Error {}

const TOKEN = /\s*(?:(#?[A-Za-z_][\w.]*)|(-?\d+)|([<>{}[\](),=:+]))/y;

/** Split a text into words, numbers and signs. */
function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new TextError(`cannot read ${quoted(text, start)}`);
    found.push({ text: match[1] ?? match[2] ?? match[3], at: start, isNumber: Boolean(match[2]) });
  }
  return found;
}

function quoted(text, start) {
  const part = text.slice(start).trim().slice(0, 12);
  return part
    ? `“${part}” at column ${text.length - text.slice(start).trimStart().length + 1}`
    : "the end";
}

/** A text read from left to right. */
class Reader {
  constructor(text) {
    this.text = text;
    this.tokens = tokens(text);
    this.next = 0;
  }

  peek() {
    return this.tokens[this.next]?.text;
  }

  take(sign) {
    if (this.peek() !== sign) this.fail(`expected ${sign ?? "more"}`);
    this.next += 1;
  }

  accept(sign) {
    if (this.peek() !== sign) return false;
    this.next += 1;
    return true;
  }

  word() {
    const token = this.tokens[this.next];
    if (!token || !/^#?[A-Za-z_]/.test(token.text)) this.fail("expected a name");
    this.next += 1;
    return token.text;
  }

  value() {
    const token = this.tokens[this.next];
    if (!token) this.fail("expected a value");
    if (token.text === "[") return this.list();
    if (token.isNumber) {
      this.next += 1;
      return Number(token.text);
    }
    const word = this.word();
    return word === "true" || word === "false" ? word === "true" : word;
  }

  list() {
    const values = [];
    this.take("[");
    if (this.accept("]")) return values;
    do values.push(this.value());
    while (this.accept(","));
    this.take("]");
    return values;
  }

  /** Read [interval:+padding, ...]. */
  paddings() {
    const pairs = [];
    this.take("[");
    do {
      const interval = this.value();
      this.take(":");
      this.take("+");
      pairs.push([interval, this.value()]);
    } while (this.accept(","));
    this.take("]");
    return pairs;
  }

  end() {
    if (this.next < this.tokens.length) this.fail("expected the end");
  }

  fail(message) {
    const at = this.tokens[this.next]?.at ?? this.text.length;
    throw new TextError(`${message}, found ${quoted(this.text, at)}`);
  }
}

/** Return name and values of an attribute such as #ttg.blocked<{...}>. */
function parseAttribute(text) {
  const reader = new Reader(text);
  const name = reader.word();
  if (!name.startsWith("#"))
    throw new TextError("an attribute begins with #, as #ttg.linear<{...}>");
  if (!(name in KINDS)) throw new TextError(unreadable(name));
  const values = {};
  reader.take("<");
  if (reader.peek() === "[") values.paddings = reader.paddings();
  reader.take("{");
  if (reader.peek() !== "}") readPairs(reader, values);
  reader.take("}");
  if (reader.accept(",")) readPairs(reader, values);
  reader.take(">");
  reader.end();
  return { name, values };
}

function unreadable(name) {
  const known = [...new Set(Object.values(KINDS).map((kind) => kind.mnemonic))].join(", ");
  return `this page reads ${known}; for ${name} edit the bases, or run tt-layout again`;
}

function readPairs(reader, values) {
  do {
    const key = reader.word();
    reader.take("=");
    if (key in values) reader.fail(`${key} is given twice`);
    values[key] = reader.value();
  } while (reader.accept(","));
}

/** Return the shape and the element type of a type such as tensor<16x16xf16>. */
function parseType(text) {
  const match =
    /^\s*(tensor|!(?:ttg|tt|triton_gpu)\.memdesc)\s*<\s*((?:\d+\s*x\s*)+)(!tt\.ptr|[a-z]\w*)/.exec(
      text,
    );
  if (!match) throw new TextError("expected a type such as tensor<16x16xf16>");
  const shape = match[2]
    .split("x")
    .map((part) => part.trim())
    .filter(Boolean)
    .map(Number);
  for (const size of shape) {
    if (!isPowerOfTwo(size))
      throw new TextError(`every dimension must be a power of two, got ${show(shape)}`);
  }
  if (product(shape) > 2 ** 53) throw new TextError("the page shows at most 2^53 elements");
  return { shape, bits: elementBits(match[3]) };
}

/** Return the width of an element type in bits; null where it has none. */
function elementBits(name) {
  if (name === "!tt.ptr") return 64;
  const named = { bf16: 16, tf32: 32, index: null }[name];
  if (named !== undefined) return named;
  const match = /^(?:[su]?i|f)(\d+)/.exec(name);
  if (!match) throw new TextError(`unknown element type ${name}`);
  return Number(match[1]);
}

/** Write nested lists as MLIR does. */
function show(value) {
  return Array.isArray(value) ? `[${value.map(show).join(", ")}]` : String(value);
}

// -- releases -------------------------------------------------------------------------------

/** Tell whether a release is another or a later one. */
function isSince(release, first) {
  return DATA.releases.indexOf(release) >= DATA.releases.indexOf(first);
}

/** Return values by the names that this page has for their keys in an attribute of a release. */
function ownNames(values, name, release) {
  const renamed = DATA.renamedKeys[release]?.[name.slice(1)] ?? {};
  return Object.fromEntries(Object.entries(values).map(([k, v]) => [renamed[k] ?? k, v]));
}

/** Return an error that calls keys as an attribute of a release does. */
function inItsNames(error, name, release) {
  const renamed = DATA.renamedKeys[release]?.[name.slice(1)] ?? {};
  const written = Object.fromEntries(Object.entries(renamed).map(([k, own]) => [own, k]));
  return new TextError(error.message.replace(/\w+/g, (word) => written[word] ?? word));
}

// -- kinds ----------------------------------------------------------------------------------

/** Return values after checking that exactly these keys are there. */
function keys(name, values, wanted, optional = []) {
  for (const key of Object.keys(values)) {
    if (!wanted.includes(key) && !optional.includes(key))
      throw new TextError(`${name} has no key ${key}`);
  }
  for (const key of wanted) {
    if (!(key in values)) throw new TextError(`${name} needs the key ${key}`);
  }
  return values;
}

function checkIntegers(key, list) {
  if (!Array.isArray(list) || !list.every(Number.isInteger)) {
    throw new TextError(`${key} must be a list of numbers, got ${show(list)}`);
  }
}

function checkPowers(key, list) {
  checkIntegers(key, list);
  if (!list.every(isPowerOfTwo)) {
    throw new TextError(`every entry of ${key} must be a power of two, got ${show(list)}`);
  }
}

function checkOrder(order) {
  checkIntegers("order", order);
  const sorted = [...order].sort((a, b) => a - b);
  if (!order.length || sorted.some((d, k) => d !== k)) {
    throw new TextError(
      `order must be a permutation of 0..${Math.max(0, order.length - 1)}, got ${show(order)}`,
    );
  }
}

/** Check a list of basis vectors of `rank` components each. */
function checkBases(key, bases, rank) {
  if (!Array.isArray(bases)) throw new TextError(`${key} must be a list of basis vectors`);
  for (const vector of bases) {
    checkIntegers(`a basis of ${key}`, vector);
    if (vector.length !== rank) {
      throw new TextError(`a basis of ${key} must have ${rank} numbers, got ${show(vector)}`);
    }
    if (vector.some((step) => step < 0 || step > Number.MAX_SAFE_INTEGER)) {
      throw new TextError(
        `a basis of ${key} must not be negative or beyond 2^53, got ${show(vector)}`,
      );
    }
  }
}

function checkRank(name, rank, shape) {
  if (rank !== shape.length) {
    throw new TextError(
      `${name} is for ${rank} dimension${rank === 1 ? "" : "s"}, but the shape is ${show(shape)}`,
    );
  }
}

/** Return the layout from block to the tensor. */
function cgaLayout(cga, rank) {
  checkBases("CGALayout", cga, rank);
  return spanned([["block", cga]], rank);
}

/** Return bases with the sizes that they span. */
function spanned(ins, rank) {
  const vectors = ins.flatMap(([, own]) => own);
  const outs = Array.from({ length: rank }, (_, d) => {
    const largest = Math.max(0, ...vectors.map((v) => v[d]));
    return [`dim${d}`, 2 ** (largest ? Math.floor(Math.log2(largest)) + 1 : 0)];
  });
  return { ins, outs };
}

function blockedLayout(values, shape, release) {
  keys(
    "blocked",
    values,
    ["sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"],
    ["CGALayout"],
  );
  const { sizePerThread, threadsPerWarp, warpsPerCTA, order, CGALayout = [] } = values;
  const lists = { sizePerThread, threadsPerWarp, warpsPerCTA };
  checkOrder(order);
  for (const [key, list] of Object.entries(lists)) {
    checkPowers(key, list);
    if (list.length !== order.length) {
      throw new TextError(
        `${key} must have ${order.length} entries as order has, got ${show(list)}`,
      );
    }
  }
  checkRank("this blocked", order.length, shape);
  const tile = [
    ["register", sizePerThread],
    ["lane", threadsPerWarp],
    ["warp", warpsPerCTA],
  ]
    .map(([input, sizes]) => identityNd(input, sizes, order))
    .reduce(times);
  return cover(tile, cgaLayout(CGALayout, order.length), shape, order, isSince(release, "3.9"));
}

const DISTRIBUTED = ["register", "lane", "warp", "block"];

function linearLayout(values, shape) {
  keys("linear", values, DISTRIBUTED);
  const rank = shape.length;
  for (const key of DISTRIBUTED) checkBases(key, values[key], rank);
  for (const key of ["register", "lane", "block"]) checkOneDimension(key, values[key]);
  const natural = spanned(
    DISTRIBUTED.map((key) => [key, values[key]]),
    rank,
  );
  if (!new Inverse(natural).reachesAll) {
    throw new TextError(
      `the bases must reach every element of the shape they span (${show(natural.outs.map(([, s]) => s))})`,
    );
  }
  const moved = values.register.flatMap((v) => v.flatMap((step, d) => (step ? [d] : [])));
  const order = [...new Set([...moved, ...shape.map((_, d) => rank - 1 - d)])];
  const sizeOf = (name) => shape[Number(name.slice(3))];
  const ordered = withOuts(
    natural,
    order.map((d) => `dim${d}`),
  );
  return withOuts(
    clip(grow(ordered, sizeOf), sizeOf, true),
    shape.map((_, d) => `dim${d}`),
  );
}

/** Return the layout of #ttg.linear: a permutation matrix but for zero bases. */
function permutationLayout(values, shape) {
  const layout = linearLayout(values, shape);
  checkOneDimension("warp", values.warp);
  const steps = DISTRIBUTED.flatMap((key) => values[key]).filter((v) => v.some(Boolean));
  const isPermutation =
    steps.every((v) => v.every((step) => !step || isPowerOfTwo(step))) &&
    new Set(steps.map(show)).size === steps.length;
  if (!isPermutation) {
    throw new TextError(
      "#ttg.linear must be a permutation matrix but for zero bases; #ttg.generic_linear need not be",
    );
  }
  return layout;
}

function checkOneDimension(key, bases) {
  const wrong = bases.find((vector) => vector.filter(Boolean).length > 1);
  if (wrong)
    throw new TextError(`a basis of ${key} may move in one dimension only, got ${show(wrong)}`);
}

function sharedLinearLayout(values, shape) {
  keys("shared_linear", values, ["offset", "alignment"], ["block"]);
  return sharedBases(values, shape);
}

/** Return the layout from offset and block, after checking that they reach just this shape. */
function sharedBases({ offset, block = [] }, shape) {
  checkBases("offset", offset, shape.length);
  checkBases("block", block, shape.length);
  const layout = spanned(
    [
      ["offset", offset],
      ["block", block],
    ],
    shape.length,
  );
  const own = layout.outs.map(([, size]) => size);
  checkOwnShape("these bases are", own, shape);
  if (!new Inverse(layout).reachesAll) {
    throw new TextError(`the bases must reach every element of the shape they span (${show(own)})`);
  }
  return layout;
}

/** Return the part of a shape that one CTA holds. */
function shapePerCta(cga, shape) {
  return shape.map((size, d) => size / Math.min(size, 2 ** cga.filter((v) => v[d]).length));
}

function swizzledLayout(values, shape, release, rotates = false) {
  keys("swizzled_shared", values, ["vec", "perPhase", "maxPhase", "order"], ["CGALayout"]);
  const { vec, perPhase, maxPhase, order, CGALayout = [] } = values;
  for (const [key, value] of Object.entries({ vec, perPhase, maxPhase })) {
    if (!isPowerOfTwo(value))
      throw new TextError(`${key} must be a power of two, got ${show(value)}`);
  }
  checkOrder(order);
  checkRank("this swizzled_shared", order.length, shape);
  const cga = cgaLayout(CGALayout, order.length);
  const split = shapePerCta(CGALayout, shape);
  if (order.length === 1) return cover(identity(split[0], "offset", "dim0"), cga, shape, [0]);
  const extent = rotates ? shape : split;
  const phase = (row) => {
    const turn = rotates ? Math.floor(row / (perPhase * maxPhase)) % maxPhase : 0;
    return vec * ((Math.floor(row / perPhase) % maxPhase) ^ turn);
  };
  const [column, row, ...further] = order;
  const tile = [
    swizzledPlane(column, row, extent, phase),
    ...further.map((d) => identity(extent[d], "offset", `dim${d}`)),
  ].reduce(times);
  return cover(tile, cga, shape, [row, column, ...further]);
}

function swizzledPlane(column, row, extent, phase) {
  const columns = Array.from({ length: log2(extent[column]) }, (_, bit) => [2 ** bit, 0]);
  const rows = Array.from({ length: log2(extent[row]) }, (_, bit) => [
    phase(2 ** bit) % extent[column],
    2 ** bit,
  ]);
  const outs = [
    [`dim${column}`, extent[column]],
    [`dim${row}`, extent[row]],
  ];
  return { ins: [["offset", [...columns, ...rows]]], outs };
}

/** Check pairs of an interval and the padding after it. */
function checkPaddings(pairs) {
  checkPowers(
    "intervals",
    pairs.map(([interval]) => interval),
  );
  checkPowers(
    "paddings",
    pairs.map(([, padding]) => padding),
  );
  if (new Set(pairs.map(([interval]) => interval)).size < pairs.length)
    throw new TextError(`the intervals must differ from each other, got ${show(pairs)}`);
}

/** Return the layout of #ttg.padded_shared by unpadded offset. */
function paddedLayout(values, shape) {
  keys("padded_shared", values, ["paddings"], ["order", "shape", "offset", "block"]);
  checkPaddings(values.paddings);
  const given = ["order", "shape", "offset", "block"].filter((key) => key in values).join();
  if (given === "offset,block") return paddedBases(values, shape);
  if (given !== "order,shape")
    throw new TextError("padded_shared is given by order and shape, or by offset and block");
  checkOrder(values.order);
  checkRank("this padded_shared", values.order.length, shape);
  checkPowers("shape", values.shape);
  checkOwnShape("this padded_shared is", values.shape, shape);
  const offset = withOuts(
    identityNd("offset", shape, values.order),
    shape.map((_, d) => `dim${d}`),
  );
  return times(offset, cgaLayout([], shape.length));
}

function paddedBases({ offset, block }, shape) {
  const layout = sharedBases({ offset, block }, shape);
  const steps = [...offset, ...block.filter((vector) => vector.some(Boolean))];
  const isStep = (vector) => vector.filter(Boolean).length === 1 && vector.some(isPowerOfTwo);
  if (!steps.every(isStep))
    throw new TextError("a basis of padded_shared must be one power of two");
  if (new Set(offset.map(show)).size < offset.length)
    throw new TextError("the bases of offset must differ from each other");
  return layout;
}

function checkOwnShape(what, own, shape) {
  if (show(own) !== show(shape))
    throw new TextError(`${what} for the shape ${show(own)}, got ${show(shape)}`);
}

const CORE_ROWS = 8; // of the core matrix of nvmma_shared, whose swizzle repeats
const BOX_LIMIT = 256; // elements of a TMA box along each dimension

/** Return the layout of #ttg.nvmma_shared: core matrices, box by box, CTA by CTA. */
function nvmmaLayout(values, shape, release) {
  const wanted = ["swizzlingByteWidth", "elementBitWidth"];
  keys("nvmma_shared", values, wanted, ["transposed", "fp4Padded", "CGALayout", "rank"]);
  const { swizzlingByteWidth: width, transposed = false, CGALayout: cga = [] } = values;
  checkNvmma(values);
  checkRank("this nvmma_shared", values.rank ?? cga[0]?.length ?? 2, shape);
  const blocks = cgaLayout(cga, shape.length);
  const box = shapePerCta(cga, shape).map((n) => (isSince(release, "3.4") ? Math.min(n, BOX_LIMIT) : n));
  const tile = width ? swizzledBox(values, box) : plainBox(box, transposed && isSince(release, "3.8"));
  const names = tile.outs.map(([name]) => Number(name.slice(3)));
  return cover(tile, blocks, shape, names);
}

function checkNvmma({ swizzlingByteWidth: width, elementBitWidth: bits, fp4Padded }) {
  if (![0, 32, 64, 128].includes(width))
    throw new TextError(`swizzlingByteWidth must be 0, 32, 64 or 128, got ${show(width)}`);
  if (![8, 16, 32, 64, 128].includes(bits))
    throw new TextError(`elementBitWidth must be 8, 16, 32, 64 or 128, got ${show(bits)}`);
  if (fp4Padded && (bits !== 8 || width !== 128))
    throw new TextError("fp4Padded needs elementBitWidth = 8 and swizzlingByteWidth = 128");
}

/** Return a box without swizzle; from 3.8 on sizes and dimensions of a transposed one are apart. */
function plainBox(box, isRotated) {
  const rank = box.length;
  const order = box.map((_, d) => rank - 1 - d);
  const sizes = isRotated ? [...box.slice(1), box[0]] : box;
  const dim = (d) => (isRotated ? (d - 1 + rank) % rank : d);
  const tile = order.map((d) => identity(sizes[d], "offset", `dim${dim(d)}`)).reduce(times);
  return withOuts(
    tile,
    order.map((d) => `dim${d}`),
  );
}

/** Return a box of core matrices. */
function swizzledBox(values, held) {
  const { transposed = false } = values;
  const core = coreMatrix(values);
  const columns = core.outs[1][1];
  const rank = held.length;
  if (rank < 2) throw new TextError("a swizzled nvmma_shared needs two dimensions or more");
  const inner = transposed ? 0 : rank - 1;
  if (held[inner] < columns)
    throw new TextError(
      `dimension ${inner} must hold at least ${columns} elements, got ${held[inner]}`,
    );
  const box = held.with(inner, columns);
  const [front, last] = [product(box.slice(0, -1)), box.at(-1)];
  const flat = transposed ? { dim0: last, dim1: front } : { dim0: front, dim1: last };
  if (flat.dim0 < CORE_ROWS)
    throw new TextError(`the dimensions across must hold ${CORE_ROWS} rows, got ${flat.dim0}`);
  const rotated = transposed ? [...box.slice(1), box[0]] : box;
  const grown = withOuts(
    grow(core, (name) => flat[name]),
    ["dim1", "dim0"],
  );
  const order = box.map((_, d) => rank - 1 - d);
  // Position j of a rotated box is dimension j + 1; its last one is dimension 0.
  const dim = (j) => (transposed ? (j + 1) % rank : j);
  return withOuts(
    reshaped(
      grown,
      order.map((j) => [`dim${dim(j)}`, rotated[j]]),
    ),
    box.map((_, d) => `dim${d}`),
  );
}

/** Return 8 rows of `swizzlingByteWidth` bytes, each xored by its phase. */
function coreMatrix({ swizzlingByteWidth: width, elementBitWidth: bits, fp4Padded = false }) {
  const phase = (row) => (128 / bits) * (Math.floor((row * width) / 128) % (width / 16));
  const columns = (8 * width) / bits;
  const across = Array.from({ length: log2(columns) }, (_, bit) => [0, 2 ** bit]);
  const down = [1, 2, 4].map((row) => [row, phase(row)]);
  const packed = ([row, column]) => [row, Math.floor(column / 16) * 8 + (column % 8)];
  const vectors = [...across, ...down];
  const outs = [
    ["dim0", CORE_ROWS],
    ["dim1", fp4Padded ? columns / 2 : columns],
  ];
  return { ins: [["offset", fp4Padded ? vectors.map(packed) : vectors]], outs };
}

const REGISTERS = "registers";
const SHARED = "shared memory";
const TENSOR_MEMORY = "tensor memory";

const KINDS = {
  "#ttg.blocked": { mnemonic: "blocked", memory: REGISTERS, lay: blockedLayout },
  "#triton_gpu.blocked": { mnemonic: "blocked", memory: REGISTERS, lay: blockedLayout },
  "#ttg.linear": { mnemonic: "linear", memory: REGISTERS, lay: permutationLayout },
  "#ttg.generic_linear": { mnemonic: "generic_linear", memory: REGISTERS, lay: linearLayout },
  "#ttg.shared_linear": { mnemonic: "shared_linear", memory: SHARED, lay: sharedLinearLayout },
  "#ttg.padded_shared": { mnemonic: "padded_shared", memory: SHARED, lay: paddedLayout },
  "#ttg.nvmma_shared": { mnemonic: "nvmma_shared", memory: SHARED, lay: nvmmaLayout },
  "#ttg.swizzled_shared": { mnemonic: "swizzled_shared", memory: SHARED, lay: swizzledLayout },
  "#ttg.amd_rotating_shared": {
    mnemonic: "amd_rotating_shared",
    memory: SHARED,
    lay: (values, shape, release) => swizzledLayout(values, shape, release, true),
  },
};

/** Tell whether an attribute can be read here. */
function isReadable(attribute) {
  return (/^\s*(#[\w.]+)/.exec(attribute)?.[1] ?? "") in KINDS;
}

/** Return the layout that an attribute has over a type, with its memory and element width. */
function readLayout(attribute, type, release) {
  const { name, values } = parseAttribute(attribute);
  try {
    return layoutOf(name, ownNames(values, name, release), type, release);
  } catch (error) {
    throw error instanceof TextError ? inItsNames(error, name, release) : error;
  }
}

function layoutOf(name, values, type, release) {
  const { shape, bits } = parseType(type);
  const kind = KINDS[name];
  const rank = rankOf(values) ?? shape.length;
  const isRing = kind.memory === SHARED && type.includes("memdesc") && shape.length === rank + 1;
  const sizes = isRing ? shape.slice(1) : shape;
  if (kind.memory === REGISTERS && type.includes("memdesc")) {
    throw new TextError(`${name} is for tensors in registers; write tensor<...>`);
  }
  const padding = values.paddings ?? [];
  return { ...kind.lay(values, sizes, release), memory: kind.memory, bits, padding };
}

/** Return the rank that an attribute determines, if it does. */
function rankOf({ order, offset, rank, CGALayout, swizzlingByteWidth }) {
  const rankOfKeys = order?.length ?? offset?.[0]?.length ?? rank ?? CGALayout?.[0]?.length;
  return rankOfKeys ?? (swizzlingByteWidth === undefined ? undefined : 2);
}

/** Return basis vectors read from a text such as [[0, 1], [0, 2]]. */
function parseBases(key, text, sizes) {
  const reader = new Reader(text.trim() || "[]");
  const bases = reader.list();
  reader.end();
  checkBases(key, bases, sizes.length);
  for (const vector of bases) {
    if (vector.some((step, d) => step >= sizes[d])) {
      throw new TextError(`${show(vector)} lies outside the shape ${show(sizes)}`);
    }
  }
  if (bases.length > 53) throw new TextError("the page shows at most 53 bits");
  return bases;
}

/** Return the attribute that expresses these bases; an empty text if none does. */
function attributeOf(memory, ins) {
  const of = Object.fromEntries(ins);
  const lists = (names) => names.map((name) => `${name} = ${show(of[name] ?? [])}`).join(", ");
  if (memory === REGISTERS) {
    const isPlain = Object.values(of)
      .flat()
      .every((v) => v.filter(Boolean).length <= 1 && v.every((s) => !s || isPowerOfTwo(s)));
    return `#ttg.${isPlain ? "linear" : "generic_linear"}<{${lists(DISTRIBUTED)}}>`;
  }
  if (memory !== SHARED || of.partition) return "";
  const names = of.block?.length ? ["offset", "block"] : ["offset"];
  return `#ttg.shared_linear<{${lists(names)}}, alignment = 16>`;
}
