// The chart of an access to global memory: which lane asks for which bytes of the first request, on
// its lines and sectors, from the addresses that the dump gives, as tt_layout.figures.sectors draws it.

const MOST_UNIT = 4; // bytes of a cell at most

/** Return the first request of the access to global memory that is chosen; null where it is not known. */
function requestThere() {
  if (state.line === null || state.edit) return null;
  const movement = movementOn(state.line);
  return movement?.request && movement.layouts.includes(state.layout) ? movement.request : null;
}

/** Return the request whose sectors are shown instead of anything else; null where none is. */
function sectorsShown() {
  return state.view === "sectors" ? requestThere() : null;
}

/** The chart: a row for each line of memory, a cell for some bytes. */
class SectorsSource {
  /**
   * @param {GlobalRequest} request
   * @param {Model} model the layout that is shown with it
   * @param {number[]} ground the colour of the page
   */
  constructor({ starts, width_bytes: width, sector_bytes: sector, line_bytes: line, supposed }, model, ground) {
    this.model = model;
    this.kind = "sectors";
    this.sizes = { line, sector };
    const lanes = starts.flatMap((start, lane) => (start === null ? [] : [{ start, lane }]));
    this.unit = Math.min(MOST_UNIT, width, ...lanes.map(({ start }) => start && lowestBit(start)).filter(Boolean));
    /** The lanes that ask for each cell, by its number in memory. @type {Map<number, number[]>} */
    this.asked = new Map();
    for (const { start, lane } of lanes)
      for (let at = start / this.unit; at < (start + width) / this.unit; at++)
        this.asked.set(at, [...(this.asked.get(at) ?? []), lane]);
    this.columns = line / this.unit;
    this.columnGroup = sector / this.unit;
    this.lines = [...new Set([...this.asked.keys()].map((at) => Math.floor(at / this.columns)))].sort((a, b) => a - b);
    this.rows = this.lines.length;
    this.moved = new Set([...this.asked.keys()].map((at) => Math.floor(at / this.columnGroup)));
    this.colours = [...palette(starts.length), tile(mix(ground, [128, 128, 128], 0.25))];
    this.title = "Sectors of the first request";
    const bytes = this.asked.size * this.unit;
    const part = Math.round((100 * bytes) / (this.moved.size * sector));
    this.about =
      `${counted(bytes, "byte")} asked for, ${counted(this.moved.size, "sector")} of ${sector} bytes moved in ` +
      `${counted(this.rows, "line")} of ${line}: ${part} % of them asked for; in each cell the lane`;
    const taken = Object.entries(supposed).map(([name, value]) => `${name} = ${value}`);
    if (taken.length) this.about += `; drawn as if ${taken.join(", ")}, which the dump leaves open`;
    this.longestLabel = longest([...this.asked.values()].map(lanesLabel));
    this.rowHeight = CYCLE_HEIGHT;
  }

  #at(x, y) {
    return this.lines[y] * this.columns + x;
  }

  /** Return the colour of the lane; another where bytes are moved for others, none where they are not. */
  shade(x, y) {
    const at = this.#at(x, y);
    const lanes = this.asked.get(at);
    if (lanes) return shadeIndex(lanes[0]);
    return this.moved.has(Math.floor(at / this.columnGroup)) ? this.colours.length - 1 : -1;
  }

  text(x, y) {
    const asking = this.asked.get(this.#at(x, y));
    return asking ? lanesLabel(asking) : "";
  }

  /** The bytes belong to no element that could be named. */
  element() {
    return null;
  }

  cells() {
    return [];
  }

  /** Return a test of cells: whether a lane that holds the element asks for them. */
  matcher({ group, element }) {
    if (group.id !== "lane") return () => true;
    const held = new Set(group.keysOf(element));
    return (x, y) => (this.asked.get(this.#at(x, y)) ?? []).some((lane) => held.has(lane));
  }

  rowLabel(y) {
    return `+${this.lines[y] * this.sizes.line}`;
  }

  columnLabel(x) {
    return x % this.columnGroup ? "" : `sector ${x / this.columnGroup}`;
  }

  say(x, y) {
    const at = this.#at(x, y);
    const lanes = this.asked.get(at);
    const where = `Bytes ${at * this.unit} to ${(at + 1) * this.unit - 1}`;
    if (lanes) return `${where}: ${lanes.length > 1 ? "lanes" : "lane"} ${ranges(lanes)}`;
    return `${where}: ${this.shade(x, y) < 0 ? "not moved" : "moved, but not asked for"}`;
  }
}
