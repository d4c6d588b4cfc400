// Attributes with parameters that are the same layout as one of bases: tt_layout.notation.shortest.

const MAX_ORDERED_RANK = 4; // dimensions of which every order is tried
const WAVE_LANES = 64; // of a warp that works on an amd_mfma
const WGMMA_COLUMNS = [8, 16, 32, 64, 128, 256];
const MFMA_SHAPES = [[32, 32, 8], [16, 16, 16], [64, 4, 4], [4, 64, 4]];
const SWIZZLE_BYTES = [0, 32, 64, 128];
const OF_BASES = ["linear", "generic_linear", "shared_linear", "padded_shared"].map(
  (mnemonic) => `#ttg.${mnemonic}`,
);

/** Return the attribute with parameters that is a layout of bases over a type; itself if none is. */
function shortestAttribute(attribute, type) {
  if (!OF_BASES.includes(attributeName(attribute))) return attribute;
  const release = DATA.releases.at(-1);
  const wanted = readLayout(attribute, type, release);
  const isShared = wanted.memory === SHARED;
  if (wanted.outs.length > MAX_ORDERED_RANK) return attribute;
  const isSplit = (vectorsOf(wanted, "block") ?? []).some((vector) => vector.some(Boolean));
  if (isSplit) return attribute;
  const candidates = isShared ? sharedCandidates(wanted) : distributedCandidates(wanted);
  for (const candidate of candidates) {
    try {
      if (isSameLayout(wanted, readLayout(candidate, type, release))) return candidate;
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
    }
  }
  return attribute;
}

function isSameLayout(one, other) {
  return ["ins", "outs", "padding"].every((part) => show(one[part]) === show(other[part]));
}

/** Return all orders of the dimensions of a tensor, the row-major one first. */
function orders(dims) {
  if (dims.length < 2) return [dims];
  return dims.flatMap((d) => orders(dims.filter((other) => other !== d)).map((rest) => [d, ...rest]));
}

/** Yield swizzles of a buffer, the plain ones first, and core matrices. */
function* sharedCandidates(wanted) {
  const rank = wanted.outs.length;
  for (const order of orders(rowMajor(rank))) {
    if (wanted.padding.length) {
      const values = { paddings: wanted.padding, order, shape: sizesOf(wanted) };
      yield attributeText("ttg.padded_shared", "PADDED", values);
      continue;
    }
    const moves = vectorsOf(wanted, "offset").filter(
      (vector) => rank > 1 && vector[order[0]] && vector[order[1]],
    );
    const least = (d) => Math.min(...moves.map((vector) => vector[d]));
    const [vec, perPhase] = moves.length ? [least(order[0]), least(order[1])] : [1, 1];
    const values = { vec, perPhase, maxPhase: 2 ** moves.length, order };
    yield attributeText("ttg.swizzled_shared", "DICT", values);
  }
  if (![8, 16, 32, 64].includes(wanted.bits)) return;
  for (const swizzlingByteWidth of SWIZZLE_BYTES)
    for (const transposed of [false, true]) {
      const values = { swizzlingByteWidth, transposed, elementBitWidth: wanted.bits };
      const own = rank === 2 ? values : { ...values, rank };
      yield attributeText("ttg.nvmma_shared", "DICT", own);
    }
}

/** Yield blocked layouts, accumulators and operands of matrix instructions. */
function* distributedCandidates(wanted) {
  const rank = wanted.outs.length;
  const dims = Array.from({ length: rank }, (_, d) => d);
  const [lanes, warps] = ["lane", "warp"].map((name) => vectorsOf(wanted, name));
  const reach = (vectors) => dims.map((d) => 2 ** vectors.filter((vector) => vector[d]).length);
  const sizePerThread = dims.map((d) => neighbours(vectorsOf(wanted, "register"), d));
  const own = { sizePerThread, threadsPerWarp: reach(lanes), warpsPerCTA: reach(warps) };
  for (const order of orders(rowMajor(rank)))
    yield attributeText("ttg.blocked", "DICT", { ...own, order });
  if (rank !== 2) return;
  const accumulators =
    2 ** lanes.length === WARP_LANES
      ? mmaAccumulators(2 ** warps.length)
      : 2 ** lanes.length === WAVE_LANES
        ? mfmaAccumulators(2 ** warps.length)
        : [];
  const isWave = 2 ** lanes.length === WAVE_LANES;
  const widths = isWave ? [4, 8, 16] : [8, 16, 32].includes(wanted.bits) ? [32 / wanted.bits] : [1, 2, 4];
  for (const parent of accumulators) {
    yield parent;
    for (const opIdx of [0, 1])
      for (const kWidth of widths)
        yield `#ttg.dot_op<{opIdx = ${opIdx}, parent = ${parent}, kWidth = ${kWidth}}>`;
  }
}

/** Return the powers of two up to a number, the largest first. */
function powersDown(most) {
  return [...steps(most), most].reverse();
}

function* mmaAccumulators(warps) {
  for (const rows of powersDown(warps)) {
    const warpsPerCTA = [rows, warps / rows];
    const mma = (versionMajor, instrShape) =>
      attributeText("ttg.nvidia_mma", "DICT", {
        versionMajor,
        versionMinor: 0,
        warpsPerCTA,
        instrShape,
      });
    yield mma(2, [16, 8]);
    if (rows % 4 === 0) for (const columns of WGMMA_COLUMNS) yield mma(3, [16, columns, 16]);
  }
}

function* mfmaAccumulators(warps) {
  for (const rows of powersDown(warps))
    for (const instrShape of MFMA_SHAPES)
      for (const isTransposed of [false, true])
        yield attributeText("ttg.amd_mfma", "DICT", {
          version: 3,
          warpsPerCTA: [rows, warps / rows],
          instrShape,
          isTransposed,
        });
}

/** Return how many elements along a dimension follow each other in the registers. */
function neighbours(vectors, dim) {
  let size = 1;
  for (const vector of [...vectors].sort((a, b) => a[dim] - b[dim]))
    if (vector[dim] === size && vector.every((step, d) => d === dim || !step)) size *= 2;
  return size;
}
