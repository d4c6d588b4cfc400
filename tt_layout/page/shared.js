// Layouts in shared memory.

/** Return the part of a shape that one CTA holds. */
function shapePerCta(cga, shape) {
  return shape.map((size, d) => size / Math.min(size, 2 ** cga.filter((v) => v[d]).length));
}

function checkOwnShape(what, own, shape) {
  if (show(own) !== show(shape))
    throw new TextError(`${what} for the shape ${show(own)}, got ${show(shape)}`);
}

function sizesOf(layout) {
  return layout.outs.map(([, size]) => size);
}

// -- swizzled_shared, amd_rotating_shared -----------------------------------------------------------

function checkSwizzled(values, release, splitSince = "3.4") {
  const { vec, perPhase, maxPhase, order, hasLeadingOffset } = values;
  checkCga(values, order.length, release);
  if (splitSince) checkSplitRank(values, order.length, release, splitSince);
  if (!hasLeadingOffset || order.length === 1) return;
  checkOneOf("perPhase and maxPhase", [perPhase, maxPhase], [[4, 2], [2, 4], [1, 8]]);
  checkOneOf("vec", vec, [1, 2, 4, 8, 16]);
  const rank = order.length;
  if (show([...order.slice(0, 2)].sort()) !== show([rank - 2, rank - 1]))
    throw new TextError(`the last two dimensions must be the fastest, got order ${show(order)}`);
}

function fitSwizzled(values, shape) {
  if (values.hasLeadingOffset && shape.length > 1)
    fitNvmma(coreMatrices(values), shape.slice(-2), "3.3");
}

/** Return today's keys for the fastest two dimensions of a layout with a leading offset. */
function coreMatrices({ vec, maxPhase, order }) {
  return {
    swizzlingByteWidth: 16 * maxPhase,
    elementBitWidth: 128 / vec,
    transposed: order[0] < order[1],
    fp4Padded: false,
    CGALayout: [],
    rank: 2,
  };
}

function laySwizzled(values, shape, release, bits, rotates = false) {
  const { vec, perPhase, maxPhase, order, CGALayout } = values;
  const cga = cgaLayout(CGALayout, order.length);
  const split = shapePerCta(CGALayout, shape);
  if (order.length === 1) return cover(identity(split[0], "offset", "dim0"), cga, shape, [0]);
  const hasCore = Boolean(values.hasLeadingOffset);
  const extent = rotates || hasCore ? shape : split;
  const phase = (row) => {
    const turn = rotates ? Math.floor(row / (perPhase * maxPhase)) % maxPhase : 0;
    return vec * ((Math.floor(row / perPhase) % maxPhase) ^ turn);
  };
  const [column, row, ...further] = order;
  const tile = [
    hasCore ? corePlane(values) : swizzledPlane(column, row, extent, phase),
    ...further.map((d) => identity(extent[d], "offset", `dim${d}`)),
  ].reduce(times);
  return cover(tile, cga, shape, [row, column, ...further]);
}

/** Return the core matrix along the fastest two dimensions. */
function corePlane(values) {
  const [column, row] = values.order;
  const offset = vectorsOf(coreMatrix(coreMatrices(values)), "offset");
  const swapped = offset.map((v) => [v[1], v[0]]);
  const { ins, outs } = spanned([["offset", swapped]], 2);
  return { ins, outs: outs.map(([, size], k) => [`dim${[column, row][k]}`, size]) };
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

// -- padded_shared ----------------------------------------------------------------------------------

function checkPadded(values, release) {
  const { paddings, order, shape, offset, block } = values;
  checkPaddings(paddings);
  if (offset === undefined) {
    checkOrder(order);
    checkCga(values, order.length, release);
    checkSplitRank(values, order.length, release, "3.5");
    return;
  }
  const given = Object.entries({ order, shape, offset, block }).filter(([, list]) => list !== null);
  const keys = given.map(([key]) => key).join();
  if (keys === "order,shape") {
    checkOrder(order);
    checkPowers("shape", shape);
    if (order.length !== shape.length)
      throw new TextError(`order and shape must have one length, got ${show(order)} and ${show(shape)}`);
  } else if (keys === "offset,block") checkComponent(offset, block, release);
  else throw new TextError("padded_shared is given by order and shape, or by offset and block");
}

/** Check pairs of an interval and the padding after it. */
function checkPaddings(pairs) {
  const intervals = pairs.map(([interval]) => interval);
  const paddings = pairs.map(([, padding]) => padding);
  if (!pairs.length) throw new TextError("padded_shared needs at least one interval:+padding");
  checkPowers("intervals", intervals);
  checkPowers("paddings", paddings);
  if (Math.max(...intervals, ...paddings) >= 2 ** 32)
    throw new TextError("intervals and paddings must fit into 32 bits");
  if (new Set(intervals).size < intervals.length)
    throw new TextError(`the intervals must differ from each other, got ${show(intervals)}`);
}

function checkComponent(offset, block, release) {
  const rank = [...offset, ...block][0]?.length ?? 0;
  if (!rank) throw new TextError("offset must have at least one basis");
  checkBases("offset", offset, rank);
  checkBases("block", block, rank);
  const isStep = (vector) => vector.every((step) => !step || isPowerOfTwo(step));
  const wrong = [...offset, ...block].find((v) => v.filter(Boolean).length > 1 || !isStep(v));
  if (wrong)
    throw new TextError(`a basis of padded_shared must be one power of two, got ${show(wrong)}`);
  const isZero = (vector) => !vector.some(Boolean);
  if (offset.some(isZero)) throw new TextError("a basis of offset must not be zero");
  if (block.some(isZero) && release === "3.6")
    throw new TextError("a basis of block must not be zero until 3.7");
  checkReach(component({ offset, block }));
  if (new Set(offset.map(show)).size < offset.length)
    throw new TextError("the bases of offset must differ from each other");
}

/**
 * Return the linear component: unpadded offset to element; null where it is for any shape.
 *
 * @param {any} values
 */
function component({ order, shape, offset, block }) {
  if (offset) return spanned([["offset", offset], ["block", block]], [...offset, ...block][0].length);
  if (!shape) return null;
  const tile = withOuts(identityNd("offset", shape, order), dimNames(shape.length));
  return times(tile, cgaLayout([], shape.length));
}

function paddedRank({ order, offset, block }) {
  return order ? order.length : [...offset, ...block][0].length;
}

function fitPadded(values, shape) {
  const own = component(values);
  if (own) checkOwnShape("this padded_shared is", sizesOf(own), shape);
}

function layPadded(values, shape) {
  const own = component(values);
  if (own) return own;
  const { order, CGALayout } = values;
  const tile = identityNd("offset", shapePerCta(CGALayout, shape), order);
  return cover(tile, cgaLayout(CGALayout, shape.length), shape, order);
}

// -- shared_linear ------------------------------------------------------------------------------------

function sharedLinearLayout({ offset, block }) {
  return spanned([["offset", offset], ["block", block]], sharedLinearRank({ offset, block }));
}

function sharedLinearRank({ offset, block }) {
  return [...offset, ...block][0]?.length ?? 0;
}

function checkSharedLinear(values, release) {
  const rank = sharedLinearRank(values);
  if (!rank) throw new TextError("offset must have at least one basis");
  checkBases("offset", values.offset, rank);
  checkBases("block", values.block, rank);
  const layout = sharedLinearLayout(values);
  checkReach(layout);
  checkIndependence(layout);
  if (release !== "3.6") return;
  const part = spanned([["offset", values.offset]], rank);
  const isCut = values.block.every((v) => v.every((step, d) => step % part.outs[d][1] === 0));
  if (!isCut || !new Inverse(part).reachesAll)
    throw new TextError("until 3.6 every CTA must hold a whole part of the tensor");
}

// -- nvmma_shared -------------------------------------------------------------------------------------

const CORE_ROWS = 8; // of the core matrix, whose swizzle repeats
const BOX_LIMIT = 256; // elements of a TMA box along each dimension

/** Return the rank that is written, or null where any will do. */
function nvmmaRank({ rank, CGALayout }, release) {
  return rank ?? CGALayout[0]?.length ?? (isSince(release, "3.6") ? 2 : null);
}

function checkNvmma(values, release) {
  const { CGALayout: cga } = values;
  const rank = nvmmaRank(values, release);
  if (rank !== null && rank < 1) throw new TextError(`rank must be positive, got ${rank}`);
  const needsRank = ["3.6", "3.7"].includes(release) && values.rank === null;
  if (cga.length) checkCga(values, needsRank ? 2 : rank, release);
}

/** Return the part of a CTA that one TMA box brings. */
function boxOf({ CGALayout }, shape, release) {
  const limit = isSince(release, "3.4") ? BOX_LIMIT : Infinity;
  return shapePerCta(CGALayout, shape).map((size) => Math.min(size, limit));
}

function fitNvmma(values, shape, release) {
  const { swizzlingByteWidth: width, transposed } = values;
  if (!width) return;
  if (shape.length < 2) throw new TextError("a swizzled nvmma_shared needs two dimensions or more");
  const [, [, columns]] = coreMatrix(values).outs;
  const inner = transposed ? 0 : shape.length - 1;
  const held = boxOf(values, shape, release);
  const found = Math.min(BOX_LIMIT, held[inner]);
  if (found < columns)
    throw new TextError(`dimension ${inner} must hold at least ${counted(columns, "element")}, got ${found}`);
  const rows = transposed ? held.at(-1) : product(held.slice(0, -1));
  if (rows < CORE_ROWS)
    throw new TextError(`the dimensions across must hold ${CORE_ROWS} rows, got ${rows}`);
}

/** Return core matrices, box by box, CTA by CTA. */
function layNvmma(values, shape, release) {
  const { swizzlingByteWidth: width, transposed, CGALayout: cga } = values;
  const box = boxOf(values, shape, release);
  const tile = width
    ? swizzledBox(values, box)
    : plainBox(box, transposed && isSince(release, "3.8"));
  const perCta = shapePerCta(cga, shape);
  const dimOf = (name) => Number(name.slice(3));
  const within = (name) => perCta[dimOf(name)];
  const fitted = clip(grow(tile, within), within, false);
  const blocks = clip(cgaLayout(cga, shape.length), (name) => shape[dimOf(name)], false);
  return withOuts(times(fitted, blocks), dimNames(shape.length));
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
  const { transposed } = values;
  const core = coreMatrix(values);
  const rank = held.length;
  const box = held.with(transposed ? 0 : rank - 1, core.outs[1][1]);
  const [front, last] = [product(box.slice(0, -1)), box.at(-1)];
  const flat = transposed ? { dim0: last, dim1: front } : { dim0: front, dim1: last };
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

/**
 * Return 8 rows of `swizzlingByteWidth` bytes, each xored by its phase.
 *
 * @param {{ swizzlingByteWidth: number, elementBitWidth: number, fp4Padded?: boolean }} values
 * @returns {Linear}
 */
function coreMatrix({ swizzlingByteWidth: width, elementBitWidth: bits, fp4Padded = false }) {
  const phase = (row) => (128 / bits) * (Math.floor((row * width) / 128) % (width / 16));
  const columns = (8 * width) / bits;
  const across = Array.from({ length: log2(columns) }, (_, bit) => [0, 2 ** bit]);
  const down = [1, 2, 4].map((row) => [row, phase(row)]);
  const packed = ([row, column]) => [row, Math.floor(column / 16) * 8 + (column % 8)];
  const vectors = [...across, ...down];
  /** @type {Array<[string, number]>} */
  const outs = [
    ["dim0", CORE_ROWS],
    ["dim1", fp4Padded ? columns / 2 : columns],
  ];
  return { ins: [["offset", fp4Padded ? vectors.map(packed) : vectors]], outs };
}

// -- partitioned_shared -------------------------------------------------------------------------------

function checkPartitioned({ partitionDim, partitionLayout: inner }) {
  if (inner.memory !== SHARED)
    throw new TextError(`partitionLayout must be a shared-memory layout, got ${inner.name}`);
  if (inner.mnemonic === "partitioned_shared")
    throw new TextError("a partitioned_shared within another has no linear layout");
  const last = rankOf(inner) - 1;
  if (partitionDim > last)
    throw new TextError(`partitionDim must be a dimension (0..${last}), got ${partitionDim}`);
}

function pieceOf({ numPartitions, numGroups, partitionDim }, shape) {
  return shape.with(partitionDim, shape[partitionDim] / (numPartitions * numGroups));
}

function fitPartitioned(values, shape) {
  const { partitionDim, partitionLayout: inner } = values;
  const piece = pieceOf(values, shape);
  if (piece[partitionDim] < 1) {
    const parts = values.numPartitions * values.numGroups;
    throw new TextError(
      `dimension ${partitionDim} is cut into ${counted(parts, "piece")}, but has ${counted(shape[partitionDim], "element")}`,
    );
  }
  const own = inner.mnemonic === "padded_shared" && component(inner.values);
  if (!own) return fit(inner, piece);
  if (sizesOf(own).some((size, d) => size < piece[d]))
    throw new TextError(
      `a piece is ${show(piece)}, but the layout of a piece is for ${show(sizesOf(own))}`,
    );
}

/** Return a piece's layout; pieces alternate between buffers, then extend them. */
function layPartitioned(values, shape, release, bits) {
  const { numPartitions, numGroups, partitionDim, partitionLayout } = values;
  const name = `dim${partitionDim}`;
  const layout = [
    lay(partitionLayout, pieceOf(values, shape), bits),
    identity(numPartitions, "partition", name),
    identity(numGroups, "offset", name),
  ].reduce(times);
  const clipped = clip(layout, (dim) => shape[Number(dim.slice(3))], false);
  return withIns(clipped, ["offset", "block", "partition"]);
}
