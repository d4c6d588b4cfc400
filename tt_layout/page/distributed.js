// Layouts in registers, but for those of matrix instructions.

/** Return dimensions from the last to the first. */
function rowMajor(rank) {
  return Array.from({ length: rank }, (_, d) => rank - 1 - d);
}

function dimNames(rank) {
  return Array.from({ length: rank }, (_, d) => `dim${d}`);
}

/** Return the layout from block to the tensor. */
function cgaLayout(cga, rank) {
  return spanned([["block", cga]], rank);
}

/**
 * Return bases with the sizes that they span.
 *
 * @param {any[]} ins
 * @param {number} rank
 * @returns {Linear}
 */
function spanned(ins, rank) {
  const vectors = ins.flatMap(([, own]) => own);
  /** @type {Array<[string, number]>} */
  const outs = Array.from({ length: rank }, (_, d) => {
    const largest = Math.max(0, ...vectors.map((v) => v[d]));
    return [`dim${d}`, 2 ** (largest ? Math.floor(Math.log2(largest)) + 1 : 0)];
  });
  return { ins, outs };
}

// -- blocked --------------------------------------------------------------------------------------

function checkBlocked(values, release) {
  const rank = values.order.length;
  for (const key of ["sizePerThread", "threadsPerWarp", "warpsPerCTA"]) {
    if (values[key].length !== rank)
      throw new TextError(`${key} must have ${counted(rank, "entry")} as order has, got ${show(values[key])}`);
  }
  checkCga(values, rank, release);
  if (values.splitRank || isSince(release, "3.4")) checkSplitRank(values, rank, release, "2.2");
}

function layBlocked(values, shape, release) {
  const { sizePerThread, threadsPerWarp, warpsPerCTA, order, CGALayout } = values;
  const tile = [
    ["register", sizePerThread],
    ["lane", threadsPerWarp],
    ["warp", warpsPerCTA],
  ]
    .map(([input, sizes]) => identityNd(input, sizes, order))
    .reduce(times);
  return cover(tile, cgaLayout(CGALayout, order.length), shape, order, isSince(release, "3.9"));
}

/** Return the layout with the registers of 2.0 that leave their row: their address goes on below. */
function wrapped(layout, { sizePerThread, order }, shape) {
  const strides = shape.map((_, d) => product(shape.slice(d + 1)));
  const tile = withOuts(identityNd("register", sizePerThread, order), dimNames(shape.length));
  const steps = vectorsOf(tile, "register").map((step) => {
    const address = step.reduce((sum, x, d) => sum + x * strides[d], 0) % product(shape);
    return strides.map((stride, d) => Math.floor(address / stride) % shape[d]);
  });
  return withVectors(layout, "register", [
    ...steps,
    ...vectorsOf(layout, "register").slice(steps.length),
  ]);
}

// -- linear ---------------------------------------------------------------------------------------

const DISTRIBUTED = ["register", "lane", "warp", "block"];

function linearRank(values) {
  return DISTRIBUTED.flatMap((key) => values[key])[0]?.length ?? 0;
}

function naturalLayout(values) {
  return spanned(
    DISTRIBUTED.map((key) => [key, values[key]]),
    linearRank(values),
  );
}

function checkGenericLinear(values) {
  const rank = linearRank(values);
  if (!rank) throw new TextError("there must be at least one basis vector");
  for (const key of DISTRIBUTED) checkBases(key, values[key], rank);
  for (const key of ["register", "lane", "block"]) checkOneDimension(key, values[key]);
  checkReach(naturalLayout(values));
}

/** Check the bases of #ttg.linear: a permutation matrix but for zero bases. */
function checkLinear(values, release) {
  checkGenericLinear(values);
  checkOneDimension("warp", values.warp);
  if (isSince(release, "3.7")) checkIndependence(naturalLayout(values));
  const vectors = DISTRIBUTED.flatMap((key) => values[key]);
  if (isSince(release, "3.8") && !isPermutationMatrix(vectors, linearRank(values))) {
    throw new TextError(
      "#ttg.linear must be a permutation matrix but for zero bases; #ttg.generic_linear need not be",
    );
  }
}

function checkOneDimension(key, bases) {
  const wrong = bases.find((vector) => vector.filter(Boolean).length > 1);
  if (wrong)
    throw new TextError(`a basis of ${key} may move in one dimension only, got ${show(wrong)}`);
}

function layLinear(values, shape) {
  const rank = shape.length;
  const moved = values.register.flatMap((v) => v.flatMap((step, d) => (step ? [d] : [])));
  const order = [...new Set([...moved, ...rowMajor(rank)])];
  const sizeOf = (name) => shape[Number(name.slice(3))];
  const ordered = withOuts(
    naturalLayout(values),
    order.map((d) => `dim${d}`),
  );
  return withOuts(clip(grow(ordered, sizeOf), sizeOf, true), dimNames(rank));
}

// -- slice ----------------------------------------------------------------------------------------

function checkSlice({ dim, parent }) {
  if (parent.memory !== REGISTERS)
    throw new TextError(`the parent of a slice must be a distributed layout, got ${parent.name}`);
  const rank = rankOf(parent);
  if (rank < 2) throw new TextError(`the parent of a slice must have rank 2 or more, got ${rank}`);
  if (dim >= rank)
    throw new TextError(`dim must be a dimension of the parent (0..${rank - 1}), got ${dim}`);
}

/** Return the parent's layout without one of its dimensions. */
function laySlice({ dim, parent }, shape, release, bits) {
  const whole = lay(parent, shape.toSpliced(dim, 0, 1), bits);
  const outs = dimNames(shape.length).map((name, d) => [name, whole.outs[d < dim ? d : d + 1][1]]);
  const isKept = (input) => (vector) =>
    input !== "register" || !isSince(release, "2.1") || vector.some(Boolean);
  const ins = whole.ins.map(([input, vectors]) => [
    input,
    vectors.map((vector) => vector.toSpliced(dim, 1)).filter(isKept(input)),
  ]);
  return { ins, outs };
}
