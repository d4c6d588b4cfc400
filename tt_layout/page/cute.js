// CuTe layouts, such as Swizzle<3,3,3> o (64,64):(64,1): read as tt_layout.notation.cute.text, and
// as attributes as cute_memory and cute_registers there.  A part is a list of { size, stride }.

const CUTE_NUMBERS = "(\\d{1,6}),(\\d{1,6}),(-?\\d{1,6})";
const CUTE_SWIZZLE = new RegExp(
  `^\\(?(?:Swizzle|Sw|S)(?:<${CUTE_NUMBERS}>|\\(${CUTE_NUMBERS}\\))\\)?` +
    `o(?:(?:0|smem_ptr\\[(?<bits>\\d{1,3})b\\]\\(.*?\\))o)?`,
);
const CUTE_COMPOSED = new RegExp(
  `^ComposedLayout\\(Swizzle\\(${CUTE_NUMBERS}\\),(?:(?:0|smem_ptr_flag_bits\\((?<bits>\\d{1,3})\\)),)?` +
    `(?<layout>Layout\\(.*\\))(?:,offset=0)?\\)$`,
);
const CUTE_MAKERS = [
  [/\b(?:composition|make_composed_layout)(?=\()/g, "ComposedLayout"],
  [/\bmake_layout(?=\()/g, "Layout"],
  [/\bmake_swizzle(?=\()/g, "Swizzle"],
  [/\b(?:Shape|Stride|Step|make_shape|make_stride|make_tuple|tuple)(?=\()/g, ""],
  [/\b(?:Int|C|constant)\((\d+)\)/g, "$1"],
];
const CUTE_LAYOUT = /^[_(),\s]*-?\d[\d_(),\s-]*:[\d_(),\s-]*$/;
const CUTE_HEAD =
  /^\s*(?:\(?(?:Swizzle|Sw|S)[<(]|TiledCopy|TiledMMA|Tiler_MN:|(?:\w+(?:\.|::))*(?:Layout|ComposedLayout|composition|make_layout(?:_tv)?|make_composed_layout)\s*[<(])/;
const CUTE_THREADS = /make_layout_tv|Tiler_MN|TiledCopy|TiledMMA/;
const MAX_CUTE_DEPTH = 64;

/** Return a text without blanks and without the marks of static integers. */
function plainCute(text) {
  return text.replace(/\s+/g, "").replace(/(?<![A-Za-z0-9_])_(?=\d)/g, "");
}

/** Return the { parts, swizzle } of a CuTe text. */
function readCute(text) {
  let rest = cuteCalls(plainCute(text));
  let swizzle = null;
  const composed = CUTE_COMPOSED.exec(rest);
  const match = CUTE_SWIZZLE.exec(rest);
  if (composed) {
    swizzle = cuteSwizzle(composed);
    rest = composed.groups.layout;
  } else if (match) {
    swizzle = cuteSwizzle(match);
    rest = rest.slice(match[0].length);
  }
  const call = /^Layout\((.*)\)$/.exec(rest);
  if (call) {
    const order = /,(?:(GenRowMajor|LayoutRight)|GenColMajor|LayoutLeft)(?:\(\))?$/.exec(call[1]);
    const given = (order ? call[1].slice(0, order.index) : call[1]).replaceAll("stride=", "");
    const tree = cuteTree(`(${given})`);
    const arguments_ = Array.isArray(tree) ? tree : [tree];
    if (arguments_.length === 1) arguments_.push(compactStrides(arguments_[0], Boolean(order?.[1])));
    else if (arguments_.length !== 2 || order) throw new TextError("expected Layout(shape, stride)");
    return cuteOf(...arguments_, swizzle);
  }
  const body = /^([\d(),-]+):([\d(),-]+)$/.exec(withoutOuterBrackets(rest));
  if (!body) throw new TextError("expected a CuTe layout such as (8,4):(4,1)");
  return cuteOf(cuteTree(body[1]), cuteTree(body[2]), swizzle);
}

/** Return a text with the types and calls of CUTLASS as Layout(..) and Swizzle(..). */
function cuteCalls(text) {
  const bare = text.replace(/\b(?:cutlass|cute)(?:::|\.)/g, "");
  if (!/^(?:Layout|ComposedLayout|composition|make_\w+)[<(]/.test(bare)) return bare;
  const called = bare.replaceAll("{}", "").replaceAll("<", "(").replaceAll(">", ")");
  return CUTE_MAKERS.reduce((found, [pattern, name]) => found.replace(pattern, name), called);
}

/** Return bits, base and shift of elements; the swizzle of smem_ptr is one of bytes. */
function cuteSwizzle(match) {
  const numbers = match.slice(1).filter((text) => text !== undefined && /^-?\d+$/.test(text));
  const [bits, base, shift] = numbers.map(Number);
  if (match.groups.bits === undefined) return [bits, base, shift];
  const width = Math.log2(Number(match.groups.bits));
  if (!Number.isInteger(width)) throw new TextError("elements have a power of two of bits");
  if (base - width + 3 < 0) throw new TextError("the swizzle moves parts of elements");
  return [bits, base - width + 3, shift];
}

/** Return the strides of a layout without gaps, its first mode the fastest, or its last. */
function compactStrides(sizes, byRows) {
  let step = 1;
  const strides = (own) => {
    if (!Array.isArray(own)) {
      step *= own;
      return step / own;
    }
    const parts = (byRows ? [...own].reverse() : own).map(strides);
    return byRows ? parts.reverse() : parts;
  };
  return strides(sizes);
}

function withoutOuterBrackets(text) {
  if (!/^\(.*:.*\)$/.test(text)) return text;
  let depth = 0;
  const ends = [...text].findIndex((sign) => {
    depth += { "(": 1, ")": -1 }[sign] ?? 0;
    return !depth;
  });
  return ends === text.length - 1 ? text.slice(1, -1) : text;
}

/** Return the nested lists of a text such as (2,(4,8)). */
function cuteTree(text) {
  const [strange] = /[^\d(),][^(),]*/.exec(text) ?? [];
  if (strange?.startsWith("-"))
    throw new TextError(`sizes and strides of CuTe are not negative here, got '${strange}'`);
  if (strange) throw new TextError(`expected an integer, got '${strange}'`);
  const root = [];
  const stack = [root];
  for (const [word] of text.matchAll(/\d+|[(),]/g)) {
    if (word === "(") stack.push([]);
    else if (word === ")") {
      const inner = stack.pop();
      if (!stack.length) throw new TextError(`unexpected closing bracket in ${text}`);
      stack.at(-1).push(inner);
    } else if (word !== ",") stack.at(-1).push(Number(word.slice(0, 18)));
    if (stack.length > MAX_CUTE_DEPTH)
      throw new TextError(`brackets nest deeper than ${MAX_CUTE_DEPTH}`);
  }
  if (stack.length !== 1 || root.length !== 1)
    throw new TextError(`the brackets of ${text} do not match`);
  return root[0];
}

/** Return the layout of a shape and a stride, which are nested alike. */
function cuteOf(sizes, strides, swizzle = null) {
  const parts = Array.isArray(sizes)
    ? pairedModes(sizes, strides).map((part) => [part].flat(MAX_CUTE_DEPTH))
    : [[pairedModes(sizes, strides)]];
  return { parts, swizzle };
}

function pairedModes(size, stride) {
  if (Number.isInteger(size) && Number.isInteger(stride)) {
    if (!isPowerOfTwo(size)) throw new TextError(`every size must be a power of two, got ${size}`);
    if (size * stride > Number.MAX_SAFE_INTEGER) throw new TextError("strides go to 2^53 at most");
    return { size, stride };
  }
  if (!Array.isArray(size) || !Array.isArray(stride) || size.length !== stride.length)
    throw new TextError("the shape and the stride of a CuTe layout must be nested alike");
  return size.map((own, k) => pairedModes(own, stride[k]));
}

/** Return the strides of each bit of a part's coordinate. */
function strideBits(part) {
  return part.flatMap(({ size, stride }) => steps(size).map((step) => step * stride));
}

/** Return a number with the bits of a swizzle xored. */
function swizzled([bits, base, shift], offset) {
  const mask = ((1n << BigInt(bits)) - 1n) << BigInt(base + Math.max(0, shift));
  const selected = BigInt(offset) & mask;
  const moved = shift >= 0 ? selected >> BigInt(shift) : selected << BigInt(-shift);
  return Number(BigInt(offset) ^ moved);
}

/** Return a bit that two of some numbers share, as a number; null where there is none. */
function overlap(numbers) {
  let seen = 0n;
  for (const number of numbers.map(BigInt)) {
    if (seen & number) return seen & number;
    seen |= number;
  }
  return null;
}

function checkSums(strides) {
  const shared = overlap(strides);
  if (shared !== null)
    throw new TextError(`not linear over F2: two bits add to index ${shared}, so sums carry`);
}

/** Return the attribute of a CuTe text over a tensor. */
function readCuteLayout(text, { shape, memory, lanes }) {
  if (CUTE_THREADS.test(text)) return registersOf(readThreads(plainCute(text), shape), shape, lanes);
  const cute = readCute(text);
  const sizes = cute.parts.map(sizeOfPart);
  const isMemory =
    cute.swizzle || memory === SHARED || (memory === null && show(sizes) === show(shape));
  if (!isMemory) return registersOf(threadValue(cute, shape), shape, lanes);
  const isRing = cute.parts.length === shape.length - 1 && shape.length > 1;
  return memoryAttribute(cute, isRing ? shape.slice(1) : shape);
}

function sizeOfPart(part) {
  return product(part.map(({ size }) => size));
}

// -- coordinates -> offset of shared memory -----------------------------------------------------

/** Return the attribute of the memory in which coordinates have the offsets of a CuTe layout. */
function memoryAttribute({ parts, swizzle }, shape) {
  const strides = stridesByDimension(parts, shape);
  const everything = strides.flat();
  if (new Set(everything).size < everything.length || everything.includes(0))
    throw new TextError("two elements have one offset, which no attribute expresses");
  const padding = paddingOf(everything);
  if (padding.length && swizzle)
    throw new TextError("a swizzle over strides with gaps is not expressed by any attribute");
  const sorted = [...everything].sort((a, b) => a - b);
  const offsets = strides.map((own) => own.map((stride) => 2 ** sorted.indexOf(stride)));
  const moved = swizzle ? offsets.map((own) => own.map((n) => swizzled(swizzle, n))) : offsets;
  return offsetsAttribute(moved, shape, padding);
}

/** Return the offset of each bit of each coordinate, before the swizzle. */
function stridesByDimension(parts, shape) {
  const plain = parts.map(strideBits);
  const sizes = plain.map((own) => 2 ** own.length);
  if (sizes.length === shape.length && show(sizes) !== show(shape)) {
    const fits = sizes.every((size, at) => shape[at] % size === 0);
    const way = fits ? `; tile_to_shape(.., (${shape.join(",")})) repeats it` : "";
    throw new TextError(
      `the CuTe layout is for the shape ${show(sizes)}, got ${show(shape)}${way}`,
    );
  }
  const bits = plain.flat();
  if (bits.length !== log2(product(shape)))
    throw new TextError(
      `the CuTe layout has 2^${bits.length} elements, but the shape is ${show(shape)}`,
    );
  return shape.map((size) => bits.splice(0, log2(size)));
}

/** Return the pairs of interval and padding that widen 1, 2, 4, ... to these strides. */
function paddingOf(strides) {
  const pairs = [];
  const padded = (offset) =>
    pairs.reduce((sum, [every, pad]) => sum + Math.floor(offset / every) * pad, offset);
  [...strides]
    .sort((a, b) => a - b)
    .forEach((stride, bit) => {
      const gap = stride - padded(2 ** bit);
      if (gap < 0) {
        checkSums(strides);
        throw new TextError("two elements have one offset: the strides overlap");
      }
      if (gap) pairs.push([2 ** bit, gap]);
    });
  return pairs;
}

function offsetsAttribute(offsets, shape, paddings) {
  const count = offsets.flat().length;
  if (!count) {
    const order = shape.map((_, d) => shape.length - 1 - d);
    const values = { vec: 1, perPhase: 1, maxPhase: 1, order };
    return attributeText("ttg.swizzled_shared", "DICT", values);
  }
  const [vectors] = invertedBases(
    offsets.map((own) => own.map((offset) => [offset])),
    [2 ** count],
  );
  if (!paddings.length) return basesAttribute(SHARED, [["offset", vectors]]);
  return attributeText("ttg.padded_shared", "PADDED", { paddings, offset: vectors, block: [] });
}

/**
 * Return the bases of the inverse of a layout.
 *
 * @param bases of each input, the vectors of its bits
 * @param sizes of the outputs
 * @returns of each output, the coordinates of the inputs at each of its bits
 */
function invertedBases(bases, sizes) {
  if (bases.flat().some((vector) => vector.some((step, k) => step >= sizes[k])))
    throw new TextError("the layout reaches beyond its own size");
  const layout = {
    ins: bases.map((vectors, d) => [`in${d}`, vectors]),
    outs: sizes.map((size, k) => [`out${k}`, size]),
  };
  const inverse = new Inverse(layout);
  if (inverse.kernel.length || !inverse.reachesAll)
    throw new TextError("the layout is not one to one, so it has no inverse");
  return sizes.map((size, k) => steps(size).map((step) => inverse.along(k, step).place));
}

// -- thread, value -> index of an element ----------------------------------------------------------

/** Return { thread, value, cta, tile } of a layout of (thread, value) or (thread, value, CTA). */
function threadValue({ parts, swizzle }, tile, isRowMajor = false) {
  if (![2, 3].includes(parts.length) || swizzle)
    throw new TextError(
      `a thread-value layout has two modes, (thread, value), or three with the CTA; got ${parts.length}`,
    );
  const bits = parts.map(strideBits);
  checkSums(bits.flat());
  const [thread, value, cta = []] = bits.map((own) =>
    own.map((index) => pointOf(index, tile, isRowMajor)),
  );
  return { thread, value, cta, tile };
}

/** Return the coordinates of the element of an index. */
function pointOf(index, shape, isRowMajor) {
  const dims = shape.map((_, d) => d);
  const point = shape.map(() => 0);
  let rest = index;
  for (const d of isRowMajor ? dims.reverse() : dims) {
    point[d] = rest % shape[d];
    rest = Math.floor(rest / shape[d]);
  }
  if (!rest) return point;
  const count = product(shape);
  throw new TextError(`it reaches index ${index}, but ${show(shape)} has ${counted(count, "element")}`);
}

/** Return the attribute of a thread-value layout whose tile repeats over a tensor in registers. */
function registersOf({ thread, value, cta, tile }, shape, warpLanes = WARP_LANES) {
  if (tile.length !== shape.length || shape.some((size, d) => size % tile[d]))
    throw new TextError(`the tile ${show(tile)} does not divide the shape ${show(shape)}`);
  const repeats = shape.flatMap((size, d) =>
    steps(size / tile[d]).map((step) => unit(shape.length, d, step * tile[d])),
  );
  checkCovers([...value, ...repeats, ...thread, ...cta], shape);
  const lanes = log2(warpLanes);
  return basesAttribute(REGISTERS, [
    ["register", [...value, ...repeats]],
    ["lane", thread.slice(0, lanes)],
    ["warp", thread.slice(lanes)],
    ["block", cta],
  ]);
}

/** Refuse vectors that leave elements out: a layout that is larger than its text says is another one. */
function checkCovers(vectors, shape) {
  const index = (vector) => vector.reduce((sum, step, d) => sum * BigInt(shape[d]) + BigInt(step), 0n);
  const [reached, count] = [2 ** new Span(vectors.map(index)).rank, product(shape)];
  if (reached === count) return;
  const message = `it reaches ${reached} of ${counted(count, "element")} of the shape ${show(shape)}`;
  throw new TextError(`${message}; give the shape that it covers`);
}

/** Return the thread-value layout of a tiler, or of a thread and a value layout. */
function readThreads(text, shape) {
  const made = /^(?:\w+\.)*make_layout_tv\((.*)\)$/.exec(text);
  if (made) return rakedProduct(...twoArguments(made[1]).map(readCute));
  const tiled =
    /^(?:TiledCopy|TiledMMA)?Tiler_MN:(\S+?)TiledLayout_TV:(.*?)(?:Copy_Atom.*)?$/.exec(text);
  if (!tiled) return threadValue(readCute(text), shape);
  const sizes = [cuteTree(tiled[1])].flat();
  const tile = sizes.map((size) => product([size].flat(MAX_CUTE_DEPTH)));
  return threadValue(readCute(tiled[2]), tile);
}

/** Return the two layouts between the brackets of a call, by place or keyword. */
function twoArguments(text) {
  let depth = 0;
  const at = [...text].findIndex((sign) => {
    depth += { "(": 1, ")": -1 }[sign] ?? 0;
    return sign === "," && !depth;
  });
  if (at < 0) throw new TextError("make_layout_tv takes a thread layout and a value layout");
  return [text.slice(0, at), text.slice(at + 1)].map((own) => own.replace(/^[^=]*=/, ""));
}

/** Return the layout in which each thread holds a block of values. */
function rakedProduct(threads, values) {
  if (threads.parts.length !== values.parts.length)
    throw new TextError("the thread layout and the value layout must have as many modes");
  const inner = values.parts.map(sizeOfPart);
  const tile = threads.parts.map((part, d) => sizeOfPart(part) * inner[d]);
  const thread = numbered(threads, "thread").map((v) => v.map((step, d) => step * inner[d]));
  return { thread, value: numbered(values, "value"), cta: [], tile };
}

/** Return the coordinates at each bit of the numbers that a layout gives them. */
function numbered({ parts }, name) {
  const bits = parts.map(strideBits);
  checkSums(bits.flat());
  try {
    const bases = bits.map((own) => own.map((number) => [number]));
    return invertedBases(bases, [2 ** bits.flat().length])[0];
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new TextError(`the ${name} layout must number its ${name}s from 0 without gaps`);
  }
}
