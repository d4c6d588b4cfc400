// Linear layouts over F2: evaluation, inversion, and the few products that attributes need.
//
// A layout is { ins, outs } as the file embeds it: ins is a list of [name, vectors], with one
// vector per bit, the least significant first; outs is a list of [name, size].  A point is a list
// of numbers, one per dimension.

const WORD = 2 ** 32;
const SMALL = 2 ** 31;

/** Return the xor of two integers below 2^53; JavaScript's own operator stops at 32 bits. */
function xor(a, b) {
  if (a < SMALL && b < SMALL) return a ^ b;
  return (Math.floor(a / WORD) ^ Math.floor(b / WORD)) * WORD + ((a ^ b) >>> 0);
}

/** Tell whether a bit of an integer below 2^53 is set. */
function hasBit(value, bit) {
  return Math.floor(value / 2 ** bit) % 2 === 1;
}

/** Xor one point into another, in place. */
function xorInto(target, point) {
  for (let d = 0; d < target.length; d++) {
    if (point[d]) target[d] = xor(target[d], point[d]);
  }
  return target;
}

/** Return the exponent of a power of two. */
function log2(size) {
  return Math.round(Math.log2(size));
}

/** Tell whether a number is 1, 2, 4, .. */
function isPowerOfTwo(value) {
  return Number.isInteger(value) && value > 0 && Number.isInteger(Math.log2(value));
}

/** Return the product of all numbers. */
/**
 * Return a noun in the plural unless its number is 1, as tt_layout.wording.
 *
 * @param {string} noun
 * @param {number} number
 */
function plural(noun, number) {
  if (number === 1) return noun;
  if (/(?:ss|ch|x)$/.test(noun)) return `${noun}es`;
  return /[^e]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** Return a number with its noun, in the plural where it is not 1. */
function counted(number, noun) {
  return `${rounded(number)} ${plural(noun, number)}`;
}

function product(numbers) {
  return numbers.reduce((a, b) => a * b, 1);
}

/** The span of columns packed into BigInts, as tt_layout.algebra.span.F2Span. */
class Span {
  constructor(columns) {
    this.pivots = [];
    this.rows = new Map();
    columns.forEach((column, index) => {
      const { rest, combination } = this.reduce(column);
      if (rest === 0n) return;
      this.rows.set(rest.toString(2).length, [rest, combination | (1n << BigInt(index))]);
      this.pivots.push(index);
    });
  }

  get rank() {
    return this.pivots.length;
  }

  /** Return what the span leaves of a vector, and the columns that were xored away. */
  reduce(vector) {
    let rest = 0n;
    let combination = 0n;
    while (vector) {
      const top = vector.toString(2).length;
      const row = this.rows.get(top);
      if (row) {
        vector ^= row[0];
        combination ^= row[1];
      } else {
        rest |= 1n << BigInt(top - 1);
        vector ^= 1n << BigInt(top - 1);
      }
    }
    return { rest, combination };
  }

  /** Tell whether a vector is the xor of some columns. */
  contains(vector) {
    return this.reduce(vector).rest === 0n;
  }
}

/** Return a point as one BigInt, the first dimension in the lowest bits. */
function flatten(point, sizes) {
  let flat = 0n;
  let shift = 0;
  point.forEach((component, d) => {
    flat |= BigInt(component) << BigInt(shift);
    shift += log2(sizes[d]);
  });
  return flat;
}

/** Return the coordinates that `flatten` packed. */
function unflatten(flat, sizes) {
  return sizes.map((size) => {
    const value = Number(flat % BigInt(size));
    flat /= BigInt(size);
    return value;
  });
}

/**
 * Return the output of a layout at a point.
 *
 * @param {Linear} layout
 * @param {number[]} point
 * @returns {number[]}
 */
function evaluate(layout, point) {
  const value = layout.outs.map(() => 0);
  layout.ins.forEach(([, vectors], d) => {
    if (!point[d]) return;
    vectors.forEach((vector, bit) => {
      if (hasBit(point[d], bit)) xorInto(value, vector);
    });
  });
  return value;
}

/** Who holds an element: the inputs that reach an output. */
class Inverse {
  /**
   * @param {Linear} layout
   * @param {(d: number, bit: number) => boolean} skips whether a bit is left out: no input with it
   *   set is a holder
   */
  constructor(layout, skips = (_d, _bit) => false) {
    this.sizes = layout.outs.map(([, size]) => size);
    this.width = layout.ins.length;
    this.positions = [];
    const columns = [];
    layout.ins.forEach(([, vectors], d) =>
      vectors.forEach((vector, bit) => {
        if (skips(d, bit)) return;
        this.positions.push([d, bit]);
        columns.push(flatten(vector, this.sizes));
      }),
    );
    this.span = new Span(columns);
    this.units = this.sizes.map((size, d) =>
      Array.from({ length: log2(size) }, (_, bit) => this.#unit(d, bit)),
    );
    const pivots = new Set(this.span.pivots);
    this.kernel = columns
      .map((column, k) => [column, k])
      .filter(([, k]) => !pivots.has(k))
      .map(([column, k]) => this.#point(this.span.reduce(column).combination | (1n << BigInt(k))));
    this.reachesAll = this.units.every((bits) => bits.every((unit) => unit.rest === 0n));
  }

  #unit(d, bit) {
    const point = this.sizes.map((_, other) => (other === d ? 2 ** bit : 0));
    const { rest, combination } = this.span.reduce(flatten(point, this.sizes));
    return { rest, place: this.#point(combination) };
  }

  #point(mask) {
    const point = Array(this.width).fill(0);
    this.positions.forEach(([d, bit], k) => {
      if ((mask >> BigInt(k)) & 1n) point[d] += 2 ** bit;
    });
    return point;
  }

  /** Return the first holder of one coordinate, all others 0, and what it misses. */
  along(d, value) {
    const place = Array(this.width).fill(0);
    let rest = 0n;
    this.units[d].forEach((unit, bit) => {
      if (!hasBit(value, bit)) return;
      xorInto(place, unit.place);
      rest ^= unit.rest;
    });
    return { place, rest };
  }

  /** Return the first holder of an element in hardware order, or null. */
  place(coordinates) {
    const place = Array(this.width).fill(0);
    let rest = 0n;
    coordinates.forEach((value, d) => {
      const part = this.along(d, value);
      xorInto(place, part.place);
      rest ^= part.rest;
    });
    return rest === 0n ? place : null;
  }

  /** Return how many locations hold each element that is mapped. */
  get replication() {
    return 2 ** this.kernel.length;
  }

  /** Return the holders of an element in hardware order, the first `limit` of them. */
  holders(coordinates, limit = 4096) {
    const first = this.place(coordinates);
    if (!first) return [];
    let holders = [first];
    for (const vector of this.kernel) {
      if (holders.length >= limit) break;
      holders = holders.concat(holders.map((holder) => xorInto([...holder], vector)));
    }
    return holders.slice(0, limit);
  }
}

// -- products, as tt_layout.algebra.linear_layout and tt_layout.algebra.tiles ------------------------

/**
 * Return the layout without any dimension.
 *
 * @returns {Linear}
 */
function emptyLayout() {
  return { ins: [], outs: [] };
}

/**
 * Return the identity of `size` from one input to one output.
 *
 * @param {number} size
 * @param {string} input
 * @param {string} output
 * @returns {Linear}
 */
function identity(size, input, output) {
  const vectors = Array.from({ length: log2(size) }, (_, bit) => [2 ** bit]);
  return { ins: [[input, vectors]], outs: [[output, size]] };
}

/**
 * Return `size` positions of an input that all lead to 0.
 *
 * @param {number} size
 * @param {string} input
 * @returns {Linear}
 */
function zeros(size, input) {
  return { ins: [[input, Array(log2(size)).fill([])]], outs: [] };
}

/**
 * Return a tile of `sizes` that an input walks through in `order`.
 *
 * @param {string} input
 * @param {number[]} sizes
 * @param {number[]} order
 */
function identityNd(input, sizes, order) {
  return order.map((d) => identity(sizes[d], input, `dim${d}`)).reduce(times, emptyLayout());
}

/**
 * Return the tile of identityNd, except that one dimension repeats itself.
 *
 * @param {string} input
 * @param {number[]} sizes
 * @param {number[]} order
 * @param {number} repeated
 */
function broadcastNd(input, sizes, order, repeated) {
  const factor = (d) => (d === repeated ? zeros(sizes[d], input) : identity(sizes[d], input, `dim${d}`));
  return order.map(factor).reduce(times, emptyLayout());
}

/**
 * Return the basis vectors of an input, none for one that the layout lacks.
 *
 * @param {{ ins: Linear["ins"] }} layout
 * @param {string} name
 * @returns {number[][]}
 */
function vectorsOf({ ins }, name) {
  return (ins.find(([own]) => own === name) ?? [, []])[1];
}

/**
 * Return the layout with the basis vectors of an input replaced.
 *
 * @param {Linear} layout
 * @param {string} name
 * @param {number[][]} vectors
 * @returns {Linear}
 */
function withVectors({ ins, outs }, name, vectors) {
  return { ins: ins.map(([own, old]) => [own, own === name ? vectors : old]), outs };
}

/**
 * Return the layout with its inputs listed as `names`.
 *
 * @param {Linear} layout
 * @param {string[]} names
 * @returns {Linear}
 */
function withIns(layout, names) {
  return { ins: names.map((name) => [name, vectorsOf(layout, name)]), outs: layout.outs };
}

/**
 * Return the layout with its outputs listed as `names`; those it lacks have size 1.
 *
 * @param {Linear} layout
 * @param {string[]} names
 * @returns {Linear}
 */
function withOuts(layout, names) {
  const at = names.map((name) => layout.outs.findIndex(([own]) => own === name));
  const pick = (vector) => at.map((k) => (k < 0 ? 0 : vector[k]));
  return {
    ins: layout.ins.map(([name, vectors]) => [name, vectors.map(pick)]),
    outs: names.map((name, d) => [name, at[d] < 0 ? 1 : layout.outs[at[d]][1]]),
  };
}

/**
 * Return the same function into other outputs of the same total size, the first one lowest.
 *
 * @param {Linear} layout
 * @param {Linear["outs"]} outs
 * @returns {Linear}
 */
function reshaped(layout, outs) {
  const sizesOf = (own) => own.map(([, size]) => size);
  const move = (vector) => unflatten(flatten(vector, sizesOf(layout.outs)), sizesOf(outs));
  return { ins: layout.ins.map(([name, vectors]) => [name, vectors.map(move)]), outs };
}

/**
 * Return the product of two layouts, `inner` in the lower bits.
 *
 * @param {Linear} inner
 * @param {Linear} outer
 * @returns {Linear}
 */
function times(inner, outer) {
  const union = (a, b) => [...new Set([...a, ...b].map(([name]) => name))];
  const names = union(inner.outs, outer.outs);
  const [low, high] = [withOuts(inner, names), withOuts(outer, names)];
  const scale = (vector) => vector.map((step, d) => step * low.outs[d][1]);
  return {
    ins: union(inner.ins, outer.ins).map((name) => [
      name,
      [...vectorsOf(low, name), ...vectorsOf(high, name).map(scale)],
    ]),
    outs: names.map((name, d) => [name, low.outs[d][1] * high.outs[d][1]]),
  };
}

/**
 * Repeat a layout with its first input until it covers the sizes, dimension by dimension.
 *
 * @param {Linear} layout
 * @param {(name: string) => number} sizeOf
 * @returns {Linear}
 */
function grow(layout, sizeOf) {
  const first = layout.ins[0][0];
  return layout.outs.reduce((grown, [name, size]) => {
    if (size >= sizeOf(name)) return grown;
    return times(grown, identity(sizeOf(name) / size, first, name));
  }, layout);
}

/**
 * Clip a layout to sizes: bases that lead out repeat elements, or are dropped.
 *
 * @param {Linear} layout
 * @param {(name: string) => number} sizeOf
 * @param {boolean} dropRegisters
 * @returns {Linear}
 */
function clip(layout, sizeOf, dropRegisters) {
  let { ins } = layout;
  /** @type {Linear["outs"]} */
  const outs = layout.outs.map(([name, size], at) => {
    const kept = Math.min(size, sizeOf(name));
    const steps = new Set(ins.flatMap(([, vectors]) => vectors.map((v) => v[at])));
    steps.delete(0);
    const largest = [...steps].sort((a, b) => b - a).slice(0, log2(size) - log2(kept));
    ins = ins.map(([input, vectors]) => [
      input,
      clipVectors(vectors, at, new Set(largest), dropRegisters && input === "register"),
    ]);
    return [name, kept];
  });
  return { ins, outs };
}

function clipVectors(vectors, at, clipped, drop) {
  if (drop) return vectors.filter((vector) => !clipped.has(vector[at]));
  return vectors.map((v) => (clipped.has(v[at]) ? v.with(at, 0) : v));
}

/**
 * Lay the tile of a CTA over a tensor, and the CTAs of a cluster around it.
 *
 * @param {Linear} tile
 * @param {Linear} cga
 * @param {number[]} shape
 * @param {number[]} order
 * @param {boolean} dropRegisters
 * @returns {Linear}
 */
function cover(tile, cga, shape, order, dropRegisters = false) {
  const names = shape.map((_, d) => `dim${d}`);
  const sizeOf = (name) => shape[names.indexOf(name)];
  const blocks = clip(withOuts(cga, names), sizeOf, false);
  const perCta = (name) => Math.max(1, sizeOf(name) / blocks.outs[names.indexOf(name)][1]);
  const ordered = withOuts(
    tile,
    order.map((d) => `dim${d}`),
  );
  const fitted = clip(grow(ordered, perCta), perCta, dropRegisters);
  return withOuts(times(fitted, blocks), names);
}

// -- what is worked out once ---------------------------------------------------------------------

/**
 * Return a function that works something out when it is first asked for, of a dump and its layouts.
 *
 * @template T
 * @param {() => T} work
 * @returns {() => T}
 */
function once(work) {
  /** @type {T | undefined} */
  let found;
  let [dump, count] = [DATA.dump, 0];
  return () => {
    if (dump !== DATA.dump || count !== DATA.layouts.length) found = undefined;
    [dump, count] = [DATA.dump, DATA.layouts.length];
    return (found ??= work());
  };
}
