// The chart of an access: which lane each bank serves in each cycle of the worst phase, as
// tt_layout.figures.banks draws it, and the memory in the colours of the same lanes.

const CYCLE_HEIGHT = 20; // pixels of the highest row: two charts and the memory are to fit

/** Return the words of the worst phase, each with its bank, its cycle and the lanes that ask for it. */
function servedWords(access) {
  const { lanes, words } = firstPhase(access);
  /** @type {Map<number, { word: number, bank: number, cycle: number, lanes: number[] }>} */
  const served = new Map();
  for (const [word, cycle] of cycleOfWords(access))
    served.set(word, { word, bank: word % access.phase.banks, cycle, lanes: [] });
  lanes.forEach((lane, k) => words[k].forEach((word) => served.get(word).lanes.push(lane)));
  return served;
}

/** How the words of an access are coloured: by the first lane that asks for each. */
class LaneColouring {
  /**
   * @param {any} access what the access costs
   * @param {Model} shared the layout of the memory
   * @param {number} least colours that there are at least, so that those beside it mean the same
   */
  constructor(access, shared, least = 0) {
    this.shared = shared;
    this.served = servedWords(access);
    /** Nothing moves, and no group or dimension is coloured. @type {any} */
    this.movement = this.group = undefined;
    this.dim = -1;
    this.label = nounOf(access);
    const own = access.instruction.matrices ? firstPhase(access).lanes.length : access.target.lanes;
    this.count = Math.max(own, least);
  }

  /** Return the lanes that are served, where each has a colour of its own; the legend names these. */
  get named() {
    const lanes = [...new Set([...this.served.values()].map(({ lanes: [first] }) => first))].sort((a, b) => a - b);
    return new Set(lanes.map(shadeIndex)).size === lanes.length ? lanes : null;
  }

  /** Return the colours of lanes, and that of what none asks for; `ground` is that of the page. */
  colours(ground) {
    return [...palette(this.count), tile(mix(ground, [128, 128, 128], 0.12))];
  }

  /** Return the colour of the element at a place. */
  shade(place) {
    const { slot, word } = wordAt(this.shared, place);
    const found = this.served.get(word);
    return found && slot !== null ? shadeIndex(found.lanes[0]) : Math.min(this.count, DATA.palette.cells.length);
  }
}

/** Return the slot of a place in shared memory, and the word that it is in. */
function wordAt(shared, place) {
  const slot = shared.slot(shared.at(place, "offset"));
  return { slot, word: Math.floor((slot * shared.bits) / shared.bankBits) };
}

/** Return the label of the lanes of one cell: the first, and how many more there are, 12+1. */
function lanesLabel(lanes) {
  return lanes.length > 1 ? `${lanes[0]}+${lanes.length - 1}` : String(lanes[0]);
}

/** The chart: a column for each bank, a row for each cycle. */
class CyclesSource {
  /**
   * @param {any} access what the access costs
   * @param {Model} shared the layout of the memory
   * @param {LaneColouring} colouring
   * @param {number[]} ground the colour of the page
   */
  constructor(access, shared, colouring, ground) {
    this.access = access;
    this.shared = shared;
    this.model = shared;
    this.colouring = colouring;
    this.kind = "cycles";
    const { cycle } = access.target;
    this.columns = access.phase.banks;
    this.rows = wavefrontCount(access);
    this.colours = colouring.colours(ground);
    this.title = `${capitalised(cycle)}s of a ${access.isStore ? "store" : "load"}`;
    const noun = nounOf(access);
    const verdict = DATA.dump ? `${verdictInWords(access)}; ` : ""; // else it is beside the chart
    this.about = `${verdict}banks across, ${cycle}s of the worst phase down; in each cell the ${noun} that is served`;
    this.found = new Map([...colouring.served.values()].map((one) => [`${one.bank},${one.cycle}`, one]));
    const labels = [...colouring.served.values()].map(({ lanes }) => lanesLabel(lanes));
    this.longestLabel = longest([String(access.target.lanes - 1), ...labels]);
    this.rowHeight = CYCLE_HEIGHT;
  }

  /** Return what a bank serves in a cycle, if anything. */
  at(x, y) {
    return this.found.get(`${x},${y}`);
  }

  shade(x, y) {
    const served = this.at(x, y);
    return served ? shadeIndex(served.lanes[0]) : this.colours.length - 1;
  }

  text(x, y) {
    const served = this.at(x, y);
    return served ? lanesLabel(served.lanes) : "";
  }

  /** Return the location of the first element of the word that is served. */
  place(x, y) {
    const served = this.at(x, y);
    if (!served) return null;
    const { bits, bankBits } = this.shared;
    const offset = this.shared.offsetAt(Math.floor((served.word * bankBits) / bits));
    return offset === null ? null : this.shared.placeOf({ offset });
  }

  element(x, y) {
    const place = this.place(x, y);
    return place && this.shared.element(place);
  }

  cells(element) {
    const place = this.shared.inverse.place(element);
    const served = place && this.colouring.served.get(wordAt(this.shared, place).word);
    return served ? [[served.bank, served.cycle]] : [];
  }

  /** Return a test of cells: whether a group holds the element that is served. */
  matcher({ group, element }) {
    const matches = group.matcher(element);
    return (x, y) => {
      const own = this.element(x, y);
      const place = own && group.model.inverse.place(own);
      return Boolean(place) && matches(place);
    };
  }

  rowLabel(y) {
    return String(y + 1);
  }

  columnLabel(x) {
    return String(x);
  }

  say(x, y) {
    const { cycle } = this.access.target;
    const served = this.at(x, y);
    if (!served) return `Bank ${x} is idle in ${cycle} ${y + 1}`;
    const noun = plural(nounOf(this.access), served.lanes.length);
    return `${capitalised(cycle)} ${y + 1}, bank ${x}: word ${served.word} for ${noun} ${ranges(served.lanes)}`;
  }
}

/** Return whether the cycles of an access are shown instead of its layouts. */
function cyclesShown() {
  return state.view === "cycles" && Boolean(page.access?.cost);
}

function chartViews() {
  return [page.cyclesView, page.suggestedView];
}

/** Show the chart of an access, below it what is suggested, and the memory in the colours of its lanes. */
function showCycles(ground) {
  const { cost, shared } = page.access;
  const colouring = new LaneColouring(cost, shared);
  page.cyclesView.show(new CyclesSource(cost, shared, colouring, ground));
  if (page.suggestion) showSuggested(page.suggestion, colouring, ground);
  const marks = new AccessMarks(cost, shared, page.cycle);
  Object.assign(marks, { hasFrames: false, dims: page.cycle >= 0 }); // colours show what is touched
  const view = shared === page.model ? page.views.hardware : page.views.other;
  view.show(new HardwareSource(shared, colouring, ground, "Shared memory", state.isMarked ? marks : null));
  showLegend(colouring, ground);
}

/** Show the chart of the same access under the layout that is suggested. */
function showSuggested({ cost, shared, attribute, isForAll }, { count }, ground) {
  const source = new CyclesSource(cost, shared, new LaneColouring(cost, shared, count), ground);
  const [own, other] = cost.isStore ? ["store", "load"] : ["load", "store"];
  source.title = isForAll ? "Under the suggested layout" : `Best for this ${own} alone`;
  const more = isForAll ? "" : `; tt-layout swizzle takes the ${other}, too`;
  source.about = `${attribute}: ${verdictInWords(cost)}${more}`;
  page.suggestedView.show(source);
}
