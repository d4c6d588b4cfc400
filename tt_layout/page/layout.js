// What the page knows of one layout: its function both ways, where its locations are drawn, and
// the names of groups of locations (a warp, a bank, ..) that can be coloured and selected.

/** Bits of a row of tensor memory that choose among its four slices of 32 rows. */
const SLICE_BITS = [5, 6];
const ASSUMED_BITS = 32; // of an element whose width is not known
const MAX_NAMED = 4096;
const CHUNK_BYTES = 16;
const LINE_CHUNKS = 8;

/** A layout with everything that is derived from it. */
class Model {
  /**
   * @param {Spec} spec the layout as the file embeds it
   * @param {{ banks: number, bankBytes: number }} memory what shared memory consists of
   */
  constructor(spec, memory) {
    this.spec = spec;
    this.layout = { ins: spec.ins, outs: spec.outs };
    this.memory = spec.memory;
    this.dims = Object.fromEntries(spec.ins.map(([name], d) => [name, d]));
    this.sizes = spec.ins.map(([, vectors]) => 2 ** vectors.length);
    this.shape = spec.outs.map(([, size]) => size);
    this.bits = spec.bits ?? ASSUMED_BITS;
    this.empty = spec.memory === TENSOR_MEMORY ? emptyBits(spec.ins) : [];
    const skips = (d, bit) => this.empty.some(([e, b]) => e === d && b === bit);
    this.inverse = new Inverse(this.layout, skips);
    this.setMemory(memory);
  }

  /** Set what shared memory consists of, and what follows from that. */
  setMemory({ banks, bankBytes }) {
    this.banks = banks;
    this.bankBits = 8 * bankBytes;
    this.groups = groupsOf(this);
  }

  size(name) {
    return name in this.dims ? this.sizes[this.dims[name]] : 1;
  }

  /** Return a coordinate of a location; 0 for a dimension that the layout does not have. */
  at(place, name) {
    return name in this.dims ? place[this.dims[name]] : 0;
  }

  /** Return the location with these coordinates, all others 0. */
  placeOf(coordinates) {
    return this.spec.ins.map(([name]) => coordinates[name] ?? 0);
  }

  /** Return the element at a location, or null where tensor memory holds nothing. */
  element(place) {
    if (this.empty.some(([d, bit]) => hasBit(place[d], bit))) return null;
    return evaluate(this.layout, place);
  }

  // -- shared memory: offsets, slots with padding, banks ------------------------------------

  /** Return the slot of an offset, both in elements: padding is counted. */
  slot(offset) {
    return this.spec.padding.reduce(
      (sum, [every, pad]) => sum + Math.floor(offset / every) * pad,
      offset,
    );
  }

  /** Return the offset at a slot, or null where the slot is padding or beyond the end. */
  offsetAt(slot) {
    let [low, high] = [0, this.size("offset") - 1];
    if (!this.spec.padding.length) return slot <= high ? slot : null;
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2);
      if (this.slot(middle) <= slot) low = middle;
      else high = middle - 1;
    }
    return this.slot(low) === slot ? low : null;
  }

  get slots() {
    return this.slot(this.size("offset") - 1) + 1;
  }

  /** Return how many words of a bank there are in all. */
  get words() {
    return Math.ceil((this.slots * this.bits) / this.bankBits);
  }

  /** Return how many elements a line over all banks holds. */
  get perLine() {
    return Math.max(1, Math.floor((this.banks * this.bankBits) / this.bits));
  }

  /** Return how many banks an element spans. */
  get banksOfElement() {
    return Math.max(1, Math.ceil(this.bits / this.bankBits));
  }

  /** Return the bank of a location; of an element in several banks, which of such groups. */
  bank(place) {
    const slot = this.slot(this.at(place, "offset")) % this.perLine;
    return Math.floor((slot * this.bits) / (this.bankBits * this.banksOfElement));
  }

  /** Return the name of a bank, or of a group of banks that an element spans, such as 4-5. */
  bankName(bank) {
    const count = this.banksOfElement;
    return count > 1 ? `${bank * count}-${(bank + 1) * count - 1}` : String(bank);
  }

  /** Return the bytes that have one colour, as tt_layout.views.groups chooses them. */
  get chunkBytes() {
    const vectors = this.spec.ins.find(([name]) => name === "offset")?.[1] ?? [];
    const fast = Math.max(0, vectors[0]?.findIndex(Boolean) ?? 0);
    const moved = vectors.filter((v) => v[fast] && v.some((step, d) => step && d !== fast));
    const pieces = moved.map((v) => ((v[fast] & -v[fast]) * this.bits) / 8);
    const piece = Math.min(...pieces);
    const isUsual = !moved.length || (piece >= CHUNK_BYTES && piece < LINE_CHUNKS * CHUNK_BYTES);
    return isUsual ? CHUNK_BYTES : piece;
  }

  line(place) {
    return Math.floor(this.slot(this.at(place, "offset")) / this.perLine);
  }

  byte(place) {
    return Math.floor((this.slot(this.at(place, "offset")) * this.bits) / 8);
  }

  // -- words ----------------------------------------------------------------------------------

  thread(place) {
    return this.at(place, "lane") + this.at(place, "warp") * this.size("lane");
  }

  /** Return a location as the cells show it. */
  label(place) {
    const block = this.size("block") > 1 ? `B${this.at(place, "block")}:` : "";
    if (this.memory === REGISTERS)
      return `${block}T${this.thread(place)}:${this.at(place, "register")}`;
    if (this.memory === TENSOR_MEMORY)
      return `${block}R${this.at(place, "row")}:C${this.at(place, "col")}`;
    const partition = this.size("partition") > 1 ? `P${this.at(place, "partition")}:` : "";
    return `${block}${partition}${this.at(place, "offset")}`;
  }

  /** Return the longest label that a cell may show. */
  get longestLabel() {
    return this.label(this.sizes.map((size) => size - 1));
  }

  /** Return a location in words, with what it means for the hardware. */
  describe(place) {
    const named = this.spec.ins
      .map(([name], d) => [name, place[d], this.sizes[d]])
      .filter(([name, , size]) => size > 1 || name === "register" || name === "offset");
    const words = named.map(([name, value]) => `${NAMES[name] ?? name} ${value}`);
    if (this.memory === SHARED) {
      if (this.spec.padding.length) words.push(`slot ${this.slot(this.at(place, "offset"))}`);
      const noun = this.banksOfElement > 1 ? "banks" : "bank";
      words.push(`byte ${this.byte(place)}`, `${noun} ${this.bankName(this.bank(place))}`);
    }
    return words.join(", ");
  }

  /** Return the holders of an element as one text. */
  holdersInWords(element, limit = 6) {
    const holders = this.inverse.holders(element, limit);
    if (!holders.length) return "no location holds it";
    const more = this.inverse.replication - holders.length;
    const plain = (place) =>
      this.memory === SHARED ? `offset ${this.label(place)}` : this.label(place);
    return `held by ${holders.map(plain).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  }
}

const NAMES = { col: "column" };

/** Return the bits of tensor memory whose cells hold nothing: zero bases but for slices. */
function emptyBits(ins) {
  return ins.flatMap(([name, vectors], d) =>
    vectors.flatMap((vector, bit) => {
      const isSlice = name === "row" && SLICE_BITS.includes(bit);
      const isZero = !vector.some(Boolean);
      return isZero && name !== "block" && !isSlice ? [[d, bit]] : [];
    }),
  );
}

/**
 * A family of groups of locations: every location belongs to the group with its key.  Its `place`,
 * such as a row of tensor memory, is another name for it in a search.
 */
class Group {
  /**
   * @param {Model} model
   * @param {string} id
   * @param {string} label
   * @param {number} size how many groups there are
   * @param {(place: number[]) => number} key
   * @param {{ isLinear?: boolean, nameOf?: (key: number) => string, place?: string }} more
   */
  constructor(model, id, label, size, key, { isLinear = true, nameOf = String, place } = {}) {
    this.model = model;
    this.id = id;
    this.label = label;
    this.size = size;
    this.key = key;
    this.isLinear = isLinear;
    this.nameOf = nameOf;
    this.place = place;
    this.kernel = isLinear ? reducedSpan(model.inverse.kernel.map(key)) : [];
  }

  /** Return the key that all holders of a location's element share. */
  common(place) {
    return this.reduced(this.key(place));
  }

  /** Return the key that stands for all that hold the same as this one. */
  reduced(key) {
    return this.kernel.reduce((least, vector) => Math.min(least, xor(least, vector)), key);
  }

  /** Return the keys of all groups that hold an element. */
  keysOf(element) {
    return [...new Set(this.model.inverse.holders(element, MAX_NAMED).map((h) => this.key(h)))];
  }

  /** Return the key that all holders of an element share; null where nobody holds it. */
  commonOf(element) {
    const place = this.model.inverse.place(element);
    return place && this.common(place);
  }

  /** Return a test of locations: whether their element is in a group that holds this one. */
  matcher(element) {
    const holders = this.model.inverse.holders(element, MAX_NAMED);
    if (!holders.length) return () => false;
    if (this.isLinear) {
      const wanted = this.common(holders[0]);
      return (place) => this.common(place) === wanted;
    }
    const wanted = new Set(holders.map((holder) => this.key(holder)));
    if (holders.length === 1) return (place) => wanted.has(this.key(place));
    return (place) =>
      this.keysOf(evaluate(this.model.layout, place)).some((key) => wanted.has(key));
  }
}

/** Return vectors of which each one's leading bit is set in no other, largest first. */
function reducedSpan(vectors) {
  const basis = [];
  for (const vector of vectors) {
    const rest = basis.reduce((v, b) => Math.min(v, xor(v, b)), vector);
    if (rest) {
      basis.push(rest);
      basis.sort((a, b) => b - a);
    }
  }
  return basis;
}

/** Return the groups that locations of this memory space belong to. */
function groupsOf(model) {
  const one = (name) => [NAMES[name] ?? name, name, model.size(name), (p) => model.at(p, name)];
  const lists = {
    [REGISTERS]: () => [
      ["warp", "warp", model.size("warp"), (p) => model.at(p, "warp")],
      ["lane", "lane", model.size("lane"), (p) => model.at(p, "lane")],
      ["thread", "thread", model.size("lane") * model.size("warp"), (p) => model.thread(p)],
      ["register", "register", model.size("register"), (p) => model.at(p, "register")],
    ],
    [SHARED]: () => [
      [
        "chunk",
        `${model.chunkBytes}-byte chunk`,
        Math.min(LINE_CHUNKS, Math.ceil((model.slots * model.bits) / (8 * model.chunkBytes))),
        (p) => Math.floor(model.byte(p) / model.chunkBytes) % LINE_CHUNKS,
        { isLinear: false },
      ],
      [
        "bank",
        model.banksOfElement > 1 ? "banks" : "bank",
        Math.ceil(Math.min(model.banks, model.words) / model.banksOfElement),
        (p) => model.bank(p),
        { isLinear: false, nameOf: (bank) => model.bankName(bank) },
      ],
      [
        "line",
        "line of banks",
        Math.ceil(model.slots / model.perLine),
        (p) => model.line(p),
        { isLinear: false },
      ],
    ],
    [TENSOR_MEMORY]: () => [
      [
        "warp",
        "warp",
        Math.ceil(model.size("row") / 32),
        (p) => Math.floor(model.at(p, "row") / 32),
      ],
      ["lane", "lane", Math.min(32, model.size("row")), (p) => model.at(p, "row") % 32],
      ["thread", "thread", model.size("row"), (p) => model.at(p, "row"), { place: "row" }],
      ["register", "register", model.size("col"), (p) => model.at(p, "col"), { place: "column" }],
    ],
  };
  const own = lists[model.memory]();
  for (const name of ["partition", "block"]) {
    if (model.size(name) > 1) own.push(one(name));
  }
  return own.map(([id, label, size, key, more]) => new Group(model, id, label, size, key, more));
}

// -- where things are drawn -------------------------------------------------------------------

/** The tensor, or a plane of it: two dimensions side by side, the others fixed. */
class TensorPlane {
  /**
   * @param {number[]} shape
   * @param {Slice} slice the dimensions shown, and the coordinate in the others
   */
  constructor(shape, slice) {
    this.shape = shape;
    this.slice = slice;
    this.isFlat = shape.length === 1;
    this.columns = this.isFlat ? Math.min(shape[0], 32) : shape[slice.columns];
    this.rows = this.isFlat ? shape[0] / this.columns : shape[slice.rows];
  }

  /** Return the element at a cell. */
  element(x, y) {
    if (this.isFlat) return [y * this.columns + x];
    const at = [...this.slice.at];
    at[this.slice.rows] = y;
    at[this.slice.columns] = x;
    return at;
  }

  /** Return the cell of an element, or null where it is in another plane. */
  cell(element) {
    if (this.isFlat) return [element[0] % this.columns, Math.floor(element[0] / this.columns)];
    const { rows, columns, at } = this.slice;
    const isHere = element.every((value, d) => d === rows || d === columns || value === at[d]);
    return isHere ? [element[columns], element[rows]] : null;
  }

  rowLabel(y) {
    return String(this.isFlat ? y * this.columns : y);
  }

  columnLabel(x) {
    return String(x);
  }
}

/** Split a row number into digits of these sizes, the fastest first. */
function split(row, sizes) {
  return sizes.map((size) => {
    const digit = row % size;
    row = Math.floor(row / size);
    return digit;
  });
}

/** Join digits of these sizes into a number. */
function join(digits, sizes) {
  return digits.reduceRight((row, digit, k) => row * sizes[k] + digit, 0);
}

/** Registers by lane: a column for each lane, a row for each register of each warp. */
class RegisterPlane {
  constructor(model) {
    this.model = model;
    this.names = ["register", "warp", "block"];
    this.sizes = this.names.map((name) => model.size(name));
    this.columns = model.size("lane");
    this.rows = product(this.sizes);
    this.rowGroup = this.sizes[0];
    this.title = "lanes across, registers of each warp down";
  }

  place(x, y) {
    const [register, warp, block] = split(y, this.sizes);
    return this.model.placeOf({ register, lane: x, warp, block });
  }

  cell(place) {
    const digits = this.names.map((name) => this.model.at(place, name));
    return [this.model.at(place, "lane"), join(digits, this.sizes)];
  }

  rowLabel(y) {
    const [register, warp, block] = split(y, this.sizes);
    return `${this.sizes[2] > 1 ? `B${block} ` : ""}W${warp} r${register}`;
  }

  columnLabel(x) {
    return String(x);
  }
}

/** Shared memory by bank: a row for every line over all banks, a cell for each element. */
class BankPlane {
  constructor(model) {
    this.model = model;
    this.columns = Math.min(model.perLine, model.slots);
    this.lines = Math.ceil(model.slots / model.perLine);
    this.sizes = [this.lines, model.size("partition"), model.size("block")];
    this.rows = product(this.sizes);
    this.rowGroup = this.lines;
    this.columnGroup = Math.max(1, Math.floor(model.bankBits / model.bits));
    this.title = `${counted(model.banks, "bank")} of ${counted(model.bankBits / 8, "byte")} across, byte address down`;
  }

  place(x, y) {
    const [line, partition, block] = split(y, this.sizes);
    const offset = this.model.offsetAt(line * this.model.perLine + x);
    return offset === null ? null : this.model.placeOf({ offset, partition, block });
  }

  cell(place) {
    const slot = this.model.slot(this.model.at(place, "offset"));
    const digits = [
      Math.floor(slot / this.model.perLine),
      this.model.at(place, "partition"),
      this.model.at(place, "block"),
    ];
    return [slot % this.model.perLine, join(digits, this.sizes)];
  }

  rowLabel(y) {
    const [line, partition, block] = split(y, this.sizes);
    const buffer = `${this.sizes[2] > 1 ? `B${block} ` : ""}${this.sizes[1] > 1 ? `P${partition} ` : ""}`;
    return `${buffer}${Math.floor((line * this.model.perLine * this.model.bits) / 8)}`;
  }

  columnLabel(x) {
    if (x % this.columnGroup) return "";
    return this.model.bankName(Math.floor(x / this.columnGroup));
  }
}

/** Tensor memory as it is: rows and columns. */
class CellPlane {
  constructor(model) {
    this.model = model;
    this.columns = model.size("col");
    this.sizes = [model.size("row"), model.size("block")];
    this.rows = product(this.sizes);
    this.rowGroup = Math.min(32, this.sizes[0]);
    this.title = "columns across, rows down";
  }

  place(x, y) {
    const [row, block] = split(y, this.sizes);
    return this.model.placeOf({ row, col: x, block });
  }

  cell(place) {
    const digits = [this.model.at(place, "row"), this.model.at(place, "block")];
    return [this.model.at(place, "col"), join(digits, this.sizes)];
  }

  rowLabel(y) {
    const [row, block] = split(y, this.sizes);
    return `${this.sizes[1] > 1 ? `B${block} ` : ""}R${row}`;
  }

  columnLabel(x) {
    return String(x);
  }
}

/** Return the plane in which the locations of a layout are drawn. */
function hardwarePlane(model) {
  const planes = { [REGISTERS]: RegisterPlane, [SHARED]: BankPlane, [TENSOR_MEMORY]: CellPlane };
  return new planes[model.memory](model);
}

/** Return whether two layouts are of tensors of one shape. */
function sameShape(a, b) {
  return show(a.outs.map(([, size]) => size)) === show(b.outs.map(([, size]) => size));
}
