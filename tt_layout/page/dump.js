// The dump's text and the program's beside the grids, and what their lines lead to.

/** Show the text of the dump, mark the lines of the layout, and reveal the one that is chosen. */
function showSource() {
  if (!DATA.dump) return;
  byId("source-title").textContent = DATA.dump.name;
  const { registers, pressure } = dumpModules()[state.module] ?? {};
  const waits = ofDumps.waitsByLine?.() ?? new Map();
  const beside = [...(registers?.length ? ["live registers of a thread"] : []), ...(waits.size ? ["cycles of the critical path"] : [])];
  const about = [`beside the line: ${beside.join(", ")}`, ...(pressure ? [pressure] : [])];
  byId("source-about").textContent = about.join("; ");
  byId("source-about").hidden = !beside.length;
  page.dumpText.show([[1, DATA.dump.text]]);
  showCostMap();
  const { line, uses } = DATA.layouts[state.layout];
  const isNew = page.dumpText.found !== state.line;
  page.dumpText.mark(new Set([line, ...uses]), state.line, waits);
  if (isNew && state.line !== null) page.dumpText.reveal(state.line);
  showProgram();
  ofDumps.showAssembly?.();
}

/** Show the program's text at the line that the dump's comes from. */
function showProgram() {
  const location = state.line === null ? null : movementOn(state.line)?.location;
  const { programs } = DATA.dump;
  const isKnown = location !== null && location !== undefined && Object.hasOwn(programs, location.file);
  const file = isKnown ? location.file : Object.keys(programs)[0];
  byId("program").hidden = file === undefined;
  if (file === undefined) return;
  byId("program-title").textContent = file;
  page.programText.show(programs[file]);
  const isNew = page.programText.found !== location?.line;
  page.programText.mark(new Set(linesOfProgram(file)), location?.file === file ? location.line : null, ofDumps.waitsByLine?.(file));
  if (isNew && page.programText.found) page.programText.reveal(page.programText.found);
}

/** Return the lines of a program that move data in the module that is shown. */
function linesOfProgram(file) {
  const movements = dumpModules()[state.module]?.movements ?? [];
  return movements.flatMap(({ location }) => (location?.file === file ? [location.line] : []));
}

/** Show what comes from a line of the program: one data movement after the other. */
function selectProgramLine(line) {
  const file = byId("program-title").textContent;
  const own = dumpModules()[state.module].movements.filter(
    ({ location }) => location?.file === file && location.line === line,
  );
  if (!own.length) return;
  const at = own.findIndex((movement) => movement.line === state.line);
  selectLine(own[(at + 1) % own.length].line);
}

/** Return the layouts that each line of the dump defines or uses. */
const usersOfLines = once(() => {
  /** @type {Map<number | null, number[]>} */
  const users = new Map();
  DATA.layouts.forEach((spec, k) =>
    new Set([spec.line, ...spec.uses]).forEach((line) => {
      if (!users.has(line)) users.set(line, []);
      users.get(line).push(k);
    }),
  );
  return users;
});

/** Return the layouts that a line defines or uses. */
function layoutsOfLine(line) {
  return usersOfLines().get(line) ?? [];
}

/** Return the text of a line, in which the names of its layouts lead to these. */
function piecesOfLine(line, text) {
  const byName = Map.groupBy(layoutsOfLine(line), (k) => shortName(DATA.layouts[k]));
  return text.split(/(#[\w$.-]+)/).map((part) => {
    const ids = byName.get(part);
    return ids ? layoutLink(line, part, ids) : part;
  });
}

function layoutLink(line, name, ids) {
  const node = make("span", {
    className: "chip",
    textContent: name,
    title: ids.map((k) => DATA.layouts[k].type).join(" or "),
  });
  node.onclick = (event) => {
    event.stopPropagation();
    change(() => {
      state.line = line;
      showOneOf(ids);
    });
  };
  return node;
}

/** Return the registers that are live behind each line of the dump that changes their number. */
const registersByLine = once(() => new Map(dumpModules().flatMap(({ registers }) => registers ?? [])));

/** Return what is shown before a line: the live registers where their number changes. */
function gutterOfLine(line) {
  const live = registersByLine().get(line);
  return live === undefined ? "" : String(live);
}

/** Return the first line of the map and their count: of several modules those of the one shown. */
function rangeOfMap(movements) {
  const { first } = dumpModules()[state.module] ?? { first: 1 };
  if (dumpModules().length < 2) return [1, DATA.dump.text.split("\n").length];
  return [first, 1 + Math.max(first, ...movements.map(({ line }) => line)) - first];
}

/** Show where in the text data movements cost something: the more, the darker. */
function showCostMap() {
  const box = byId("cost-map");
  const { movements } = dumpModules()[state.module] ?? { movements: [] };
  const most = Math.max(1, ...movements.map(({ cycles }) => cycles));
  const [first, count] = rangeOfMap(movements);
  const marks = movements
    .filter(({ cycles }) => cycles > 0)
    .map(({ line, cycles }) => {
      const node = make("i", { title: `line ${line}`, onclick: () => selectLine(line) });
      node.style.top = `${(100 * (line - first)) / count}%`;
      node.style.opacity = String(0.25 + (0.75 * cycles) / most);
      return node;
    });
  box.replaceChildren(...marks);
}

/** Show one of some layouts: the one after that which is shown. */
function showOneOf(ids) {
  const next = ids[(ids.indexOf(state.layout) + 1) % ids.length];
  Object.assign(state, { layout: next, edit: null, compare: -1, colour: "" });
}

/** Show what a line of the dump is about: its data movement, or one of its layouts. */
function selectLine(line) {
  change(() => {
    enterModule(moduleOfLine(line));
    followLine(line);
  });
}

/** Set the state to what a line is about. */
function followLine(line) {
  state.line = line;
  if (line === null) return;
  const movement = movementOn(line);
  const requested = movement && stateOf(movement);
  const results = resultsOf(multiplicationOn(line));
  Object.assign(state, { view: null, lit: null });
  if (results.length) showOneOf(results);
  else if (requested) Object.assign(state, requested);
  else if (layoutsOfLine(line).length) showOneOf(layoutsOfLine(line));
}

/** Show what is there for dumps alone, where there is one. */
function showDump() {
  byId("dump").hidden = !DATA.dump;
  byId("body").classList.toggle("dumped", Boolean(DATA.dump));
  document.documentElement.classList.toggle("whole", Boolean(DATA.dump));
}

/** Connect what is there for dumps alone. */
function connectDump() {
  showDump();
  page.dumpText = new TextPane(byId("source-lines"), "line", {
    choose: selectLine,
    pieces: piecesOfLine,
    gutter: gutterOfLine,
  });
  page.programText = new TextPane(byId("program-lines"), "program-line", {
    choose: selectProgramLine,
    pieces: (_line, text) => [text],
    gutter: () => "",
  });
  ofDumps.connectAssembly?.();
  byId("report").addEventListener("keydown", onReportKey);
  onChoice("module", (value) => chooseModule(Number(value)));
}
