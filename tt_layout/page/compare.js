// Two layouts of one tensor compared as functions; the words are those of tt_layout.analyses.layouts.layout_difference.

const MAX_CHANGES = 8;

/** Return [position, vector] for each input bit, by a name such as "lane 3". */
function basesByPosition(layout) {
  return new Map(
    layout.ins.flatMap(([name, vectors]) =>
      vectors.map((vector, bit) => [`${name} ${bit}`, vector]),
    ),
  );
}

/** Return what differs between the basis vectors, in words. */
function changesInWords(before, after) {
  const [ours, theirs] = [basesByPosition(before), basesByPosition(after)];
  const positions = [...new Set([...ours.keys(), ...theirs.keys()])];
  const text = (vector) => (vector ? `(${vector.join(", ")})` : "");
  const differing = positions.filter((p) => text(ours.get(p)) !== text(theirs.get(p)));
  const both = differing.filter((p) => ours.has(p) && theirs.has(p));
  const cycles = cyclesOf(ours, theirs, both);
  const explained = new Set(cycles.flat());
  const single = differing
    .filter((p) => !explained.has(p))
    .map((p) => {
      const bit = p.replace(" ", " bit ");
      if (!ours.has(p)) return `${bit} added: ${text(theirs.get(p))}`;
      if (!theirs.has(p)) return `${bit} removed: was ${text(ours.get(p))}`;
      return `${bit} was ${text(ours.get(p))}, is ${text(theirs.get(p))}`;
    });
  return [...cycles.map(cycleInWords), ...single];
}

/** Return the cycles p, q, .. in which the basis of p is found at q afterwards, and so on. */
function cyclesOf(ours, theirs, candidates) {
  const places = (bases) => Map.groupBy(candidates, (p) => bases.get(p).join());
  const [sources, targets] = [places(ours), places(theirs)];
  const follows = new Map();
  for (const [vector, from] of sources) {
    const to = targets.get(vector) ?? [];
    if (from.length === 1 && to.length === 1) follows.set(from[0], to[0]);
  }
  const done = new Set();
  return candidates.flatMap((start) => {
    const path = [];
    let position = start;
    while (follows.has(position) && !done.has(position)) {
      done.add(position);
      path.push(position);
      position = follows.get(position);
    }
    return path.length && position === start ? [path] : [];
  });
}

function cycleInWords(cycle) {
  const [[dim, bit], [otherDim, otherBit] = []] = cycle.map((p) => p.split(" "));
  if (cycle.length !== 2) {
    const path = [...cycle, cycle[0]].map((p) => p.replace(" ", " bit "));
    return `permuted in a cycle: ${path.join(" -> ")}`;
  }
  if (dim === otherDim) return `${dim} bits ${bit} and ${otherBit} swapped`;
  return `${dim} bit ${bit} and ${otherDim} bit ${otherBit} exchanged`;
}

/** Locations of two layouts over one numbering of their bits, so that they can be compared. */
class Movement {
  constructor(before, after) {
    this.models = [before, after];
    const names = (model) =>
      model.layout.ins.flatMap(([name, vs]) => vs.map((_, k) => `${name} ${k}`));
    this.positions = [...new Set(this.models.flatMap(names))];
    this.numbers = new Map(this.positions.map((p, k) => [p, BigInt(k)]));
    const [own, other] = this.models.map((m) => m.inverse.kernel.map((k) => this.#packed(m, k)));
    this.kernel = new Span(own);
    this.sameKernel =
      own.length === other.length && other.every((vector) => this.kernel.contains(vector));
    this.own = own;
    this.#prepare();
  }

  #packed(model, place) {
    let packed = 0n;
    model.layout.ins.forEach(([name, vectors], d) =>
      vectors.forEach((_, bit) => {
        if (hasBit(place[d], bit)) packed |= 1n << this.numbers.get(`${name} ${bit}`);
      }),
    );
    return packed;
  }

  /** Prepare, per output bit, what the element's location changes by, beyond replication. */
  #prepare() {
    const [before, after] = this.models;
    this.units = before.inverse.units.map((bits, d) =>
      bits.map((unit, bit) => {
        const other = after.inverse.units[d][bit];
        const shift = this.#packed(before, unit.place) ^ this.#packed(after, other.place);
        return { shift: this.kernel.reduce(shift).rest, rests: [unit.rest, other.rest] };
      }),
    );
  }

  /** Return the change along one coordinate; changes of several coordinates are xored. */
  along(d, value) {
    const sum = { shift: 0n, rests: [0n, 0n] };
    this.units[d].forEach((unit, bit) => {
      if (hasBit(value, bit)) addChange(sum, unit);
    });
    return sum;
  }

  /** Tell whether an element moves whose change is the xor of these two. */
  moves(a, b) {
    const missing = [a.rests[0] !== b.rests[0], a.rests[1] !== b.rests[1]];
    if (missing[0] || missing[1]) return missing[0] !== missing[1];
    return !this.sameKernel || a.shift !== b.shift;
  }

  /** Return how many elements have other holders. */
  get moved() {
    const [before, after] = this.models.map((model) => model.inverse);
    const joint = heldByBoth(before, after);
    const mapped = 2 ** before.span.rank + 2 ** after.span.rank - 2 ** joint.length;
    if (!this.sameKernel) return mapped;
    const shifts = joint.map((coordinates) =>
      this.models.reduce((sum, m) => sum ^ this.#packed(m, m.inverse.place(coordinates)), 0n),
    );
    const rank = new Span([...this.own, ...shifts]).rank - this.kernel.rank;
    return mapped - 2 ** (joint.length - rank);
  }
}

function addChange(sum, unit) {
  sum.shift ^= unit.shift;
  sum.rests = [sum.rests[0] ^ unit.rests[0], sum.rests[1] ^ unit.rests[1]];
}

/** Return a basis, as coordinates, of the elements that both layouts hold. */
function heldByBoth(before, after) {
  const columnsOf = (inverse) => [...inverse.span.rows.values()].map(([row]) => row);
  const [own, other] = [columnsOf(before), columnsOf(after)];
  const span = new Span([...own, ...other]);
  const pivots = new Set(span.pivots);
  const joint = other.flatMap((column, k) => {
    if (pivots.has(own.length + k)) return [];
    const mask = span.reduce(column).combination;
    return [own.reduce((sum, c, i) => ((mask >> BigInt(i)) & 1n ? sum ^ c : sum), 0n)];
  });
  const chosen = new Set(new Span(joint).pivots);
  return joint.filter((_, k) => chosen.has(k)).map((flat) => unflatten(flat, before.sizes));
}
