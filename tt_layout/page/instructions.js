// Layouts of matrix instructions; their tiles are data, DATA.tiles.

/**
 * Return the layout of a tile.
 *
 * @param {any[]} tile its steps: which input walks through which axis, how far
 * @param {Record<string, number>} axes axis -> the dimension along which it is, the innermost of a
 *   dimension first; an axis that is left out is repeated
 * @param {Record<string, any>} sizes axis -> its size, where it is filled, and the sizes that steps name
 * @returns {Linear}
 */
function tileLayout(tile, axes, sizes) {
  const walked = Object.fromEntries(tile.map(([input]) => [input, []]));
  const spans = {};
  for (const [input, axis, extent] of tile) {
    const span = spans[axis] ?? 1;
    let size = sizes[extent] ?? extent;
    if (extent === "fill") size = Math.floor(sizes[axis] / span);
    if (extent === "warp") size = sizes.warp / 2 ** walked[input].length;
    const bits = log2(Math.max(1, size));
    for (let bit = 0; bit < bits; bit++) walked[input].push([axis, span * 2 ** bit]);
    spans[axis] = span * 2 ** bits;
  }
  return ontoDims(walked, spans, axes);
}

const INPUTS = ["register", "lane", "row", "col"];

/**
 * Return the layout of steps along axes, with those of a dimension one around the other.
 *
 * @param {Record<string, Array<[string, number]>>} walked
 * @param {Record<string, number>} spans
 * @param {Record<string, number>} axes
 * @returns {Linear}
 */
function ontoDims(walked, spans, axes) {
  const dims = [...new Set(Object.values(axes))];
  const totals = Object.fromEntries(dims.map((d) => [d, 1]));
  const scales = {};
  for (const [axis, dim] of Object.entries(axes)) {
    scales[axis] = totals[dim];
    totals[dim] *= spans[axis] ?? 1;
  }
  const vector = ([axis, step]) => dims.map((d) => (axes[axis] === d ? step * scales[axis] : 0));
  const names = INPUTS.filter((name) => walked[name]);
  return {
    ins: names.map((name) => [name, walked[name].map(vector)]),
    outs: dims.map((d) => [`dim${d}`, totals[d]]),
  };
}

/** Return bases with one component set to 0, so that they repeat along it. */
function withoutDim(bases, dim) {
  return bases.map((vector) => vector.with(dim, 0));
}

// -- nvidia_mma -----------------------------------------------------------------------------------

function mmaRank({ warpsPerCTA }) {
  return warpsPerCTA.length;
}

/** Return the instruction's tile; where 2.3 and before do not write it, m16n8. */
function mmaShape({ instrShape }, release) {
  return instrShape.length || isSince(release, "3.0") ? instrShape : [16, 8];
}

/** Return the dimensions in which warps follow each other, the fastest first. */
function warpOrder({ versionMajor, warpsPerCTA }, release) {
  const order = rowMajor(warpsPerCTA.length);
  return versionMajor !== 2 || !isSince(release, "2.1") ? order.reverse() : order;
}

function checkMma(values, release) {
  const { versionMajor, warpsPerCTA, CGALayout: cga } = values;
  const rank = warpsPerCTA.length;
  if (versionMajor === 1 && isSince(release, "3.9"))
    throw new TextError("Volta (versionMajor = 1) is refused since Triton 3.9");
  checkOneOf("versionMajor", versionMajor, [1, 2, 3]);
  checkCga(values, rank, release);
  const shape = mmaShape(values, release);
  const isTile = (m, n) => [m, n].every((size) => isPowerOfTwo(size) && size >= 8);
  const isRight = {
    1: () => rank === 2 && !cga.length,
    2: () => [2, 3].includes(rank) && shape.length === rank && isTile(...shape.slice(-2)),
    3: () => rank === 2 && shape.length === 3 && shape[0] === 16 && isTile(...shape),
  };
  const needed = {
    1: "Volta has rank 2 and one CTA",
    2: `instrShape must be [.., m, n] with powers of two of at least 8, got ${show(shape)}`,
    3: `instrShape must be [16, n, k] with n a power of two of at least 8, got ${show(shape)}`,
  };
  if (!isRight[versionMajor]()) throw new TextError(needed[versionMajor]);
}

function layMma(values, shape, release) {
  const { versionMajor, warpsPerCTA, CGALayout } = values;
  if (versionMajor === 1) return layVolta(values, shape, release);
  const rank = warpsPerCTA.length;
  const [m, n] = versionMajor === 3 ? mmaShape(values, release) : mmaShape(values, release).slice(-2);
  // 3.0 and 3.1 first drop lanes where wgmma's n exceeds the tensor.
  const isNarrowed = versionMajor === 3 && ["3.0", "3.1"].includes(release);
  const lanes = isNarrowed ? Math.max(1, (4 * Math.min(shape[1], n)) / n) : 4;
  const axes = { m: rank - 2, n: rank - 1 };
  const tile = tileLayout(DATA.tiles.mma.result, axes, { m, n: (n * lanes) / 4, lanes });
  const warps = identityNd("warp", warpsPerCTA, warpOrder(values, release));
  const cga = cgaLayout(CGALayout, rank);
  const layout = cover(times(tile, warps), cga, shape, rowMajor(rank));
  const used = log2(lanes);
  const lane = vectorsOf(layout, "lane").toSpliced(used, 0, ...Array(2 - used).fill([0, 0]));
  return withVectors(layout, "lane", lane);
}

/** Return the layout of mma.m8n8k4; the registers of a dimension stand together. */
function layVolta(values, shape, release) {
  const { volta, voltaReads } = DATA.tiles.mma;
  const [rows, columns] = voltaReads[values.versionMinor % voltaReads.length];
  const axes = { m: 0, n: 1, "mid n": 1, "outer n": 1 };
  const warps = identityNd("warp", values.warpsPerCTA, warpOrder(values, release));
  const tile = times(tileLayout(volta, axes, { rows, columns }), warps);
  const sizeOf = (name) => shape[Number(name.slice(3))];
  const grown = times(grow(tile, sizeOf), cgaLayout([], 2));
  const byDim = [...vectorsOf(grown, "register")].sort((a, b) => Number(a[1] > 0) - Number(b[1] > 0));
  return clip(withVectors(grown, "register", byDim), sizeOf, false);
}

// -- amd_mfma -------------------------------------------------------------------------------------

function checkMfma(values, release) {
  const { instrShape, tilesPerWarp, warpsPerCTA } = values;
  const rank = warpsPerCTA.length;
  checkOneOf("instrShape", instrShape.slice(0, 2), known(DATA.tiles.mfma.instructions, release));
  checkCga(values, rank, release);
  if (tilesPerWarp.some((tiles) => tiles !== 1) && tilesPerWarp.length !== rank)
    throw new TextError(`tilesPerWarp must have ${counted(rank, "entry")}, got ${show(tilesPerWarp)}`);
}

/** Return the instructions that a release takes. */
function known(instructions, release) {
  return instructions.filter(([, since]) => isSince(release, since)).map(([shape]) => shape);
}

/** Return the tiles of a warp along each dimension. */
function tilesOf({ tilesPerWarp, warpsPerCTA }) {
  return tilesPerWarp.length === warpsPerCTA.length ? tilesPerWarp : warpsPerCTA.map(() => 1);
}

function layMfma(values, shape, release) {
  const { instrShape, warpsPerCTA: warps, isTransposed, elementBitWidth, CGALayout } = values;
  const { runs, result, lanes } = DATA.tiles.mfma;
  const rank = warps.length;
  const [rows, cols] = [rank - 2, rank - 1];
  const [m, n] = instrShape;
  const axes = isTransposed ? { along: cols, across: rows } : { along: rows, across: cols };
  const sizes = isTransposed ? { along: n, across: m } : { along: m, across: n };
  const tiles = tilesOf(values);
  const repeats = Math.max(1, shape[cols] / (n * warps[cols] * tiles[cols]));
  const name = (d) => `dim${d}`;
  const tile = [
    tileLayout(result, axes, { ...sizes, run: runs[elementBitWidth], warp: lanes }),
    identity(tiles[cols], "register", name(cols)),
    identity(warps[cols], "warp", name(cols)),
    identity(repeats, "register", name(cols)),
    identity(tiles[rows], "register", name(rows)),
    identity(warps[rows], "warp", name(rows)),
    ...(rank === 3 ? [identity(warps[0], "warp", name(0))] : []),
  ].reduce(times);
  const placed = isTransposed && !isSince(release, "3.2") ? withRowsFirst(tile) : tile;
  return cover(placed, cgaLayout(CGALayout, rank), shape, [cols, rows, 0].slice(0, rank));
}

/** Return the tile with the warps along dimension 0 as the fastest (3.0 and 3.1). */
function withRowsFirst(tile) {
  const places = dimNames(tile.outs.length).map((name) => tile.outs.findIndex(([own]) => own === name));
  const first = (vector) => places.findIndex((at) => vector[at]);
  const warps = [...vectorsOf(tile, "warp")].sort((a, b) => first(a) - first(b));
  return withVectors(tile, "warp", warps);
}

// -- amd_wmma -------------------------------------------------------------------------------------

function wmmaRank({ rank, ctaLayout, CGALayout }) {
  return rank || ([...ctaLayout.flat(), ...CGALayout][0]?.length ?? 2);
}

function checkWmma(values, release) {
  const { version, instrShape, isTranspose, ctaLayout } = values;
  const rank = wmmaRank(values);
  checkOneOf("instrShape", instrShape, known(DATA.tiles.wmma.instructions[version], release));
  if (isTranspose && version === 1 && !isSince(release, "3.6"))
    throw new TextError("isTranspose = true needs version 2 until Triton 3.5");
  if (![2, 3].includes(rank)) throw new TextError(`amd_wmma is for rank 2 or 3, got rank ${rank}`);
  checkCga(values, rank, release);
  for (const bases of ctaLayout) checkBases("ctaLayout", bases, rank);
}

/** Return the arrangement of tiles over registers and warps; along a dimension they may repeat. */
function wmmaTiles(values, repeated = null) {
  let [register, warp] = values.ctaLayout;
  if (repeated !== null) {
    register = withoutDim(register, repeated).filter((vector) => vector.some(Boolean));
    warp = withoutDim(warp, repeated);
  }
  const ins = [
    ["register", register],
    ["warp", warp],
  ];
  return spanned(ins, wmmaRank(values));
}

function layWmma(values, shape, release) {
  const { version, instrShape, isTranspose, CGALayout } = values;
  const rank = wmmaRank(values);
  const [m, n] = instrShape;
  const axes = isTranspose ? { m: rank - 1, n: rank - 2 } : { m: rank - 2, n: rank - 1 };
  const own = tileLayout(DATA.tiles.wmma.results[version], axes, { m, n });
  const isByDimension = !isSince(release, "3.7");
  const tiles = isByDimension ? wmmaTilesByDimension(values, shape) : wmmaTiles(values);
  return cover(times(own, tiles), cgaLayout(CGALayout, rank), shape, rowMajor(rank));
}

/** Return the numbers of tiles per warp and of warps along each dimension. */
function wmmaCounts(values) {
  const dims = [...Array(wmmaRank(values)).keys()];
  const along = (bases) => dims.map((d) => 2 ** bases.filter((vector) => vector[d]).length);
  return values.ctaLayout.map(along);
}

/** Return the arrangement of tiles until 3.6; along the last dimension they cover the tensor. */
function wmmaTilesByDimension(values, shape) {
  const rank = wmmaRank(values);
  const [tiles, warps] = wmmaCounts(values);
  const last = rank - 1;
  const width = values.instrShape[values.isTranspose ? 0 : 1];
  const repeats = Math.max(1, shape[last] / (width * tiles[last] * warps[last]));
  return rowMajor(rank)
    .flatMap((d) => [
      identity(d < rank - 2 ? 1 : tiles[d], "register", `dim${d}`),
      identity(warps[d], "warp", `dim${d}`),
      identity(d === last ? repeats : 1, "register", `dim${d}`),
    ])
    .reduce(times);
}

// -- dpas -----------------------------------------------------------------------------------------

function checkDpas(values) {
  const { executionSize, threadsPerWarp, warpsPerCTA, repCluster } = values;
  const rank = repCluster.length;
  if (threadsPerWarp < executionSize)
    throw new TextError(`threadsPerWarp must be at least executionSize, got ${threadsPerWarp}`);
  if (warpsPerCTA.length !== rank)
    throw new TextError(`warpsPerCTA must have ${counted(rank, "entry")}, got ${show(warpsPerCTA)}`);
}

function layDpas(values, shape) {
  const { repeatCount, executionSize, threadsPerWarp, warpsPerCTA, repCluster } = values;
  const rank = repCluster.length;
  const [rows, cols] = [rank - 2, rank - 1];
  const sizes = { m: repeatCount, n: executionSize, warp: threadsPerWarp };
  const tile = [
    tileLayout(DATA.tiles.dpas.result, { m: rows, n: cols }, sizes),
    ...[cols, rows].map((d) => identity(repCluster[d], "register", `dim${d}`)),
    ...[cols, rows].map((d) => identity(warpsPerCTA[d], "warp", `dim${d}`)),
  ].reduce(times);
  return overBatch(tile, warpsPerCTA, shape, [cols, rows]);
}

/** Return a tile over the warps of a batch, repeated over the tensor in an order. */
function overBatch(tile, warps, shape, order) {
  const rank = warps.length;
  const whole = rank === 3 ? times(tile, identity(warps[0], "warp", "dim0")) : tile;
  return cover(whole, cgaLayout([], rank), shape, [...order, 0].slice(0, rank));
}

function layDpasOperand({ opIdx, kDim, other, shape }, parent) {
  const { repeatCount, executionSize, opsPerChan, threadsPerWarp, warpsPerCTA } = parent;
  const axis = opIdx === 0 ? "m" : "n";
  const sizes = {
    k: parent.systolicDepth * opsPerChan,
    [axis]: opIdx === 0 ? repeatCount : executionSize,
    packed: Math.max(1, opsPerChan / 2),
    channel: opsPerChan,
    warp: threadsPerWarp,
  };
  const dims = [shape.length - 1, shape.length - 2];
  const tile = [
    tileLayout(DATA.tiles.dpas.operands[opIdx], { [axis]: other, k: kDim }, sizes),
    identity(parent.repCluster[other], "register", `dim${other}`),
    ...dims.map((d) =>
      d === kDim ? zeros(warpsPerCTA[d], "warp") : identity(warpsPerCTA[d], "warp", `dim${d}`),
    ),
  ].reduce(times);
  return overBatch(tile, warpsPerCTA, shape, [kDim, other]);
}

// -- subgroup_2d_block ----------------------------------------------------------------------------

const BLOCK_LANES = 16;

function layBlockLoad({ instrShape, numBlocks, warpsPerCTA, order, CGALayout }, shape) {
  const [row, column] = instrShape;
  const sizes = { row, column, packed: Math.max(1, column / BLOCK_LANES), warp: BLOCK_LANES };
  const tile = [
    tileLayout(DATA.tiles.blockLoad, { row: 0, column: 1 }, sizes),
    identity(numBlocks, "register", "dim1"),
    broadcastNd("warp", warpsPerCTA, [1, 0], order[0]),
  ].reduce(times);
  return cover(tile, cgaLayout(CGALayout, 2), shape, [0, 1]);
}

// -- dot_op ---------------------------------------------------------------------------------------

const DOT_PARENTS = {
  nvidia_mma: { check: checkMmaOperand, lay: layMmaOperand },
  amd_mfma: { check: checkMfmaOperand, lay: layMfmaOperand },
  amd_wmma: { check: checkWmmaOperand, lay: layWmmaOperand },
  dpas: { check: () => {}, lay: layDpasOperand },
  blocked: { check: checkBlockedOperand, lay: layBlockedOperand },
};

function checkDot(values, release) {
  const { parent, kWidth } = values;
  if (!Object.hasOwn(DOT_PARENTS, parent.mnemonic)) {
    const names = Object.keys(DOT_PARENTS).join(", ");
    throw new TextError(`the parent of a dot_op must be one of ${names}, got ${parent.name}`);
  }
  DOT_PARENTS[parent.mnemonic].check(values, release);
  if (kWidth) checkPower("kWidth", kWidth);
}

function checkMmaOperand({ opIdx, kWidth, parent }, release) {
  const { versionMajor } = parent.values;
  if (versionMajor === 1) throw new TextError("the operands of Volta's mma have no linear layout");
  const isOldHopper = versionMajor === 3 && !isSince(release, "3.3");
  if (isOldHopper && kWidth) throw new TextError("kWidth must be 0 for a Hopper parent until 3.2");
  if (!isOldHopper && !kWidth && isSince(release, "3.0"))
    throw new TextError("kWidth must be given for an Ampere or Hopper parent");
  if (versionMajor === 3 && opIdx === 1 && !isOldHopper)
    throw new TextError("opIdx must be 0 for a Hopper parent: only A may be in registers");
}

function checkMfmaOperand({ kWidth }) {
  if (!kWidth) throw new TextError("kWidth must be given for an amd_mfma parent");
}

function checkWmmaOperand({ kWidth, parent }, release) {
  const { version } = parent.values;
  const allowed = DATA.tiles.wmma.widths[release][version - 1];
  if (allowed) checkOneOf("kWidth", kWidth, allowed);
  else if (!kWidth) throw new TextError("kWidth must not be 0");
}

function checkBlockedOperand({ kWidth }) {
  if (kWidth) throw new TextError(`kWidth must be 0 for a blocked parent, got ${kWidth}`);
}

/** Return the operand's tile, over the parent's warps, repeated over the tensor. */
function layDot(values, shape, release, bits) {
  const rank = shape.length;
  const dims = [rank - 1, rank - 2];
  const [kDim, other] = values.opIdx === 0 ? dims : dims.reverse();
  const order = [kDim, other, 0].slice(0, rank);
  const operand = { ...values, kDim, other, order, shape, bits, release };
  const { parent } = values;
  return DOT_PARENTS[parent.mnemonic].lay(operand, parent.values, parent.release ?? release);
}

function layMmaOperand(operand, parent, release) {
  const { opIdx, kWidth, kDim, other, order, shape, bits } = operand;
  const { operands, operandsOf8Rows } = DATA.tiles.mma;
  if (!kWidth && bits === null)
    throw new TextError("without kWidth the layout depends on the width of an element");
  const width = kWidth || Math.max(1, Math.floor(32 / bits));
  const instruction = mmaShape(parent, release);
  const m = parent.versionMajor === 2 ? instruction.at(-2) : instruction[0];
  const axes = { k: kDim, [opIdx === 0 ? "m" : "n"]: other };
  const has8Rows = m === 8 && isSince(operand.release, "3.8");
  const sizes = { width, m: has8Rows ? m : Math.max(m, 16) };
  const tile = tileLayout((has8Rows ? operandsOf8Rows : operands)[opIdx], axes, sizes);
  const warps = broadcastNd("warp", parent.warpsPerCTA, warpOrder(parent, release), kDim);
  const cga = cgaLayout(withoutDim(parent.CGALayout, kDim), shape.length);
  return cover(times(tile, warps), cga, shape, order);
}

function layMfmaOperand({ opIdx, kWidth, kDim, other, order, shape }, parent) {
  const { operand, longOperand, lanes } = DATA.tiles.mfma;
  const rank = shape.length;
  const extent = parent.instrShape[opIdx];
  const sizes = { width: kWidth, other: extent, warp: lanes };
  const own = tileLayout(extent === lanes ? longOperand : operand, { k: kDim, other }, sizes);
  const repeats = Math.max(1, shape[kDim] / own.outs[0][1]);
  const tile = [
    own,
    identity(repeats, "register", `dim${kDim}`),
    identity(tilesOf(parent)[other], "register", `dim${other}`),
    identityNd("warp", parent.warpsPerCTA, rowMajor(rank)),
  ].reduce(times);
  return cover(tile, cgaLayout(parent.CGALayout, rank), shape, order);
}

function layWmmaOperand({ opIdx, kWidth, kDim, other, order, shape, release }, parent) {
  const rank = shape.length;
  const [m, n, k] = parent.instrShape;
  const extents = parent.isTranspose ? [n, m] : [m, n];
  const sizes = { width: kWidth, other: extents[opIdx], k };
  const own = tileLayout(DATA.tiles.wmma.operands[parent.version], { k: kDim, other }, sizes);
  if (isSince(release, "3.8")) {
    const cga = cgaLayout(withoutDim(parent.CGALayout, kDim), rank);
    return cover(times(own, wmmaTiles(parent, kDim)), cga, shape, order);
  }
  // Until 3.7 CTAs share K; 3.7 repeats it before the next tile, 3.6 where a warp has several.
  const isNewest = isSince(release, "3.7");
  const [tiles, warps] = wmmaCounts(parent);
  const repeats = shape[kDim] / Math.max(2 * kWidth, k);
  const whole = [
    own,
    identity(isNewest || tiles[other] > 1 ? Math.max(1, repeats) : 1, "register", `dim${kDim}`),
    ...(isNewest
      ? [wmmaTiles(parent, kDim)]
      : [
          identity(tiles[other], "register", `dim${other}`),
          broadcastNd("warp", warps, rowMajor(rank), kDim),
        ]),
  ].reduce(times);
  return cover(whole, cgaLayout(parent.CGALayout, rank), shape, order);
}

function layBlockedOperand({ kDim, shape }, parent) {
  const { sizePerThread, threadsPerWarp, warpsPerCTA, order, CGALayout } = parent;
  const tile = [
    identityNd("register", sizePerThread.with(kDim, shape[kDim]), order),
    broadcastNd("lane", threadsPerWarp, order, kDim),
    broadcastNd("warp", warpsPerCTA, order, kDim),
  ].reduce(times);
  return cover(tile, cgaLayout(withoutDim(CGALayout, kDim), shape.length), shape, order);
}
