// In what order a sum along a dimension is added, as tt_layout.analyses.conversion.reduction_order.

const ROW_ORDER = [3, 2, 1, 0, 4, 5]; // bits of the lane, where AMD adds all lanes of a warp
const PACKED_TYPES = ["f16", "bf16", "f32", "i16"];
const WRITTEN_TERMS = 4; // of a step; of more the first, the second and the last are

/** Return the bits of an input that move along a dimension, each with how far. */
function movingAlong(vectors, axis) {
  return vectors.flatMap((vector, bit) => (vector[axis] ? [[bit, vector[axis]]] : []));
}

/** Return the type of the elements of a tensor, such as f32. */
function elementOf(type) {
  return /x([a-z]\w*)>?$/.exec(type)?.[1] ?? "";
}

/** Return what brings lanes the value of those that differ by a mask. */
function shuffleName(mask, target) {
  return target.name.startsWith("sm") ? `shfl.sync.bfly ${mask}` : `shuffle xor ${mask}`;
}

/** Return what adds lanes of AMD's to others of their row of 16, or rows. */
function rowStepName(bit, target) {
  if (bit < 4) return `row_shr:${2 ** bit}`;
  return target.lanes === 64 ? `row_bcast:${2 ** bit - 1}` : "v_permlanex16";
}

/** Return all distances that some single ones add up to, in the order of registers. */
function distancesOf(moving) {
  return moving.reduce((found, [, step]) => [...found, ...found.map((offset) => offset + step)], [0]);
}

/** Return the steps by which lanes add what each has: the highest bit first, or AMD's rows. */
function laneSteps(moving, place, target, hasAll) {
  const isByRows = hasAll && target.sums.includes("rows");
  const rank = (bit) => (isByRows ? ROW_ORDER.indexOf(bit) : -bit);
  const swaps = String(moving.map(([bit]) => bit)) in { 5: 0, "4,5": 0 } && target.sums.includes("swaps");
  const name = (bit) => {
    if (isByRows) return rowStepName(bit, target);
    return swaps ? `v_permlane${2 ** bit}_swap` : shuffleName(2 ** bit, target);
  };
  return moving
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .map(([bit, step]) => ({ place, offsets: [0, step], instruction: name(bit), isPacked: false }));
}

/** Return the steps within warps: integers by one instruction, where there is one for enough lanes. */
function crossings(lanes, axis, place, element, target) {
  const moving = movingAlong(lanes, axis);
  const others = lanes.filter((vector) => vector.some(Boolean) && !vector[axis]).length;
  const isOne = element.startsWith("i") && elementBits(element) <= 32 && target.sums.includes("redux");
  if (isOne && moving.length && moving.length >= 2 * 2 ** others)
    return [{ place, offsets: distancesOf(moving), instruction: "redux.sync.add", isPacked: false }];
  return laneSteps(moving, place, target, 2 ** moving.length === target.lanes);
}

/** Return lanes, warps and CTAs once lanes have gathered what warps and CTAs hold of a dimension. */
function gatheredAlong({ lane, warp, block }, axis) {
  const bases = { lane: [...lane], warp: [...warp], block: [...block] };
  let moving = ["warp", "block"].flatMap((name) => movingAlong(bases[name], axis).map(([bit]) => [name, bit]));
  const free = lane.flatMap((vector, bit) => (vector.some(Boolean) ? [] : [bit]));
  const places = free.length >= moving.length ? free : lane.map((_, bit) => bit);
  if (free.length < moving.length && moving.length > lane.length)
    moving = moving.filter(([name]) => name === "warp");
  moving.slice(0, places.length).forEach(([name, bit], k) => {
    const at = places[k];
    [bases.lane[at], bases[name][bit]] = [bases[name][bit], bases.lane[at]];
  });
  return bases;
}

/** Return the steps of a reduction since Triton 3.8. */
function stepsByHalves(bases, axis, element, target) {
  const own = movingAlong(bases.register, axis);
  const isFirst = Boolean(bases.register[0]?.[axis]);
  const isPacked =
    PACKED_TYPES.includes(element) && target.sums.includes(elementBits(element)) && own.length >= 2;
  if (isPacked && isFirst) own.push(own.shift()); // the two that are packed are added last
  const steps = own.map(([, step], k) => ({
    place: "registers",
    offsets: [0, step],
    instruction: "",
    isPacked: isPacked && !(isFirst && k === own.length - 1),
  }));
  let [held, place] = [bases, "lanes"];
  for (;;) {
    steps.push(...crossings(held.lane, axis, place, element, target));
    const without = held.lane.map((vector) => vector.with(axis, 0));
    held = { ...held, lane: without };
    if (![...held.warp, ...held.block].some((vector) => vector[axis])) return steps;
    held = gatheredAlong(held, axis);
    place = "warps";
  }
}

/** Throw where bits of lanes or warps are mixed up, as those reductions take a dimension's to be together. */
function checkTogether(bases, axis) {
  const crossesWarps = movingAlong(bases.warp, axis).length > 0;
  for (const name of ["lane", "warp"]) {
    const dims = bases[name].map((vector) => vector.findIndex(Boolean));
    const bits = movingAlong(bases[name], axis).map(([bit]) => bit);
    if (!bits.length) continue;
    const [first, last] = [bits[0], bits.at(-1)];
    const between = dims.slice(first, last).filter((dim) => dim >= 0 || name === "lane");
    const behind = dims.slice(last + 1);
    const isCut = crossesWarps && dims.slice(0, first).some((dim) => dim >= 0 && behind.includes(dim));
    if (isCut || between.some((dim) => dim !== axis))
      throw new TextError(
        `bits [${bits.join(", ")}] of the ${name} move along dimension ${axis}: this reduction adds wrong elements, unless the bits of a dimension are together`,
      );
  }
}

/** Return the steps of a reduction until Triton 3.7. */
function stepsOneByOne(bases, axis, element, target) {
  if (movingAlong(bases.block, axis).length)
    throw new TextError("Triton before 3.8 does not reduce across CTAs");
  checkTogether(bases, axis);
  const offsets = distancesOf(movingAlong(bases.register, axis));
  const own = { place: "registers", offsets, instruction: "", isPacked: false };
  const parts = movingAlong(bases.warp, axis).map(([, step], at) => [at, step]);
  return [
    ...(offsets.length > 1 ? [own] : []),
    ...crossings(bases.lane, axis, "lanes", element, target),
    ...laneSteps(parts, "warps", target, 2 ** parts.length === target.lanes),
  ];
}

/** Return the steps in which a sum along a dimension of a register layout is added. */
function reductionSteps(spec, axis, target) {
  const ins = Object.fromEntries(spec.ins);
  const bases = Object.fromEntries(
    ["register", "lane", "warp", "block"].map((name) => [name, ins[name] ?? []]),
  );
  bases.register = bases.register.filter((vector) => vector.some(Boolean));
  if (!target.sums)
    throw new TextError(`${target.name} is Intel's, whose SPIR-V compiler adds up a sub-group: no document gives its order`);
  if (2 ** bases.lane.length !== target.lanes)
    throw new TextError(`the layout has ${counted(2 ** bases.lane.length, "lane")} per warp, ${target.name} has ${target.lanes}`);
  for (const [name, vectors] of Object.entries(bases))
    for (const [bit, vector] of vectors.entries()) {
      const value = vector[axis];
      if (value & (value - 1) || (value && vector.filter(Boolean).length > 1))
        throw new TextError(
          `bit ${bit} of the ${name} moves by [${vector.join(", ")}]: a reduction takes single bits of one dimension`,
        );
    }
  const element = elementOf(spec.type);
  const steps = isSince(spec.release, "3.8") ? stepsByHalves : stepsOneByOne;
  return steps(bases, axis, element, target);
}

/** Return what a step makes of the sums before it. */
function sumInWords({ offsets }, number) {
  const name = number > 1 ? `s${number - 1}` : "x";
  const terms = offsets.map((offset) => (offset ? `${name}(i+${offset})` : `${name}(i)`));
  if (terms.length <= WRITTEN_TERMS) return `s${number}(i) = ${terms.join(" + ")}`;
  return `s${number}(i) = ${terms[0]} + ${terms[1]} + .. + ${terms.at(-1)}, one after the other: +${ranges(offsets)}`;
}

/** Return what brings the terms of a step together. */
function broughtBy({ place, instruction, isPacked }) {
  if (place === "warps") return `shared memory, ${instruction}`;
  return instruction || (isPacked ? "packed pairs" : "");
}

/** Return whether sums under two layouts have the same bits, in words. */
function bitsInCommon(steps, others, element) {
  const [own, its] = [steps, others].map((each) => String(each.map(({ offsets }) => `[${offsets}]`)));
  if (own === its) return "the same bits: both add in one order";
  return element.startsWith("i")
    ? "the same bits: of integers every order gives them"
    : "other bits: the layouts add in another order";
}

/** Shows in what order a sum along a dimension is added. */
class ReductionView {
  constructor(section) {
    this.section = section;
    this.axis = null; // the last dimension, until one is chosen
  }

  /** Show the order under a layout, and whether another one gives the same bits. */
  show(model, other, target) {
    const { spec } = model;
    this.section.hidden = model.memory !== REGISTERS;
    if (this.section.hidden) return;
    const rank = spec.outs.length;
    const axis = Math.min(this.axis ?? rank - 1, rank - 1);
    fillSelect("reduction-axis", spec.outs.map(([name], d) => [String(d), name]), String(axis));
    const [rows, said] = this.#found(spec, other?.memory === REGISTERS ? other.spec : null, axis, target);
    byId("reduction-steps").replaceChildren(...rows);
    byId("reduction-table").hidden = !rows.length;
    byId("reduction-said").textContent = said;
  }

  #found(spec, other, axis, target) {
    try {
      const steps = reductionSteps(spec, axis, target);
      const rows = steps.map((step, k) => {
        const cells = [String(k + 1), sumInWords(step, k + 1), step.place, broughtBy(step)];
        return make("tr", {}, ...cells.map((textContent) => make("td", { textContent })));
      });
      const compiled = `${target.name}, Triton ${spec.release}`;
      if (!other) return [rows, compiled];
      const common = bitsInCommon(steps, reductionSteps(other, axis, target), elementOf(spec.type));
      return [rows, `${compiled}; ${common}`];
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      return [[], error.message];
    }
  }
}
