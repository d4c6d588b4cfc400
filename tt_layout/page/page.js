// The page itself: what is shown, and how the controls, the grids and the address change it.

const THEMES = ["auto", "light", "dark"];
const EDIT_DELAY = 150;
const BELOW_PANES = 16; // pixels between the grids and what is below them
const CYCLE_TIME = 900; // milliseconds for which a cycle is shown

// -- layouts ----------------------------------------------------------------------------------

/** Return the layout that the state names, edits included. */
function editedSpec() {
  const spec = DATA.layouts[state.layout];
  if (!state.edit) return spec;
  if (state.edit.bases) {
    const ins = spec.ins.map(([name, vectors]) => [name, state.edit.bases[name] ?? vectors]);
    return {
      ...spec,
      ins,
      attribute: attributeOf(spec.memory, ins) || `${spec.attribute} with other bases`,
    };
  }
  const { attribute, type } = state.edit;
  return { ...spec, ...readNotation(attribute, type, spec.release, lanesOf(spec)) };
}

/** Return the lanes of a warp that holds a layout; nothing in memory. */
function lanesOf({ ins }) {
  const bits = Object.fromEntries(ins).lane;
  return bits && 2 ** bits.length;
}

/** Return the edited layout, or the original where the edit cannot be read. */
function currentSpec() {
  try {
    return editedSpec();
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    state.edit = null;
    return DATA.layouts[state.layout];
  }
}

/** Return the name of a layout; of one that is written in a type, what stands before its keys. */
function shortName({ name }) {
  return name.split("<{")[0];
}

/** Return the indices of layouts that the current one can be compared with. */
function comparable() {
  return DATA.layouts.flatMap((spec, k) => {
    const isOther = k !== state.layout || state.edit;
    return isOther && sameShape(spec, page.model.spec) ? [k] : [];
  });
}

/** Return what a layout to compare with is called; with its type where the name is not its own. */
function comparableName(k) {
  const { name, type } = DATA.layouts[k];
  if (k === state.layout) return `${name} before the edit`;
  const isAlone = DATA.layouts.filter((spec) => spec.name === name).length === 1;
  return isAlone ? name : `${name}, ${type}`;
}

/** Return what the layout is compared with where nothing is said: in a pair, the other. */
function usualCompare() {
  const other = 1 - state.layout;
  return DATA.isPair && comparable().includes(other) ? other : -1;
}

/** Make everything anew that follows from the state. */
function rebuild() {
  page.model = new Model(currentSpec(), usualTarget());
  state.compare ??= usualCompare();
  if (!comparable().includes(state.compare)) state.compare = -1;
  page.other = state.compare < 0 ? null : new Model(DATA.layouts[state.compare], usualTarget());
  for (const shown of [page.model, page.other]) shown?.setMemory(drawnMemory());
  page.movement = page.other && page.other.memory === page.model.memory ? new Movement(page.model, page.other) : null;
  page.access = accessPair(page.model, page.other);
  if (page.access) Object.assign(page.access, workedOut(page.access, targetFor(page.access.register), state.isStore));
  page.suggestion = page.access && suggestionOf(page.access);
  state.slice = checkedSlice(state.slice, page.model.shape);
  page.ownMultiplication = DATA.dump ? null : multiplicationOf(page.model.spec, DATA.operand);
  if (!viewsThere().some(([view]) => view === state.view)) state.view = null;
  state.view ??= usualView();
  if (!multiplicationShown()) state.lit = null;
  if (state.colour === "origin") state.colour = page.movement ? `from:${usualColour()}` : "";
  if (sectorsShown() || !colourIds().includes(state.colour)) state.colour = defaultColour();
  if (!["element", ...page.model.groups.map(({ id }) => id)].includes(state.scope))
    state.scope = "element";
  const inside = ({ element }) =>
    element.length === page.model.shape.length && element.every((x, d) => x < page.model.shape[d]);
  state.pins = state.pins.filter(
    (pin) =>
      inside(pin) && (pin.scope === "element" || page.model.groups.some(({ id }) => id === pin.scope)),
  );
  if (page.hovered) page.hovered = null;
  stopPlaying();
  page.cycle = -1;
  showControls();
  page.matrix.show(page.model);
  showGrids();
}

/** Return the target that was chosen, if it has the lanes of these registers. */
function targetFor(register) {
  const chosen = targetNamed(state.target);
  const lanes = register?.size("lane");
  const fits = chosen && (!register || ofLanes(chosen, lanes).lanes === lanes);
  return fits ? chosen : usualTarget(register);
}

/** Return the { banks, bankBytes } of the GPU, with the banks that were chosen in their place. */
function drawnMemory() {
  const { banks, bankBytes } = targetFor(accessPair(page.model, page.other)?.register);
  return { banks: state.banks ?? banks, bankBytes };
}

/** Return the first group that distinguishes locations. */
function usualColour() {
  const group = page.model.groups.find(({ size, id }) => size > 1 && id !== "thread");
  return (group ?? page.model.groups[0]).id;
}

/** Return what can be shown, each with its name: the layouts, and what they are parts of. */
function viewsThere() {
  return [
    ["layout", page.access ? "the layouts" : "the layout"],
    ...(tileThere() ? [["tile", "one instruction"]] : []),
    ...(multiplicationThere() ? [["mma", "the multiplication"]] : []),
    ...(page.access?.cost ? [["cycles", "the cycles"]] : []),
    ...(requestThere() ? [["sectors", "the sectors"]] : []),
  ];
}

/** Return what cells are coloured by where nothing is said. */
function defaultColour() {
  if (sectorsShown() && colourIds().includes("lane")) return "lane";
  if (tileShown()) return "lane";
  return multiplicationShown()?.colour ?? (page.movement ? "moves" : usualColour());
}

function colourIds() {
  if (multiplicationShown()) return MATRIX_COLOURS;
  const dims = dimIds(page.model.shape.length);
  const groups = page.model.groups.map(({ id }) => id);
  const origins = page.movement ? ["moves", ...groups.map((id) => `from:${id}`)] : [];
  return [...origins, ...groups, ...dims, "none"];
}

/** Return a plane to show: as requested where that fits the shape. */
function checkedSlice(slice, shape) {
  const rank = shape.length;
  const fits =
    slice &&
    slice.at.length === rank &&
    slice.rows !== slice.columns &&
    Math.max(slice.rows, slice.columns) < rank;
  const at = shape.map((size, d) => (fits ? Math.min(slice.at[d], size - 1) : 0));
  return {
    rows: fits ? slice.rows : Math.max(0, rank - 2),
    columns: fits ? slice.columns : rank - 1,
    at,
  };
}

// -- grids --------------------------------------------------------------------------------------

/** Show the grids, unless they are being printed. */
function showGrids() {
  if (!document.documentElement.classList.contains("paper")) redrawGrids();
}

function redrawGrids() {
  const ground = rgb(themeColours().panel);
  showMultiplication(ground);
  byId("panes").classList.toggle("three", Boolean(page.other) && !cyclesShown());
  if (multiplicationShown()) return arrangePanes();
  byId("panes").dataset.wide = page.access ? (page.model.memory === SHARED ? "hardware" : "other") : "";
  const moving = state.colour === "moves" ? page.movement : null;
  const origin = state.colour.startsWith("from:") ? page.model : null;
  const colouring = origin
    ? new OriginColouring(origin, state.colour.slice("from:".length))
    : new Colouring(page.model, state.colour, moving);
  const theirs = page.other && coloursOfOther(colouring);
  const tile = tileShown();
  page.planes = tile
    ? new FirstPlane(page.model.shape, [tile[1], tile[0]], false)
    : new TensorPlane(page.model.shape, state.slice);
  const tensor = new TensorSource(page.model, page.planes, colouring, ground);
  if (tile) tensor.about = repeatsInWords(page.model, tile);
  page.views.tensor.show(tensor);
  const title = {
    [REGISTERS]: "Registers",
    [SHARED]: "Shared memory",
    [TENSOR_MEMORY]: "Tensor memory",
  };
  const nameOf = (one) =>
    page.movement ? `${title[one.memory]} of ${shortName(one.spec)}` : title[one.memory];
  const marksOf = (one) =>
    state.isMarked && page.access?.cost && page.access.shared === one
      ? new AccessMarks(page.access.cost, one, page.cycle)
      : null;
  page.views.hardware.show(
    new HardwareSource(
      page.model,
      colouring,
      ground,
      nameOf(page.model),
      marksOf(page.model),
      tile ? new TilePlane(page.model, tile) : undefined,
    ),
  );
  if (page.other) {
    page.views.other.show(
      new HardwareSource(page.other, theirs, ground, nameOf(page.other), marksOf(page.other)),
    );
  }
  showLegend(colouring, ground);
  if (cyclesShown()) showCycles(ground);
  if (sectorsShown()) page.cyclesView.show(new SectorsSource(sectorsShown(), page.model, ground));
  arrangePanes();
  return showSelection();
}

/** Return the colouring of the other layout, in which a colour means what it does in the first. */
function coloursOfOther(colouring) {
  const { group } = colouring;
  if (!group || colouring instanceof OriginColouring) return colouring;
  if (!page.other.groups.some(({ id }) => id === group.id)) return new OriginColouring(page.model, group.id);
  const theirs = new Colouring(page.other, group.id);
  theirs.count = colouring.count = Math.max(theirs.count, colouring.count);
  return theirs;
}

/** Draw for paper before it is printed on: what is drawn while that is done is lost. */
function turnToPaper(isPaper) {
  document.documentElement.classList.toggle("paper", isPaper);
  redrawGrids();
  allViews().forEach((view) => view.print(isPaper));
}

function allViews() {
  return [...chartViews(), ...Object.values(page.views), page.multiplicationView];
}

/** Give the grids the room that the window leaves; beside a dump, on paper or a phone a share of it. */
function arrangePanes() {
  const views = allViews().filter(
    (view) => view.source && !view.pane.hidden,
  );
  const box = byId("panes");
  const isWide = matchMedia("(min-width: 1100px) and (min-height: 600px)").matches;
  if (isWide && !DATA.dump && !isOnPaper()) {
    const below = byId("selection").offsetHeight + BELOW_PANES;
    arrange(box, views, window.innerHeight - box.getBoundingClientRect().top - window.scrollY - below);
  } else for (const view of views) Object.assign(view, { room: null }).pane.style.gridColumn = "";
  for (const view of views) view.layOut();
}

/** Show the colours and what they mean. */
function showLegend(colouring, ground) {
  const legend = byId("legend");
  const colours = colouring.colours(ground);
  const nameOf = colouring.group?.nameOf ?? String;
  const shown = Math.min(colours.length, colouring.count, DATA.palette.cells.length);
  const names = colouring.movement ? ["stays", "moves"] : colours.map((_, k) => nameOf(k));
  const swatch = ({ fill, ink }, text) => {
    const node = make("span", { className: "swatch", textContent: text });
    Object.assign(node.style, { background: fill, color: ink });
    return node;
  };
  legend.replaceChildren(
    make("span", {
      className: "about",
      textContent: colouring.label === "none" ? "" : colouring.label,
    }),
  );
  if (colouring.count === 1)
    return legend.append(
      make("span", {
        className: "about",
        textContent: colouring.label === "none" ? "" : "only one",
      }),
    );
  if (colouring.named) return legend.append(...colouring.named.map((k) => swatch(colours[shadeIndex(k)], k)));
  legend.append(...colours.slice(0, shown).map((colour, k) => swatch(colour, names[k])));
  if (colouring.count > shown) {
    const more = `to ${nameOf(colouring.count - 1)}; the colours repeat`;
    legend.append(make("span", { className: "about", textContent: more }));
  }
}

/** Return what is to be highlighted. */
function selections() {
  const all = state.pins.map((pin) => ({ ...pin, isPinned: true }));
  if (page.hovered?.element) all.push({ scope: state.scope, element: page.hovered.element, isPinned: false });
  return all.map((one) => ({ ...one, group: page.model.groups.find(({ id }) => id === one.scope) }));
}

/** Show what is hovered and pinned, in the grids, in words and in the matrix. */
function showSelection() {
  if (multiplicationShown()) return showPointed();
  const chosen = selections();
  [...chartViews(), ...Object.values(page.views)].forEach(
    (view) => view.source && !view.pane.hidden && view.highlight(chosen),
  );
  const last = chosen.at(-1);
  page.matrix.workOut(page.hovered?.place ?? (last ? page.model.inverse.place(last.element) : null));
  byId("said").textContent = page.hovered?.text ?? (last ? selectionInWords(last) : "");
  return showPins();
}

/** Show a button for each pin; only anew when they change, so that none vanishes under a click. */
function showPins() {
  const box = byId("pins");
  const texts = state.pins.map(pinInWords);
  if (box.dataset.texts === show(texts)) return;
  box.dataset.texts = show(texts);
  box.replaceChildren(...texts.map(pinButton));
}

function pinButton(text, k) {
  const node = make("button", { type: "button", className: "pin", textContent: `${text} ×` });
  node.setAttribute("aria-label", `Unpin ${text}`);
  node.onclick = () => change(() => state.pins.splice(k, 1));
  return node;
}

function pinInWords({ scope, element }) {
  const group = page.model.groups.find(({ id }) => id === scope);
  if (!group) return `(${element.join(", ")})`;
  return `${group.label} ${group.keysOf(element).slice(0, 4).map(group.nameOf).join(", ")}`;
}

/** Say what is selected, and how many elements that are. */
function selectionInWords({ group, element }) {
  if (group)
    return `${pinInWords({ scope: group.id, element })}, with element (${element.join(", ")})`;
  return elementInWords(element);
}

function elementInWords(element) {
  const name = `Element (${element.join(", ")})`;
  const was = `${name}, ${page.model.holdersInWords(element)}`;
  const place = page.model.inverse.place(element);
  if (!page.other && place && page.model.inverse.replication === 1) {
    return page.model.memory === SHARED
      ? `${name} at ${page.model.describe(place)}`
      : `${was}: ${page.model.describe(place)}`;
  }
  if (!page.other) return was;
  const now = page.other.holdersInWords(element);
  const verdict = page.movement ? (movesElement(page.movement, element) ? "moves" : "stays") : "also";
  return `${was}; ${verdict}, in ${page.other.spec.name} ${now}`;
}

/** React to a cell under the pointer or the cursor. */
function hover(source, x, y) {
  const element = source.element(x, y);
  if (!element) {
    page.hovered = { element: null, place: null, text: source.say(x, y) };
    return showSelection();
  }
  const isOwn = source.model === page.model && source.kind === "hardware";
  const place = isOwn ? source.place(x, y) : page.model.inverse.place(element);
  page.hovered = { element, place, text: elementInWords(element) };
  if (isOwn && page.model.inverse.replication > 1) page.hovered.text = `${page.model.label(place)}: ${page.hovered.text}`;
  if (source.marks) page.hovered.text += source.marks.inWords(x, y);
  return showSelection();
}

function leave() {
  page.hovered = null;
  showSelection();
}

/** Pin what is at a cell, or unpin it; all other pins go unless this one is added. */
function pin(source, x, y, adds) {
  const element = source.element(x, y);
  if (!element) return;
  const isSame = (own) => own.scope === state.scope && show(own.element) === show(element);
  const had = state.pins.some(isSame);
  const kept = adds ? state.pins.filter((own) => !isSame(own)) : [];
  change(
    () => (state.pins = had ? kept : [...kept, { scope: state.scope, element }]),
    showSelection,
  );
}

// -- search ---------------------------------------------------------------------------------------

const WORDS = {
  col: "column",
  t: "thread",
  w: "warp",
  l: "lane",
  r: "register",
  b: "block",
  p: "partition",
  c: "column",
};

/** Return { element, scope } that a search text such as 3,5 or T37:2 or offset 96 names. */
function find(text) {
  const clean = text.trim().toLowerCase();
  const numbers = /^\(?\s*(\d+(?:\s*[,:]\s*\d+)*)\s*\)?$/.exec(clean);
  if (numbers)
    return { element: checkedElement(numbers[1].split(/[,:]/).map(Number)), scope: "element" };
  const thread = /^(?:b(\d+):)?t(\d+)(?::(\d+))?$/.exec(clean);
  if (thread) return findThread(...thread.slice(1));
  const cell = /^(?:b(\d+):)?r(\d+):c(\d+)$/.exec(clean);
  if (cell) return findPlace({ block: cell[1], row: cell[2], col: cell[3] }, "element");
  return findNamed(clean);
}

function checkedElement(element) {
  const isInside =
    element.length === page.model.shape.length && element.every((value, d) => value < page.model.shape[d]);
  if (!isInside)
    throw new TextError(`no element (${element.join(", ")}) in ${page.model.shape.join(" × ")}`);
  return element;
}

function findThread(block, thread, register) {
  const lanes = page.model.size("lane");
  const place = {
    block,
    lane: Number(thread) % lanes,
    warp: Math.floor(Number(thread) / lanes),
    register,
  };
  return findPlace(place, register === undefined ? "thread" : "element");
}

/** Find such as "offset 96", "partition 1 offset 4", "warp 2" or "warp 2 lane 3 register 1". */
function findNamed(clean) {
  const pairs = [...clean.matchAll(/([a-z]+)\s*(\d+)/g)].map(([, word, value]) => [
    WORDS[word] ?? word,
    Number(value),
  ]);
  const rest = clean.replace(/([a-z]+)\s*(\d+)/g, "").replace(/[\s,:]/g, "");
  if (!pairs.length || rest) throw new TextError("write 3,5 or T37:2 or offset 96 or warp 2");
  const [word] = pairs[0];
  const group =
    page.model.groups.find(({ label, place }) => [label, place].includes(word)) ??
    page.model.groups.find(({ id }) => id === word);
  if (pairs.length === 1 && group) return findGroup(group, pairs[0][1]);
  const coordinates = Object.fromEntries(
    pairs.map(([word, value]) => [word === "column" ? "col" : word, value]),
  );
  return findPlace(coordinates, "element");
}

function findGroup(group, value) {
  if (group.id === "bank") return findBank(group, value);
  if (value >= group.size) throw new TextError(`there is no ${group.label} ${value}`);
  if (page.model.memory === TENSOR_MEMORY && group.id !== "block") {
    const [name, size] = { warp: ["row", 32], register: ["col", 1] }[group.id] ?? ["row", 1];
    return findPlace({ [name]: size * value }, group.id);
  }
  if (group.id in page.model.dims) return findPlace({ [group.id]: value }, group.id);
  if (group.id === "thread") return findThread(undefined, value, undefined);
  if (group.id === "chunk")
    return findSlot(Math.ceil((8 * value * page.model.chunkBytes) / page.model.bits), group.id);
  return findSlot(value * page.model.perLine, group.id);
}

/** Find the first element in a bank, which may lie in others, too. */
function findBank(group, bank) {
  const key = Math.floor(bank / page.model.banksOfElement);
  if (key >= group.size) throw new TextError(`there is no bank ${bank}`);
  return findSlot(Math.ceil((key * page.model.banksOfElement * page.model.bankBits) / page.model.bits), group.id);
}

function findSlot(slot, scope) {
  return findPlace({ offset: page.model.offsetAt(slot) ?? page.model.size("offset") }, scope);
}

function findPlace(coordinates, scope) {
  for (const [name, value] of Object.entries(coordinates)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(page.model.dims, name)) throw new TextError(`this layout has no ${name}`);
    if (Number(value) >= page.model.size(name))
      throw new TextError(`${name} must be in 0..${page.model.size(name) - 1}, got ${value}`);
  }
  const numbers = Object.fromEntries(
    Object.entries(coordinates).map(([name, value]) => [name, Number(value ?? 0)]),
  );
  const place = page.model.placeOf(numbers);
  const element = page.model.element(place);
  if (!element) throw new TextError("no element is stored there");
  return { element, scope, place };
}

/** Find what the search box names: pin it and bring it into sight. */
function search(event) {
  event.preventDefault();
  const box = control("search");
  report("search", () => {
    const { element, scope, place } = find(box.value);
    change(
      () => {
        state.pins = [{ scope, element }];
        state.slice = { ...state.slice, at: state.slice.at.map((_, d) => element[d]) };
      },
      () => {
        showControls();
        showGrids();
      },
    );
    if (cyclesShown()) return;
    const cell = page.planes.cell(element);
    if (cell) Object.assign(page.views.tensor, { cursor: cell }).reveal(...cell);
    const there = place ?? page.model.inverse.place(element);
    const its = there && page.views.hardware.source.plane.cell(there);
    if (its) page.views.hardware.reveal(...its);
  });
}

/** Do something; show under a box what is wrong with its text. */
function report(id, action) {
  const [box, note] = [byId(id), byId(`${id}-error`)];
  let message = "";
  try {
    action();
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    message = error.message;
  }
  note.textContent = message;
  if (message) box.setAttribute("aria-invalid", "true");
  else box.removeAttribute("aria-invalid");
  return !message;
}

// -- controls -------------------------------------------------------------------------------------

function fillSelect(id, options, value) {
  const select = control(id);
  select.replaceChildren(
    ...options.map(([key, text]) => make("option", { value: key, textContent: text })),
  );
  select.value = value;
}

/** Set all controls to the state. */
function showControls() {
  const { spec } = page.model;
  byId("name").textContent = spec.name;
  byId("type").textContent = spec.type;
  showTitles();
  document.title = `${DATA.dump?.name ?? spec.title ?? spec.name} · tt-layout`;
  const dims = dimIds(page.model.shape.length).map((id, d) => [id, id === `dim${d}` ? id : `${id} (dim${d})`]);
  const groups = page.model.groups.map(({ id, label }) => [id, label]);
  const from = groups.map(([id, label]) => [`from:${id}`, `source ${label}`]);
  const origins = page.movement ? [["moves", "what moves"], ...from] : [];
  const matrixGroups = MATRIX_COLOURS.map((id) => [id, id]);
  const isMultiplied = Boolean(multiplicationShown());
  const colours = isMultiplied
    ? matrixGroups
    : [...origins, ...groups, ...dims, ["none", "none"]];
  fillSelect("colour", colours, state.colour);
  const scopes = isMultiplied ? matrixGroups : groups;
  fillSelect("scope", [["element", "element"], ...scopes], state.scope);
  fillSelect("view", viewsThere(), state.view);
  byId("view-label").hidden = viewsThere().length < 2;
  byId("colour").parentElement.hidden = cyclesShown() || Boolean(sectorsShown());
  const others = comparable().map((k) => [k, comparableName(k)]);
  fillSelect("compare", [[-1, "nothing"], ...others], state.compare);
  byId("compare-label").hidden = !others.length || Boolean(DATA.playground && !state.edit);
  byId("banks-label").hidden = ![page.model, page.other].some((m) => m?.memory === SHARED);
  const counts = bankCounts().map((count) => [count, count]);
  fillSelect("banks", counts, drawnMemory().banks);
  showSlice();
  showComparison();
  showAccess();
  showReduction();
  showEditor();
  showLayouts();
  showKernel();
  showReport();
  showMovement();
  showSource();
}

/** Show what stands above a figure of the same, too: attributes, or what is multiplied. */
function showTitles() {
  const multiplication = multiplicationShown();
  const against = multiplication ? null : page.other;
  byId("attribute").textContent = multiplication?.title[0] ?? page.model.spec.attribute;
  byId("against").textContent = against?.spec.attribute ?? "";
  byId("against-line").hidden = !against;
  const signs = against && page.movement ? ["- ", "+ "] : ["", ""];
  ["sign", "other-sign"].forEach((id, k) => (byId(id).textContent = signs[k]));
}

/** Show the box in which another layout is chosen, where there is another. */
function showLayouts() {
  byId("layouts").hidden = DATA.layouts.length < 2 || Boolean(DATA.playground);
  page.layoutBox.show(state.layout, choosableLayouts());
}

/** Show the controls of a tensor of rank above 2. */
function showSlice() {
  const box = byId("slice");
  box.hidden = page.model.shape.length < 3;
  if (box.hidden) return;
  const { rows, columns, at } = state.slice;
  const dims = page.model.shape.map((_, d) => [d, `dim${d}`]);
  fillSelect("slice-rows", dims, rows);
  fillSelect("slice-columns", dims, columns);
  const further = page.model.shape.flatMap((size, d) =>
    d === rows || d === columns ? [] : [sliceControl(d, size, at[d])],
  );
  const kept = document.activeElement?.id;
  byId("slice-at").replaceChildren(...further);
  if (kept?.startsWith("slice-at-")) byId(kept)?.focus();
}

function sliceControl(d, size, value) {
  const set = (event) => {
    const requested = Math.max(0, Math.min(size - 1, Math.round(Number(event.target.value)) || 0));
    change(
      () => (state.slice = { ...state.slice, at: state.slice.at.with(d, requested) }),
      () => {
        slider.value = number.value = String(requested);
        showGrids();
      },
    );
  };
  const slider = make("input", {
    type: "range",
    id: `slice-at-${d}`,
    min: 0,
    max: size - 1,
    value,
    oninput: set,
  });
  const number = make("input", { type: "number", min: 0, max: size - 1, value, onchange: set });
  number.setAttribute("aria-label", `dim${d}, number`);
  return make("label", {}, `dim${d} `, slider, number);
}

/** Swap the two dimensions shown where the same one is chosen for both. */
function chooseAxis(axis, against) {
  const requested = Number(control(`slice-${axis}`).value);
  const slice = { ...state.slice, [axis]: requested };
  if (slice.rows === slice.columns) slice[against] = state.slice[axis];
  change(() => (state.slice = slice), rebuild);
}

/** Say how two layouts differ. */
function showComparison() {
  const box = byId("comparison");
  box.hidden = !page.other || Boolean(page.access);
  if (box.hidden) return;
  byId("comparison-title").textContent = `Compared with ${page.other.spec.name}`;
  byId("comparison-words").replaceChildren(
    ...differencesInWords().map((text) => make("li", { textContent: text.replaceAll("->", "→") })),
  );
}

function differencesInWords() {
  if (!page.movement)
    return [
      "The layouts are in different memory spaces: selections are linked, but nothing is compared.",
    ];
  const changes = changesInWords(page.model.layout, page.other.layout);
  if (!changes.length) return ["The same function: nothing moves."];
  const more = changes.length - MAX_CHANGES;
  const bits = more > 0 ? [...changes.slice(0, MAX_CHANGES), `${counted(more, "more bit")} ${more === 1 ? "differs" : "differ"}`] : changes;
  return [`${page.movement.moved} of ${counted(product(page.model.shape), "element")} move`, ...bits];
}

/** Say what the access between two layouts costs. */
function showAccess() {
  page.accessView.show(page.access, state.isMarked);
  if (!page.access) return;
  const target = targetFor(page.access.register);
  const lanes = page.access.register.size("lane");
  const sameLanes = DATA.targets.filter((one) => ofLanes(one, lanes).lanes === ofLanes(target, lanes).lanes);
  const options = sameLanes.map(({ name, title }) => [name, `${name}, ${title}`]);
  fillSelect("access-target", options, target.name);
  control("access-kind").value = state.isStore ? "store" : "load";
  control("access-shown").checked = state.isMarked;
  if (page.access.cost) page.accessView.showCycle(page.access.cost, page.cycle, page.playing);
}

/** Say in what order a sum is added. */
function showReduction() {
  const register = page.model.memory === REGISTERS ? page.model : undefined;
  page.reductionView.show(page.model, page.other, targetFor(register));
}

/** Mark the next cycle, or the one before; all of them stand before the first. */
function stepCycle(by) {
  const count = wavefrontCount(page.access.cost) + 1;
  page.cycle = ((page.cycle + 1 + by + count) % count) - 1;
  page.accessView.showCycle(page.access.cost, page.cycle, page.playing);
  showGrids();
}

/** Show the cycles of an access one after the other, or stop. */
function play() {
  if (page.playing) stopPlaying();
  else {
    page.playing = setInterval(() => stepCycle(1), CYCLE_TIME);
    stepCycle(1);
  }
  page.accessView.showCycle(page.access.cost, page.cycle, page.playing);
}

function stopPlaying() {
  clearInterval(page.playing);
  page.playing = null;
}

function stepBy(by) {
  stopPlaying();
  stepCycle(by);
}

function chooseLayout(k) {
  if (k === state.layout) return;
  change(
    () =>
      Object.assign(state, {
        layout: k,
        edit: null,
        compare: state.compare === k ? state.layout : state.compare,
        colour: "",
        view: null,
        lit: null,
      }),
    rebuild,
  );
}

// -- editing --------------------------------------------------------------------------------------

/** Fill the boxes of the editor, but for the one that is being written in. */
function showEditor() {
  const writing = document.activeElement;
  const readable = isReadable(page.model.spec.attribute);
  setBox("edit-attribute", page.model.spec.attribute, writing);
  setBox("edit-type", page.model.spec.type, writing);
  control("edit-type").disabled = !readable;
  control("reset").disabled = !state.edit;
  const names = page.model.spec.ins.map(([name]) => name);
  const boxes = byId("edit-bases");
  if (boxes.dataset.names !== names.join()) {
    boxes.dataset.names = names.join();
    boxes.replaceChildren(...names.map(basesBox));
  }
  page.model.spec.ins.forEach(([name, vectors]) => setBox(`edit-${name}`, show(vectors), writing));
}

function setBox(id, text, writing) {
  const box = control(id);
  if (box === writing) return;
  box.value = text;
  box.removeAttribute("aria-invalid");
  byId(`${id}-error`).textContent = "";
}

/** Make a box for the basis vectors of an input. */
function basesBox(name) {
  const id = `edit-${name}`;
  const box = make("textarea", {
    id,
    rows: 1,
    spellcheck: false,
    oninput: () => later(() => editBases(name)),
  });
  box.setAttribute("aria-describedby", `${id}-error`);
  const note = make("p", { id: `${id}-error`, className: "error" });
  note.setAttribute("role", "alert");
  return make(
    "div",
    { className: "field" },
    make("label", { htmlFor: id, textContent: name }),
    box,
    note,
  );
}

/** Do something when the writer pauses. */
function later(action) {
  clearTimeout(page.waiting);
  page.waiting = setTimeout(action, EDIT_DELAY);
}

function editBases(name) {
  report(`edit-${name}`, () => {
    const bases = Object.fromEntries(page.model.spec.ins);
    bases[name] = parseBases(name, control(`edit-${name}`).value, page.model.shape);
    // Bases are of the layout in the file; an attribute that was edited first is kept as its type.
    const original = DATA.layouts[state.layout];
    const ins = page.model.spec.ins.map(([own]) => [own, bases[own]]);
    const text = attributeOf(page.model.memory, ins);
    if (sameShape(original, page.model.spec)) change(() => (state.edit = { bases }), rebuild);
    else
      change(() => (state.edit = { attribute: readOrFail(text), type: page.model.spec.type }), rebuild);
  });
}

/** Return an attribute text if it can be read over the current type. */
function readOrFail(text) {
  readLayout(text, page.model.spec.type, page.model.spec.release);
  return text;
}

/** Follow an edit of the attribute or of the type; an error is shown under the box at fault. */
function editAttribute(id) {
  report(id, () => {
    const attribute = control("edit-attribute").value;
    const type = control("edit-type").value;
    const original = DATA.layouts[state.layout];
    const read = readNotation(attribute, type, page.model.spec.release, lanesOf(original));
    if (read.memory !== original.memory)
      throw new TextError(`this layout is of ${page.model.memory}`);
    change(() => (state.edit = { attribute, type }), rebuild);
  });
}

// -- the address ------------------------------------------------------------------------------------

/** Change the state, the address, and what is shown. */
function change(act, display = rebuild) {
  act();
  display();
  writeAddress();
}

function writeAddress() {
  if (DATA.dump?.isReadHere) return; // an address has no room for a dump
  const { edit, slice } = state;
  const isUsual =
    show([slice.rows, slice.columns, slice.at]) ===
    show(Object.values(checkedSlice(null, page.model.shape)));
  const isReadHere = Boolean(dumpModules()[state.module]?.isReadHere); // its layouts have numbers of this visit
  const parts = {
    l: isReadHere ? "" : state.layout || (DATA.dump ? 0 : ""),
    ...(DATA.playground
      ? addressOfTexts()
      : { a: edit?.attribute ?? "", t: edit?.type ?? "" }),
    b: edit?.bases ? JSON.stringify(edit.bases) : "",
    c: isReadHere || state.colour === defaultColour() ? "" : state.colour,
    s: state.scope === "element" ? "" : state.scope,
    p: state.pins.map(({ scope, element }) => `${scope}:${element.join(",")}`).join(";"),
    x: isReadHere || state.compare === usualCompare() ? "" : state.compare < 0 ? "none" : state.compare,
    d: isUsual ? "" : [slice.rows, slice.columns, ...slice.at].join(","),
    k: state.banks ?? "",
    w: state.isStore ? "store" : "",
    g: isUsualTarget() ? "" : state.target,
    m: state.isMarked ? "" : "none",
    v: state.view === usualView() ? "" : state.view,
    q: state.lit ? [state.lit.name, ...state.lit.cell].join(",") : "",
    n: state.line ?? "",
    y: state.isTied ? "assembly" : "",
    u: state.line === null && state.module !== usualModule() ? state.module : "",
  };
  const given = Object.entries(parts).filter(([, value]) => value !== "");
  const fragment = new URLSearchParams(given).toString();
  history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
}

function isUsualTarget() {
  return !page.access || targetFor(page.access.register) === usualTarget(page.access.register);
}

/** Return a number of the address if it is an index below `count`. */
function index(text, count, otherwise) {
  const value = Number(text ?? NaN);
  return Number.isInteger(value) && value >= 0 && value < count ? value : otherwise;
}

/** Set the module, and the line of the dump, from the parts of the address. */
function readLine(parts) {
  const count = DATA.dump?.text.split("\n").length ?? 0;
  const line = index(parts.get("n"), count + 1, DATA.dump?.line ?? null);
  const module = index(parts.get("u"), dumpModules().length, usualModule());
  if (DATA.dump) enterModule(line ? moduleOfLine(line) : module);
  if (parts.has("l") || !dumpModules().length) state.line = line || null;
  else followLine(line || usualLine(state.module));
}

/** Set the state from the address; what it lacks, or has wrong, is as usual. */
function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const numbers = (text) =>
    text.split(",").map((part) => Math.max(0, Math.floor(Number(part)) || 0));
  if (DATA.playground) takeAddress(parts);
  state.layout = index(parts.get("l"), DATA.layouts.length, 0);
  state.compare = parts.get("x") === "none" ? -1 : index(parts.get("x"), DATA.layouts.length, null);
  state.edit = readEdit(parts);
  state.colour = parts.get("c") ?? "";
  state.scope = parts.get("s") ?? "element";
  state.banks = bankCounts().find((count) => String(count) === parts.get("k")) ?? null;
  state.isStore = parts.get("w") === "store";
  state.target = DATA.targets.find(({ name }) => name === parts.get("g"))?.name ?? "";
  state.isMarked = parts.get("m") !== "none";
  state.isTied = parts.get("y") === "assembly";
  state.lit = readLit(parts.get("q"));
  state.pins = (parts.get("p") ?? "")
    .split(";")
    .filter(Boolean)
    .map((text) => {
      const [scope, element = ""] = text.split(":");
      return { scope, element: numbers(element) };
    });
  const [rows, columns, ...at] = parts.has("d") ? numbers(parts.get("d")) : [];
  state.slice = parts.has("d") ? { rows, columns, at } : null;
  readLine(parts);
  state.view = ["layout", "tile", "mma", "cycles", "sectors"].find((view) => view === parts.get("v")) ?? null;
}

function readEdit(parts) {
  if (parts.has("a") && !DATA.playground)
    return { attribute: parts.get("a"), type: parts.get("t") ?? DATA.layouts[state.layout].type };
  if (!parts.has("b")) return null;
  const spec = DATA.layouts[state.layout];
  try {
    const given = JSON.parse(parts.get("b"));
    const sizes = spec.outs.map(([, size]) => size);
    const names = spec.ins.map(([name]) => name).filter((name) => given[name] !== undefined);
    return {
      bases: Object.fromEntries(
        names.map((name) => [name, parseBases(name, show(given[name]), sizes)]),
      ),
    };
  } catch (error) {
    if (!(error instanceof TextError || error instanceof SyntaxError || error instanceof TypeError))
      throw error;
    return null;
  }
}

// -- theme and keys ---------------------------------------------------------------------------------

/** Remember a preference beyond this visit, where the browser allows it. */
function remember(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[
    theme
  ];
}

function nextTheme() {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  setTheme(next);
  remember("tt-layout-theme", next);
  showGrids();
}

function onKey(event) {
  const isWriting =
    /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range";
  if (event.key === "/" && !isWriting) {
    event.preventDefault();
    control("search").select();
    byId("search").focus();
  } else if (event.key === "Escape") {
    if (isWriting) return event.target.blur();
    page.hovered = null;
    change(() => Object.assign(state, { pins: [], lit: null }), showSelection);
  }
  return undefined;
}

function connect() {
  const choose = (id, act, display = rebuild) => onChoice(id, (value) => change(() => act(value), display));
  choose("colour", (value) => (state.colour = value), showGrids);
  choose("scope", (value) => (state.scope = value), showSelection);
  choose("banks", (value) => (state.banks = Number(value)), rebuild);
  choose(
    "compare",
    (value) => Object.assign(state, { compare: Number(value), colour: "" }),
    rebuild,
  );
  choose("access-kind", (value) => (state.isStore = value === "store"), rebuild);
  choose("access-target", (value) => (state.target = value), rebuild);
  onChoice("reduction-axis", (value) => {
    page.reductionView.axis = Number(value);
    showReduction();
  });
  byId("access-shown").onchange = () =>
    change(
      () => (state.isMarked = control("access-shown").checked),
      () => {
        showAccess();
        showGrids();
      },
    );
  byId("cycle-back").onclick = () => stepBy(-1);
  byId("cycle-on").onclick = () => stepBy(1);
  byId("cycle-play").onclick = play;
  byId("slice-rows").onchange = () => chooseAxis("rows", "columns");
  byId("slice-columns").onchange = () => chooseAxis("columns", "rows");
  byId("search-form").onsubmit = search;
  byId("theme").onclick = nextTheme;
  byId("skip").onclick = (event) => {
    event.preventDefault();
    (allViews().find(({ pane }) => !pane.hidden)).stage.focus();
  };
  byId("reset").onclick = () => change(() => (state.edit = null), rebuild);
  byId("edit-attribute").oninput = () => later(() => editAttribute("edit-attribute"));
  byId("edit-type").oninput = () => later(() => editAttribute("edit-type"));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => {
    readAddress();
    rebuild();
  });
  window.addEventListener("resize", arrangePanes);
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", showGrids);
  window.addEventListener("beforeprint", () => turnToPaper(true));
  window.addEventListener("afterprint", () => turnToPaper(false));
}

function start() {
  setTheme(remember("tt-layout-theme") ?? "auto");
  const handlers = { hover, leave, pin };
  page.views = Object.fromEntries(
    ["tensor", "hardware", "other"].map((id) => [id, new GridView(byId(id), handlers)]),
  );
  page.cyclesView = new GridView(byId("cycles"), handlers);
  page.suggestedView = new GridView(byId("suggested"), handlers);
  page.matrix = new MatrixView(byId("matrix-table"), byId("matrix-sum"));
  page.accessView = new AccessView(byId("access"));
  page.reductionView = new ReductionView(byId("reduction"));
  page.layoutBox = new LayoutBox(control("layout-filter"), byId("layout-list"), chooseLayout);
  connectMultiplication();
  if (DATA.dump) addPasses();
  connectDump();
  connect();
  if (DATA.playground) connectPlayground();
  readAddress();
  rebuild();
  allViews().forEach((view) => view.paint());
  performance.mark("tt-layout-drawn");
}

start();
