// Constructors of Gluon and of TLX.  Their parameters are those of tt_layout.notation.gluon.signatures,
// which the file embeds; here is only what they mean where it is not one key of the attribute.

const BARRIER = "MBarrierLayout";
const IDENTITY = "with_identity_for";
const CELL_WIDTH = 32; // of tensor memory
const VECTOR_BYTES = 16; // of the widest access to global memory
const USUAL_WARPS = 4;
const WARP_LANES = 32;
const SPLIT_WORDS = ["ctas_per_cga", "cta_split_num", "cta_order"];

/** Return { attribute, release } of a constructor of Gluon over a tensor. */
function readGluon(text, context) {
  const call = readCall(text);
  if (call.own === "AutoLayout")
    throw new TextError("an AutoLayout is inferred from the layouts of the operations around it");
  if (call.own === "CoalescedLayout") return coalescedAttribute(context);
  const newest = earliest(boundCalls(call).map(({ signature }) => signature.last));
  if (context.release && isSince(context.release, newest) && context.release !== newest) {
    const message = `gl.${call.own} has other parameters in Triton ${context.release}`;
    throw new TextError(`${message}; these are of Triton ${newest} and before`);
  }
  return { attribute: attributeOfCall(call, context), release: context.release || newest };
}

/** Return the oldest of some releases. */
function earliest(releases) {
  return DATA.releases.find((release) => releases.includes(release));
}

/** Return a call and those among its arguments with the signatures that they fit. */
function boundCalls(call) {
  const arguments_ = [...call.positional, ...Object.values(call.keywords)];
  const inner = arguments_.filter((value) => value instanceof Call);
  return [boundCall(call), ...inner.flatMap(boundCalls)];
}

/** Return { entry, signature, values } of the newest signature that a call fits. */
function boundCall(call) {
  if (call.own === BARRIER) {
    const cga = call.positional[0] ?? call.keywords.cga_layout ?? [];
    return boundCall(new Call("SwizzledSharedLayout", [1, 1, 1, [0], cga]));
  }
  if (call.own === IDENTITY) return boundCall(identityPadding(call));
  const entries = Object.hasOwn(DATA.gluon, call.own) ? DATA.gluon[call.own] : null;
  if (!entries) throw new TextError(unknownClass(call));
  const problems = [];
  for (const entry of entries) {
    for (const signature of entry.signatures) {
      const { problem, values } = fitted(signature, call);
      if (!problem) return { entry, signature, values };
      problems.push(`gl.${call.own} ${problem}`);
    }
  }
  throw new TextError(problems[0]);
}

/** Return the call of PaddedSharedLayout that with_identity_for stands for: rows in an order. */
function identityPadding({ positional, keywords }) {
  const words = ["interval_padding_pairs", "shape", "order", "cga_layout"];
  const [pairs, shape, order, cga] = words.map((word, at) => positional[at] ?? keywords[word]);
  if (!isNumbers(shape) || !isNumbers(order))
    throw new TextError(`${IDENTITY} needs interval_padding_pairs, shape, order`);
  if ([...order].sort().join() !== shape.map((_, d) => d).join())
    throw new TextError(`order must be a permutation of 0..${shape.length - 1}, got ${show(order)}`);
  if (cga?.length) throw new TextError(`of ${IDENTITY}, the page reads those of one CTA`);
  const offset = order.flatMap((d) => steps(shape[d]).map((step) => unit(shape.length, d, step)));
  return new Call("PaddedSharedLayout", [pairs, offset, [], shape]);
}

function unknownClass({ name, own }) {
  const near = nearest(own, Object.keys(DATA.gluon));
  return `Gluon's '${name}' is not a known layout${near ? `; did you mean ${near}?` : ""}`;
}

function parametersOf(signature) {
  return signature.parameters.map((place) => DATA.parameters[place]);
}

/** Return why a call does not fit a signature, or its arguments with defaults. */
function fitted(signature, { positional, keywords }) {
  const parameters = parametersOf(signature);
  if (positional.length > parameters.length)
    return { problem: `takes ${counted(parameters.length, "argument")}, got ${positional.length}` };
  const words = parameters.map(([word]) => word);
  const given = Object.fromEntries(positional.map((value, at) => [words[at], value]));
  const unknown = Object.keys(keywords).filter((word) => !words.includes(word));
  const twice = Object.keys(keywords).filter((word) => Object.hasOwn(given, word));
  Object.assign(given, keywords);
  const lacks = ([word, , ...rest]) => !rest.length && !Object.hasOwn(given, word);
  const suits = ([word, kind]) => (given[word] ?? null) === null || SUITS[kind](given[word]);
  const missing = parameters.filter(lacks).map(([word]) => word);
  const wrong = parameters.filter((one) => !suits(one)).map(([word, kind]) => `${kind} as ${word}`);
  for (const [own, problem] of [
    [unknown, "has no argument"],
    [twice, "is given twice"],
    [missing, "needs"],
    [wrong, "takes"],
  ])
    if (own.length) return { problem: `${problem} ${own.join(", ")}` };
  return {
    values: Object.fromEntries(
      parameters.map(([word, , usual]) => [word, given[word] ?? usual ?? null]),
    ),
  };
}

const isNumber = (value) => Number.isInteger(value);
const isNumbers = (value) => Array.isArray(value) && value.every(isNumber);
const SUITS = {
  "a number": isNumber,
  numbers: isNumbers,
  "a number, or numbers": (value) => isNumber(value) || isNumbers(value),
  "lists of numbers": (value) => Array.isArray(value) && value.every(isNumbers),
  "a boolean": (value) => typeof value === "boolean",
  "a layout": (value) => value instanceof Call,
  "a word": (value) => typeof value === "string",
};

/** Return the attribute that a call makes, by the names of keys of today. */
function attributeOfCall(call, context) {
  const { entry, signature, values } = boundCall(call);
  const inner = { ...context, shape: null };
  const written = mapValues(values, (value) =>
    value instanceof Call ? attributeOfCall(value, inner) : value,
  );
  const today = signature.update ? UPDATES[signature.update](written, context) : written;
  const own = KEYS_OF_CLASSES[entry.attribute]?.(today) ?? {};
  const usual = Object.fromEntries(
    parametersOf(entry.signatures[0]).map(([word, , value]) => [word, value]),
  );
  const pairs = entry.keys.flatMap(([key, word, part, isAlways]) => {
    const given = part < 0 ? today[word] : today[word]?.[part];
    const value = Object.hasOwn(own, key) ? own[key] : given;
    const isUsual = !isAlways && show(value ?? null) === show(usual[word] ?? null);
    return value === undefined || value === null || isUsual ? [] : [[key, value]];
  });
  return fittingAttribute(entry, Object.fromEntries(pairs));
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** Return an attribute in its style; of bases, the generic one where they permute nothing. */
function fittingAttribute({ attribute, style }, values) {
  if (attribute !== "ttg.linear") return attributeText(attribute, style, values);
  return basesAttribute(
    REGISTERS,
    DISTRIBUTED.map((name) => [name, values[name] ?? []]),
  );
}

/**
 * Return the text of an attribute whose keys are enclosed in a style.
 *
 * @param {string} name
 * @param {string} style
 * @param {Record<string, any>} values
 */
function attributeText(name, style, { paddings, alignment, ...values }) {
  const pairs = Object.entries(values).map(([key, value]) => `${key} = ${show(value)}`);
  const inner = style === "STRUCT" ? pairs.join(", ") : `{${pairs.join(", ")}}`;
  const front = paddings ? `[${paddings.map((pair) => pair.join(":+")).join(", ")}] ` : "";
  const back = alignment === undefined ? "" : `, alignment = ${alignment}`;
  return `#${name}<${front}${inner}${back}>`;
}

/** Keys that no argument is as it is: attribute -> function of the arguments. */
const KEYS_OF_CLASSES = {
  "ttg.amd_wmma": ({ reg_bases, warp_bases, rank }) => {
    const bases = { register: reg_bases ?? [], warp: warp_bases ?? [] };
    const pairs = Object.entries(bases).filter(([name, own]) => own.length || name === "warp");
    const ctaLayout = `{${pairs.map(([name, own]) => `${name} = ${show(own)}`).join(", ")}}`;
    const implied = [...bases.register, ...bases.warp][0]?.length ?? 2;
    return { ctaLayout, ...(rank === implied ? {} : { rank }) };
  },
  "ttg.padded_shared": ({ offset_bases, cga_layout, order, shape, block }) => {
    if (order) return { order, shape };
    // Without bases only order and shape say of how many dimensions the tensor is.
    const rank = shape.length;
    if (!offset_bases.length)
      return { offset: null, order: shape.map((_, d) => rank - 1 - d), shape };
    const part = extent(offset_bases, rank);
    const scaled = (vector) => vector.map((step, d) => step * part[d]);
    return { block: block ?? cga_layout.map(scaled) };
  },
};

/** Return the sizes that vectors reach. */
function extent(vectors, rank) {
  return spanned([["offset", vectors]], rank).outs.map(([, size]) => size);
}

/** Older parameters -> those of today, or keys of the attribute. */
const UPDATES = {
  with_cga: withCga,
  padded_by_order: ({ interval_padding_pairs, order, ...split }, { shape }) => {
    if (cgaOfSplit(split).length)
      throw new TextError("of PaddedSharedLayout by order, the page reads those of one CTA");
    if (shape?.length !== order.length)
      throw new TextError(`this PaddedSharedLayout is for ${counted(order.length, "dimension")}`);
    return { interval_padding_pairs, order, shape };
  },
  padded_by_bases: ({ block_bases, ...rest }) => ({ ...rest, block: block_bases }),
  mfma_by_type: ({ elem_type, ...rest }) =>
    withCga({ ...rest, element_bitwidth: String(elem_type).endsWith("64") ? 64 : 32 }),
  wmma_by_lists: ({ warps_per_cta, tiles_per_warp, ...rest }) => {
    const [reg_bases, warp_bases] = tilesOfLists(warps_per_cta, tiles_per_warp ?? []);
    return { ...rest, reg_bases, warp_bases, rank: warps_per_cta.length };
  },
  tensor_memory: ({ unpacked, col_stride, cta_split_num, ...rest }, { bits }) => {
    const stride = unpacked ? Math.max(1, CELL_WIDTH / (bits ?? CELL_WIDTH)) : 1;
    return { ...rest, col_stride: col_stride ?? stride, cga_layout: cgaOfTiles(cta_split_num) };
  },
  scales: ({ cta_split_num }) => ({ cga_layout: cgaOfTiles(cta_split_num) }),
};

function withCga(values) {
  const rest = Object.entries(values).filter(([word]) => !SPLIT_WORDS.includes(word));
  return { ...Object.fromEntries(rest), cga_layout: cgaOfSplit(values) };
}

/** Return the powers of two below a size. */
function steps(size) {
  if (!isPowerOfTwo(size)) throw new TextError(`expected a power of two, got ${size}`);
  return Array.from({ length: log2(size) }, (_, bit) => 2 ** bit);
}

function unit(rank, d, step) {
  return Array.from({ length: rank }, (_, other) => (other === d ? step : 0));
}

/** Return the bases of CTAs for the three lists of 3.5 and before. */
function cgaOfSplit(values) {
  const rank = SPLIT_WORDS.map((word) => values[word]).find((list) => list?.length)?.length ?? 0;
  const ones = Array(rank).fill(1);
  const reversed = ones.map((_, d) => rank - 1 - d);
  const lists = [ones, ones, reversed].map((usual, k) =>
    values[SPLIT_WORDS[k]]?.length ? values[SPLIT_WORDS[k]] : usual,
  );
  return basesOfSplit(Object.fromEntries(SPLIT.map((name, k) => [name, lists[k]])));
}

/** Return the bases of CTAs that split rows and columns of tensor memory. */
function cgaOfTiles(split) {
  const [CTASplitM, CTASplitN] = split ?? [1, 1];
  return basesOfTwoSplits({ CTASplitM, CTASplitN });
}

/** Return the blocked layout of pointers that follow each other along the last dimension. */
function coalescedAttribute({ shape, bits, lanes: warpLanes }) {
  if (!bits) throw new TextError("a CoalescedLayout depends on the width of an element");
  const order = shape.map((_, d) => shape.length - 1 - d);
  const widest = Math.max(1, Math.floor((8 * VECTOR_BYTES) / Math.max(8, bits)));
  const share = Math.max(1, product(shape) / (USUAL_WARPS * warpLanes));
  const sizePerThread = shape.map(() => 1).with(-1, Math.min(shape.at(-1), widest, share));
  let [lanes, warps] = [warpLanes, USUAL_WARPS];
  const threadsPerWarp = shape.map(() => 1);
  const warpsPerCTA = shape.map(() => 1);
  for (const d of order.slice(0, -1)) {
    const count = Math.min(lanes * warps, Math.max(1, shape[d] / sizePerThread[d]));
    threadsPerWarp[d] = Math.min(count, lanes);
    warpsPerCTA[d] = Math.min(Math.max(1, count / threadsPerWarp[d]), warps);
    lanes /= threadsPerWarp[d];
    warps /= warpsPerCTA[d];
  }
  Object.assign(threadsPerWarp, { [order.at(-1)]: lanes });
  Object.assign(warpsPerCTA, { [order.at(-1)]: warps });
  const values = { sizePerThread, threadsPerWarp, warpsPerCTA, order };
  return attributeText("ttg.blocked", "DICT", values);
}

// -- TLX ------------------------------------------------------------------------------------

const TLX_HEAD =
  /^\s*(?:\w+\.)*(?:swizzled_layout|swizzled_shared_layout_encoding|make_default|layout)\s*\(/;
const TLX_PHASES = ["vectorSize", "perPhase", "maxPhase", "order"];

/** Return the attribute of a constructor of TLX over a tensor. */
function readTlx(text, { shape }) {
  const call = readCall(text);
  if (call.own === "make_default") {
    const { rank } = tlxArguments(call, ["rank"]);
    const order = Array.from({ length: Math.min(rank, WARP_LANES) }, (_, d) => rank - 1 - d);
    return tlxSwizzle({ vectorSize: 1, perPhase: 1, maxPhase: 1, order });
  }
  if (call.own === "swizzled_shared_layout_encoding")
    return tlxSwizzle(tlxArguments(call, TLX_PHASES));
  if (call.own === "layout") {
    const given = tlxArguments(call, ["shape", "stride"]);
    return registersOf(threadValue(cuteOf(given.shape, given.stride), shape, true), shape);
  }
  const { B, M, S, order } = tlxArguments(call, ["B", "M", "S", "order"]);
  checkOrder(order);
  const own = shape.slice(-order.length); // a leading dimension counts buffers
  if (order.length > own.length || shape.length - order.length > 1)
    throw new TextError(`order must be a permutation of 0..${shape.length - 1}, got ${show(order)}`);
  const perPhase = 2 ** (S + M) / own[order[0]];
  if (!Number.isInteger(perPhase))
    throw new TextError(
      `Swizzle<${B},${M},${S}> swizzles within rows of ${own[order[0]]}, which #ttg.swizzled_shared does not`,
    );
  return tlxSwizzle({ vectorSize: 2 ** M, perPhase, maxPhase: 2 ** B, order });
}

/**
 * Return the arguments that a call must have; others than these may stand behind them.
 *
 * @param {Call} call
 * @param {string[]} words
 * @returns {any}
 */
function tlxArguments({ own, positional, keywords }, words) {
  const given = Object.fromEntries(words.map((word, at) => [word, positional[at]]));
  Object.assign(given, keywords);
  const missing = words.filter((word) => given[word] === undefined);
  if (missing.length) throw new TextError(`tlx.${own} needs ${missing.join(", ")}`);
  const wrong = words.find((word) => word.length === 1 && !(given[word] >= 0 && given[word] < 32));
  if (wrong) throw new TextError(`${wrong} must be a number from 0 to 31, got ${show(given[wrong])}`);
  return given;
}

function tlxSwizzle({ vectorSize: vec, perPhase, maxPhase, order }) {
  return attributeText("ttg.swizzled_shared", "DICT", { vec, perPhase, maxPhase, order });
}
