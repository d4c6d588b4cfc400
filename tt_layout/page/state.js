// What the page shows: the file's data, what the address keeps, and what follows from both.

/** What the file embeds. @type {PageData} */
const DATA = JSON.parse(byId("data").textContent);

/** What the address keeps; the rest follows from it. @type {State} */
const state = {
  layout: 0,
  edit: null, // { attribute, type } or { bases }
  colour: "",
  scope: "element",
  pins: [], // { scope, element }
  slice: null,
  compare: null, // -1 for nothing, null for what is usual
  banks: null, // null for those of the GPU
  isStore: false,
  target: "", // the usual one
  isMarked: true, // whether the words that an access touches are marked
  view: null, // "layout", "tile", "mma", "cycles" or "sectors", null for what is usual
  lit: null, // of a multiplication the { name, cell } of a matrix that is kept lit
  module: 0, // of the dump
  line: null, // of the dump, the one that was chosen
  isTied: false, // whether the assembly stands beside the dump, in place of the grids
};

/** All that changes and the address does not keep. @type {Shown} */
const page = {
  texts: null, // of the playground, the last ones that could be read
  model: null,
  other: null, // the layout that is compared with
  movement: null, // what moves between the two
  ownMultiplication: null, // the one that the layout is the result of; null in a dump
  access: null, // between the two: { register, shared } with its { cost }, or an { error } instead
  suggestion: null, // for the access: { shared, cost, attribute, isForAll }
  planes: null,
  hovered: null, // under the pointer or the cursor: { element, place, text }
  pointed: null, // the same of a multiplication, as state.lit: { name, cell }
  cycle: -1, // of the access, the one that alone is marked; -1 for all
  playing: null, // the timer that steps through them
  waiting: null, // the timer of an edit
  views: null,
  matrix: null,
  accessView: null,
  reductionView: null,
  multiplicationView: null,
  cyclesView: null,
  suggestedView: null, // the same chart under the layout that is suggested
  layoutBox: null,
  dumpText: null,
  programText: null,
  assemblyText: null,
};
