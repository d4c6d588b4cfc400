// Attributes with parameters that are the same layout as one of bases: tt_layout.analyses.layouts.shortest,
// whose tables the file embeds.

const OF_BASES = ["linear", "generic_linear", "shared_linear", "padded_shared"].map(
  (mnemonic) => `#ttg.${mnemonic}`,
);

/** Parameters of an amd_mfma that no lane depends on: of what else differs, one try is enough. */
const WITHOUT_LANES = /(?<=amd_mfma.*)(warpsPerCTA|tilesPerWarp) = [^\]]*\]/g;

/** Return the attribute with parameters that is a layout of bases over a type; itself if none is. */
function shortestAttribute(attribute, type) {
  if (!OF_BASES.includes(attributeName(attribute))) return attribute;
  const release = DATA.releases.at(-1);
  const wanted = readLayout(attribute, type, release);
  if (wanted.outs.length > DATA.shortest.maxRank) return attribute;
  const cga = cgaOf(wanted);
  if (!cga) return attribute;
  const alignment = Number(/alignment = (\d+)/.exec(attribute)?.[1] ?? DATA.shortest.alignment);
  const isShared = wanted.memory === SHARED;
  const candidates = isShared
    ? sharedCandidates(wanted, cga, alignment)
    : distributedCandidates(wanted, cga);
  const lanes = vectorsOf(wanted, "lane");
  const refuted = new Set();
  for (const candidate of candidates) {
    const family = candidate.replace(WITHOUT_LANES, "");
    if (refuted.has(family)) continue;
    try {
      const own = readLayout(candidate, type, release);
      if (isSameLayout(wanted, own)) return candidate;
      if (show(vectorsOf(own, "lane")) !== show(lanes)) refuted.add(family);
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
    }
  }
  return attribute;
}

function isSameLayout(one, other) {
  return ["ins", "outs", "padding"].every((part) => show(one[part]) === show(other[part]));
}

/** Return the bases of CTAs in units of a CTA's part; null where those are no such multiples. */
function cgaOf(wanted) {
  const vectors = vectorsOf(wanted, "block") ?? [];
  if (vectors.some((vector) => vector.filter(Boolean).length > 1)) return null;
  const parts = sizesOf(wanted).map((size, d) =>
    Math.max(1, size / 2 ** vectors.filter((vector) => vector[d]).length),
  );
  if (vectors.some((vector) => vector.some((step, d) => step % parts[d]))) return null;
  return vectors.map((vector) => vector.map((step, d) => step / parts[d]));
}

/** Return the text of an attribute without the keys that are empty, or not given. */
function dictText(mnemonic, values) {
  const pairs = Object.entries(values).filter(([, value]) => value && value.length !== 0);
  return attributeText(`ttg.${mnemonic}`, "DICT", Object.fromEntries(pairs));
}

/** Return all orders of the dimensions of a tensor, the row-major one first. */
function orders(dims) {
  if (dims.length < 2) return [dims];
  return dims.flatMap((d) => orders(dims.filter((other) => other !== d)).map((rest) => [d, ...rest]));
}

/** Yield swizzles of a buffer, the plain ones first, and core matrices; of them those that keep its alignment. */
function* sharedCandidates(wanted, cga, alignment) {
  const rank = wanted.outs.length;
  for (const order of orders(rowMajor(rank))) {
    if (wanted.padding.length) {
      const values = { paddings: wanted.padding, order, shape: sizesOf(wanted) };
      if (!cga.length) yield attributeText("ttg.padded_shared", "PADDED", values);
      continue;
    }
    const moves = vectorsOf(wanted, "offset").filter(
      (vector) => rank > 1 && vector[order[0]] && vector[order[1]],
    );
    const least = (d) => Math.min(...moves.map((vector) => vector[d]));
    const [vec, perPhase] = moves.length ? [least(order[0]), least(order[1])] : [1, 1];
    const values = { vec, perPhase, maxPhase: 2 ** moves.length, order, CGALayout: cga };
    if (alignment <= DATA.shortest.alignment) yield dictText("swizzled_shared", values);
  }
  if (!DATA.shortest.coreBits.includes(wanted.bits)) return;
  for (const [swizzlingByteWidth, kept] of DATA.shortest.swizzles)
    for (const transposed of ["false", "true"])
      if (kept >= alignment)
        yield dictText("nvmma_shared", {
          swizzlingByteWidth: `${swizzlingByteWidth}`,
          transposed,
          elementBitWidth: wanted.bits,
          rank: rank !== 2 && !cga.length && rank,
          CGALayout: cga,
        });
}

/** Yield blocked layouts, their slices, accumulators and operands of matrix instructions. */
function* distributedCandidates(wanted, cga) {
  const rank = wanted.outs.length;
  const dims = Array.from({ length: rank }, (_, d) => d);
  const [lanes, warps] = ["lane", "warp"].map((name) => vectorsOf(wanted, name));
  const reach = (vectors) => dims.map((d) => 2 ** vectors.filter((vector) => vector[d]).length);
  const sizePerThread = dims.map((d) => neighbours(vectorsOf(wanted, "register"), d));
  const own = { sizePerThread, threadsPerWarp: reach(lanes), warpsPerCTA: reach(warps) };
  for (const order of orders(rowMajor(rank)))
    yield dictText("blocked", { ...own, order, CGALayout: cga });
  yield* sliceCandidates(wanted, own, cga);
  if (rank !== 2) return;
  const { nvidia_mma: words, amd_mfma: waves, amd_wmma: halves } = DATA.shortest.kWidths;
  if (2 ** lanes.length === DATA.tiles.mfma.lanes)
    yield* withOperands(mfmaAccumulators(2 ** warps.length, cga), waves);
  if (2 ** lanes.length !== WARP_LANES) return;
  const widths = [8, 16, 32].includes(wanted.bits) ? [32 / wanted.bits] : words;
  yield* withOperands(mmaAccumulators(2 ** warps.length, cga), widths);
  yield* withOperands(wmmaAccumulators(wanted, cga), halves);
}

/** Yield accumulators, then the operands of their instructions. */
function* withOperands(accumulators, widths) {
  const parents = [...accumulators];
  yield* parents;
  for (const parent of parents)
    for (const opIdx of [0, 1])
      for (const kWidth of widths)
        yield `#ttg.dot_op<{opIdx = ${opIdx}, parent = ${parent}, kWidth = ${kWidth}}>`;
}

/** Yield slices of blocked layouts, along whose lost dimension lanes and warps repeat. */
function* sliceCandidates(wanted, own, cga) {
  const rank = wanted.outs.length + 1;
  const repeats = (name) => 2 ** vectorsOf(wanted, name).filter((v) => !v.some(Boolean)).length;
  const lost = { sizePerThread: 1, threadsPerWarp: repeats("lane"), warpsPerCTA: repeats("warp") };
  if (lost.threadsPerWarp * lost.warpsPerCTA === 1 || rank > DATA.shortest.maxRank) return;
  for (const dim of rowMajor(rank)) {
    const wide = Object.fromEntries(
      Object.entries(own).map(([key, counts]) => [key, counts.toSpliced(dim, 0, lost[key])]),
    );
    const CGALayout = cga.map((vector) => vector.toSpliced(dim, 0, 0));
    for (const order of orders(rowMajor(rank)))
      yield `#ttg.slice<{dim = ${dim}, parent = ${dictText("blocked", { ...wide, order, CGALayout })}}>`;
  }
}

/** Return the powers of two up to a number, the largest first. */
function powersDown(most) {
  return [...steps(most), most].reverse();
}

function* mmaAccumulators(warps, cga) {
  for (const rows of powersDown(warps)) {
    const warpsPerCTA = [rows, warps / rows];
    const mma = (versionMajor, instrShape) =>
      dictText("nvidia_mma", {
        versionMajor,
        versionMinor: "0",
        warpsPerCTA,
        CGALayout: cga,
        instrShape,
      });
    yield mma(2, [16, 8]);
    if (rows % 4 === 0)
      for (const columns of DATA.shortest.wgmmaColumns) yield mma(3, [16, columns, 16]);
  }
}

/** Yield the layouts of the accumulators of mfma, those of one tile a warp first. */
function* mfmaAccumulators(warps, cga) {
  for (const tilesPerWarp of DATA.shortest.mfmaTiles)
    for (const bits of Object.keys(DATA.tiles.mfma.runs))
      for (const rows of powersDown(warps))
        for (const instrShape of DATA.shortest.mfmaShapes)
          for (const isTransposed of ["false", "true"])
            yield dictText("amd_mfma", {
              version: 3,
              warpsPerCTA: [rows, warps / rows],
              instrShape,
              isTransposed,
              CGALayout: cga,
              tilesPerWarp,
              elementBitWidth: bits !== "32" && bits,
            });
}

/**
 * Yield the layouts of the accumulators of wmma, with as few bases as possible first.  The warps, and
 * the registers that walk through tiles before the rest repeats, are those of the layout, in tiles.
 */
function* wmmaAccumulators(wanted, cga) {
  for (const [version, instructions] of Object.entries(DATA.tiles.wmma.instructions))
    for (const isTranspose of ["false", "true"]) {
      const tiles = new Map();
      for (const [shape] of instructions.toReversed()) tiles.set(show(shape.slice(0, 2)), shape);
      for (const instrShape of tiles.values()) {
        const [m, n] = instrShape;
        const [rows, columns] = isTranspose === "true" ? [n, m] : [m, n];
        const moves = vectorsOf(wanted, "register").filter((v) => v[0] >= rows || v[1] >= columns);
        const warps = inTiles(vectorsOf(wanted, "warp"), rows, columns);
        const walks = inTiles(moves, rows, columns);
        if (!warps || !walks) continue;
        for (let count = 0; count <= walks.length; count++) {
          const bases = Object.entries({ register: walks.slice(0, count), warp: filledWarps(warps) });
          const pairs = bases.filter(([, own]) => own.length);
          yield dictText("amd_wmma", {
            version,
            isTranspose,
            ctaLayout: `{${pairs.map(([name, own]) => `${name} = ${show(own)}`).join(", ")}}`,
            CGALayout: cga,
            instrShape: instrShape.some((size) => size !== 16) && instrShape,
          });
        }
      }
    }
}

/** Return bases of warps where those that repeat an operand walk along its other dimension. */
function filledWarps(warps) {
  const hasRows = warps.some(([row]) => row);
  const isFlat = !warps.some((vector) => vector.some(Boolean));
  const across = hasRows || isFlat ? 1 : 0;
  let step = 2 * Math.max(0.5, ...warps.map((vector) => 2 ** Math.floor(Math.log2(vector[across]))));
  return warps.map((vector) => {
    if (vector.some(Boolean)) return vector;
    const filled = across ? [0, step] : [step, 0];
    step *= 2;
    return filled;
  });
}

/** Return vectors in tiles; null where one ends inside a tile. */
function inTiles(vectors, rows, columns) {
  if (vectors.some(([row, column]) => row % rows || column % columns)) return null;
  return vectors.map(([row, column]) => [row / rows, column / columns]);
}

/** Return how many elements along a dimension follow each other in the registers. */
function neighbours(vectors, dim) {
  let size = 1;
  for (const vector of [...vectors].sort((a, b) => a[dim] - b[dim]))
    if (vector[dim] === size && vector.every((step, d) => d === dim || !step)) size *= 2;
  return size;
}
