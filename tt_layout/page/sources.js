// What the grids show: the tensor, and the hardware.  A source answers for cells (x, y).

/** How cells are coloured: by a group of locations, by a tensor dimension, or by what moves. */
class Colouring {
  /**
   * @param model    the layout
   * @param id       a group's, or a dimension's, or "none"
   * @param movement what moves between two layouts, where it is that which is coloured
   */
  constructor(model, id, movement) {
    this.movement = movement;
    this.group = movement ? undefined : model.groups.find((group) => group.id === id);
    this.dim = movement || this.group ? -1 : dimIds(model.shape.length).indexOf(id);
    const plain = !movement && id !== "none" && this.dim < 0 && !this.group;
    if (plain) this.group = model.groups[0];
    /** The values that the legend names; null for all. @type {number[] | null} */
    this.named = null;
    this.count = movement ? 2 : (this.group?.size ?? (this.dim >= 0 ? model.shape[this.dim] : 1));
    this.label = movement ? "what moves" : (this.group?.label ?? (this.dim >= 0 ? id : "none"));
  }

  /** Return the colours; `ground` is that of the page. */
  colours(ground) {
    if (this.movement)
      return [tile(mix(ground, [128, 128, 128], 0.18)), palette(2)[1]];
    if (this.count === 1) return [tile(mix(ground, rgb(DATA.palette.cells[0]), 0.35))];
    return palette(this.count);
  }

  /** Return the colour of an element at a place. */
  shade(place, element) {
    if (this.group) return shadeIndex(this.group.key(place));
    return this.dim >= 0 ? shadeIndex(element[this.dim]) : 0;
  }
}

/** Return what the dimensions of a tensor are called where cells are coloured by them. */
function dimIds(rank) {
  const names = { [rank - 1]: "column", [rank - 2]: "row" };
  return Array.from({ length: rank }, (_, d) => names[d] ?? `dim${d}`);
}

/** The groups of one layout as colours of another's cells: where their elements come from. */
class OriginColouring extends Colouring {
  /**
   * @param origin the layout that the elements come from
   * @param id     of one of its groups
   */
  constructor(origin, id) {
    super(origin, id);
    this.origin = origin;
    this.label = `source ${this.label}`;
  }

  /** Without an element the place is one of the origin's own. @override */
  shade(place, element) {
    const held = element ? this.origin.inverse.place(element) : place;
    return held ? super.shade(held, element) : -1;
  }
}

/** Return whether an element moves. */
function movesElement(movement, element) {
  const change = { shift: 0n, rests: [0n, 0n] };
  element.forEach((value, d) => addChange(change, movement.along(d, value)));
  return movement.moves(change, { shift: 0n, rests: [0n, 0n] });
}

/** The tensor: a cell for each element of a plane of it. */
class TensorSource {
  /**
   * @param {Model} model
   * @param {TensorPlane} plane
   * @param {Colouring} colouring
   * @param {number[]} ground the colour of the page
   */
  constructor(model, plane, colouring, ground) {
    this.model = model;
    this.plane = plane;
    this.colouring = colouring;
    /** The key of a cell's first holder. @type {((x: number, y: number) => number | null) | undefined} */
    this.keyAt = undefined;
    this.kind = "tensor";
    this.columns = plane.columns;
    this.rows = plane.rows;
    this.colours = colouring.colours(ground);
    this.title = "Tensor";
    this.about = planeInWords(model, plane);
    this.parts = { x: [], y: [] };
    this.changes = { x: [], y: [] };
    this.scratch = model.spec.ins.map(() => 0);
    const origin = plane.element(0, 0);
    this.origin = origin;
    this.longestLabel = model.longestLabel + (model.inverse.replication > 1 ? MORE_HOLDERS : "");
    this.hasShortLabels = model.memory === REGISTERS; // T3 says less than T3:0, but enough
  }

  /** Return what a row or column adds to the first holder: layouts are linear. */
  #part(axis, at) {
    return (this.parts[axis][at] ??= this.#sum(axis, at, (d, value) =>
      this.model.inverse.along(d, value),
    ));
  }

  #sum(axis, at, along) {
    const element = axis === "x" ? this.plane.element(at, 0) : this.plane.element(0, at);
    const sum = { place: this.scratch.map(() => 0), rest: 0n };
    element.forEach((value, d) => {
      // The coordinates that both axes share, those of the plane, count with the rows.
      const own = axis === "x" ? xor(value, this.origin[d]) : value;
      const part = along(d, own);
      xorInto(sum.place, part.place);
      sum.rest ^= part.rest;
    });
    return sum;
  }

  #change(axis, at) {
    const { movement } = this.colouring;
    return (this.changes[axis][at] ??= (() => {
      const element = axis === "x" ? this.plane.element(at, 0) : this.plane.element(0, at);
      const sum = { shift: 0n, rests: [0n, 0n] };
      element.forEach((value, d) =>
        addChange(sum, movement.along(d, axis === "x" ? xor(value, this.origin[d]) : value)),
      );
      return sum;
    })());
  }

  element(x, y) {
    return this.plane.element(x, y);
  }

  /** Return the first holder of a cell's element, or null; good until the next call. */
  place(x, y) {
    const [column, row] = [this.#part("x", x), this.#part("y", y)];
    if (column.rest !== row.rest) return null;
    for (let d = 0; d < this.scratch.length; d++)
      this.scratch[d] = xor(column.place[d], row.place[d]);
    return this.scratch;
  }

  /** Return a function of cells: what a linear function of locations is of the first holder. */
  #byAxes(key) {
    const { reachesAll } = this.model.inverse;
    const [columns, rows] = [[], []];
    return (x, y) => {
      if (!reachesAll && !this.place(x, y)) return null;
      columns[x] ??= key(this.#part("x", x).place);
      rows[y] ??= key(this.#part("y", y).place);
      return xor(columns[x], rows[y]);
    };
  }

  shade(x, y) {
    const { movement, group, dim } = this.colouring;
    if (movement) return Number(movement.moves(this.#change("x", x), this.#change("y", y)));
    if (group?.isLinear) {
      this.keyAt ??= this.#byAxes((place) => group.key(place));
      const key = this.keyAt(x, y);
      return key === null ? -1 : shadeIndex(key);
    }
    const place = this.place(x, y);
    if (!place) return -1;
    return this.colouring.shade(place, dim >= 0 ? this.element(x, y) : null);
  }

  text(x, y) {
    const place = this.place(x, y);
    if (!place) return "–";
    return this.model.label(place) + (this.model.inverse.replication > 1 ? MORE_HOLDERS : "");
  }

  cells(element) {
    const cell = this.plane.cell(element);
    return cell ? [cell] : [];
  }

  /** Return a test of cells: whether their element is in a group that holds this one. */
  matcher({ group, element }) {
    if (group.isLinear) {
      const wanted = group.commonOf(element);
      const commonAt = this.#byAxes((place) => group.common(place));
      return (x, y) => wanted !== null && commonAt(x, y) === wanted;
    }
    const matches = group.matcher(element);
    return (x, y) => {
      const place = this.place(x, y);
      return place !== null && matches(place);
    };
  }

  /** Return a test of cells: whether one of some groups, by their keys, holds their element. */
  heldBy(group, keys) {
    const wanted = new Set(keys.map((key) => group.reduced(key)));
    const commonAt = this.#byAxes((place) => group.common(place));
    return (x, y) => wanted.has(commonAt(x, y));
  }

  rowLabel(y) {
    return this.plane.rowLabel(y);
  }

  columnLabel(x) {
    return this.plane.columnLabel(x);
  }

  say(x, y) {
    const element = this.element(x, y);
    return `Element (${element.join(", ")}), ${this.model.holdersInWords(element)}`;
  }
}

/** Say which plane of a tensor is shown. */
function planeInWords(model, plane) {
  const { replication } = model.inverse;
  const shape = model.shape.join(" × ") + (replication > 1 ? `, each in ${replication} locations (+)` : "");
  if (plane.isFlat) return shape;
  return `${shape}, dim${plane.slice.rows} down, dim${plane.slice.columns} across`;
}

/** The hardware: a cell for each place. */
class HardwareSource {
  /**
   * @param {Model} model
   * @param {Colouring} colouring
   * @param {number[]} ground the colour of the page
   * @param {string} title
   * @param {AccessMarks | null} marks what an access touches
   * @param {any} plane where its locations are drawn
   */
  constructor(model, colouring, ground, title, marks, plane = hardwarePlane(model)) {
    this.model = model;
    this.colouring = colouring;
    this.marks = marks;
    this.kind = "hardware";
    this.plane = plane;
    this.columns = this.plane.columns;
    this.rows = this.plane.rows;
    this.rowGroup = this.plane.rowGroup;
    this.columnGroup = this.plane.columnGroup;
    this.colours = colouring.colours(ground);
    this.title = title;
    this.about = this.plane.title;
    this.longestLabel = model.shape.map((size) => size - 1).join(",");
  }

  place(x, y) {
    return this.plane.place(x, y);
  }

  element(x, y) {
    const place = this.place(x, y);
    return place && this.model.element(place);
  }

  shade(x, y) {
    const place = this.place(x, y);
    const element = place && this.model.element(place);
    if (!element) return -1;
    const { movement } = this.colouring;
    return movement
      ? Number(movesElement(movement, element))
      : this.colouring.shade(place, element);
  }

  text(x, y) {
    const place = this.place(x, y);
    return (place && this.model.element(place)?.join(",")) ?? "";
  }

  cells(element) {
    return this.model.inverse.holders(element).map((place) => this.plane.cell(place)).filter(Boolean);
  }

  /** Return a test of cells; in the hardware of another layout, of who held the element. */
  matcher({ group, element }) {
    const matches = group.matcher(element);
    return (x, y) => {
      const place = this.place(x, y);
      const own = place && this.model.element(place);
      if (!own) return false;
      const holder = group.model === this.model ? place : group.model.inverse.place(own);
      return holder !== null && matches(holder);
    };
  }

  rowLabel(y) {
    return this.plane.rowLabel(y);
  }

  columnLabel(x) {
    return this.plane.columnLabel(x);
  }

  say(x, y) {
    const place = this.place(x, y);
    if (!place) return "Padding, no element";
    const element = this.model.element(place);
    const where = this.model.describe(place);
    const marked = this.marks?.inWords(x, y) ?? "";
    return element ? `${where}: element (${element.join(", ")})${marked}` : `${where}: empty`;
  }
}

/** What the lanes of an access's worst phase touch, as runs of cells of the banks. */
class AccessMarks {
  /**
   * @param access what the access costs
   * @param shared the layout of the memory that it is of
   * @param cycle  the cycle that alone is marked; -1 for all of them
   */
  constructor(access, shared, cycle) {
    this.access = access;
    this.shared = shared;
    this.hasFrames = true;
    this.dims = true; // whether what is not touched is dimmed
    this.conflicts = new Map();
    for (const { bank, words } of collisions(access))
      words.forEach((word) => this.conflicts.set(word, { bank, count: words.length }));
    this.runs = new Map();
    this.cells = new Map();
    const { lanes, words } = firstPhase(access);
    const cycles = cycleOfWords(access);
    const isShown = (word) => cycle < 0 || cycles.get(word) === cycle;
    lanes.forEach((lane, k) => this.#touch(lane, words[k].filter(isShown)));
  }

  /** Mark what a lane touches: neighbouring words in conflict, or free of it. */
  #touch(lane, words) {
    for (const [start, end] of runs(words.map((word) => this.conflicts.has(word)))) {
      const run = this.#run(words.slice(start, end));
      run.lanes.push(lane);
    }
  }

  #run(words) {
    if (!this.runs.has(words[0])) {
      const { bits, bankBits, perLine, slots } = this.shared;
      const first = Math.floor((words[0] * bankBits) / bits);
      const end = Math.min(slots, Math.ceil(((words.at(-1) + 1) * bankBits) / bits));
      const y = Math.floor(first / perLine);
      const [x0, x1] = [first - y * perLine, end - y * perLine];
      const run = { x0, x1, y, lanes: [], isInConflict: this.conflicts.has(words[0]) };
      this.runs.set(words[0], run);
      for (let x = x0; x < x1; x++) this.cells.set(`${x},${y}`, run);
    }
    return this.runs.get(words[0]);
  }

  /** Return the run that a cell is in, if any. */
  at(x, y) {
    return this.cells.get(`${x},${y}`);
  }

  /** Return the runs, from top to bottom. */
  get all() {
    return [...this.runs.values()];
  }

  /** Say which lanes touch a cell, and whether its word is in conflict. */
  inWords(x, y) {
    const run = this.at(x, y);
    if (!run) return "";
    const noun = nounOf(this.access);
    const who = `${plural(noun, run.lanes.length)} ${ranges(run.lanes)}`;
    const { bits, bankBits, perLine } = this.shared;
    const word = Math.floor(((y * perLine + x) * bits) / bankBits);
    const conflict = this.conflicts.get(word);
    if (!conflict) return `; touched by ${who}`;
    return `; touched by ${who}, one of ${conflict.count} words in conflict in bank ${conflict.bank}`;
  }
}
