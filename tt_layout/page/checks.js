// Rules of refusal; each throws what is wrong. Those of one value are data, `rules` of an encoding.

/** What a rule asks of a value, and of what it is given: whether a value is so. */
const HOLDS = {
  power: isPowerOfTwo,
  powers: (values) => values.every(isPowerOfTwo),
  permutation: (order) => [...order].sort((a, b) => a - b).every((d, k) => d === k),
  some: (values) => values.length > 0,
  "one of": (value, known) => known.some((one) => show(one) === show(value)),
  within: (value, [least, most]) => value >= (least ?? value) && value <= (most ?? value),
  length: (values, lengths) => lengths.includes(values.length),
};

/** The words of a rule for a value. */
const RULE_WORDS = {
  power: () => "be a power of two",
  powers: () => "be a power of two",
  permutation: (order) => `be a permutation of 0..${Math.max(0, order.length - 1)}`,
  "one of": (_, known) => `be ${oneOf(known)}`,
  within: (_, [least, most]) => withinWords(least, most),
  length: (_, lengths) => `have ${oneOf(lengths)} ${plural("entry", lengths.at(-1))}`,
};

function withinWords(least, most) {
  if (most === null) return `be at least ${least}`;
  return least === null ? `be ${most} at most` : `be in ${least}..${most}`;
}

/** Return values as those of which one is meant. */
function oneOf(values) {
  const shown = values.filter((value) => value !== null).map(show);
  return [shown.slice(0, -1).join(", "), shown.at(-1)].filter(Boolean).join(" or ");
}

/** Check the rules of an encoding that are data. */
function checkRules({ rules }, values, release) {
  for (const [key, must, given, [first, last], when] of rules) {
    if (!isSince(release, first) || !isSince(last, release) || !counts(when, values)) continue;
    if (!HOLDS[must](values[key], given)) throw new TextError(brokenRule(key, must, given, when, values));
  }
}

/** Tell whether another value, or the beginning of a list, is what a rule counts with. */
function counts(when, values) {
  if (when === null) return true;
  const [key, wanted] = when;
  const found = Array.isArray(wanted) ? values[key].slice(0, wanted.length) : values[key];
  return show(found) === show(wanted);
}

function brokenRule(key, must, given, when, values) {
  if (must === "some") return `${key} must name at least one dimension`;
  const got = `got ${show(values[key])}`;
  if (when !== null) return `${when[0]} = ${show(when[1])} needs ${key} = ${oneOf(given)}, ${got}`;
  const subject = must === "powers" ? `every entry of ${key}` : key;
  return `${subject} must ${RULE_WORDS[must](values[key], given)}, ${got}`;
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

function checkPower(key, value) {
  if (!isPowerOfTwo(value)) throw new TextError(`${key} must be a power of two, got ${show(value)}`);
}

function checkPermutation(key, order) {
  const sorted = [...order].sort((a, b) => a - b);
  if (sorted.some((d, k) => d !== k)) {
    const last = Math.max(0, order.length - 1);
    throw new TextError(`${key} must be a permutation of 0..${last}, got ${show(order)}`);
  }
}

function checkOrder(order) {
  checkPermutation("order", order);
  if (!order.length) throw new TextError("order must name at least one dimension");
}

/** Check that a value is one of a few. */
function checkOneOf(key, value, allowed) {
  if (HOLDS["one of"](value, allowed)) return;
  throw new TextError(`${key} must be ${oneOf(allowed)}, got ${show(value)}`);
}

/** Check a list of basis vectors of `rank` components each. */
function checkBases(key, bases, rank) {
  if (!Array.isArray(bases)) throw new TextError(`${key} must be a list of basis vectors`);
  for (const vector of bases) {
    checkIntegers(`a basis of ${key}`, vector);
    if (vector.length !== rank) {
      throw new TextError(`a basis of ${key} must have ${counted(rank, "number")}, got ${show(vector)}`);
    }
    if (vector.some((step) => step < 0 || step > Number.MAX_SAFE_INTEGER)) {
      throw new TextError(
        `a basis of ${key} must not be negative or beyond 2^53, got ${show(vector)}`,
      );
    }
  }
}

/** Check that bases reach every element of the shape that they span. */
function checkReach(layout) {
  if (new Inverse(layout).reachesAll) return;
  const own = layout.outs.map(([, size]) => size);
  throw new TextError(`the bases must reach every element of the shape they span (${show(own)})`);
}

/** Check that the bases that are not zero are independent of each other. */
function checkIndependence(layout) {
  const sizes = layout.outs.map(([, size]) => size);
  const moving = layout.ins.flatMap(([, vectors]) => vectors).filter((v) => v.some(Boolean));
  if (new Span(moving.map((v) => flatten(v, sizes))).rank < moving.length)
    throw new TextError("the nonzero bases must be independent of each other");
}

/** Tell whether the vectors that are not zero are 1, 2, 4, .. in each dimension, once each. */
function isPermutationMatrix(vectors, rank) {
  const steps = Array.from({ length: rank }, () => []);
  for (const vector of vectors) {
    const moved = vector.flatMap((step, d) => (step ? [d] : []));
    if (moved.length > 1) return false;
    for (const d of moved) steps[d].push(vector[d]);
  }
  return steps.every((own) => own.sort((a, b) => a - b).every((step, bit) => step === 2 ** bit));
}

/** Check the bases of block for a layout of some rank. */
function checkCga({ CGALayout: cga }, rank, release) {
  checkBases("CGALayout", cga, rank);
  if (isSince(release, "3.8") && !isPermutationMatrix(cga, rank)) {
    throw new TextError(
      `CGALayout must be a permutation matrix but for zero vectors, got ${show(cga)}`,
    );
  }
}

/** Check that the lists that split a tensor over CTAs are for a layout of some rank. */
function checkSplitRank({ splitRank }, rank, release, first) {
  if ((splitRank ?? rank) !== rank && isSince(release, first))
    throw new TextError(`${SPLIT.join(", ")} must have ${counted(rank, "entry")} each, got ${splitRank}`);
}
