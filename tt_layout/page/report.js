// The findings and data movements of a dump, and what each of them shows in the grids.

/** Return the modules of the dump; a page without one has none. */
function dumpModules() {
  return DATA.dump?.modules ?? [];
}

/** Return whether a line is in a module, or among the aliases before it. */
function isInModule(line, index) {
  const modules = dumpModules();
  return line >= (modules[index]?.first ?? 1) && line < (modules[index + 1]?.first ?? Infinity);
}

/** Return the indices of modules of the same kernels that follow each other: what passes made of these. */
function kernelsInTurn() {
  const names = dumpModules().map(({ kernels }) => show(kernels));
  return runs(names).map(([start, end]) => Array.from({ length: end - start }, (_, k) => start + k));
}

/** Return the indices of the modules of the same kernels as one. */
function modulesBeside(index) {
  return kernelsInTurn().find((group) => group.includes(index)) ?? [];
}

/**
 * Return the module of a dump that is shown at first: that of the worst kernel; of one that passes
 * changed, the last that moves data.
 */
function usualModule() {
  const modules = dumpModules();
  const moving = (group) => group.filter((k) => modules[k].movements.length);
  const found = kernelsInTurn().flatMap((group) =>
    group.some((k) => modules[k].pass) ? moving(group).slice(-1) : moving(group),
  );
  if (!found.length) return Math.max(0, modules.length - 1);
  return found.reduce((worst, k) => (isMore(modules[worst].rank, modules[k].rank) ? worst : k));
}

function moduleOfLine(line) {
  return Math.max(0, dumpModules().findLastIndex(({ first }) => first <= line));
}

const movementsByLine = once(
  () => new Map(dumpModules().flatMap(({ movements }) => movements.map((one) => [one.line, one]))),
);

/** Return the data movement on a line of the dump, if there is one. */
function movementOn(line) {
  return movementsByLine().get(line);
}

/** Return the line that a page opens on: the first finding's, or that of what costs most. */
function usualLine(index) {
  const { findings, movements } = dumpModules()[index];
  const isDrawn = ({ layouts }) => layouts.some((k) => k !== null);
  const lines = findings.flatMap((finding) => finding.lines);
  const found = lines.find((line) => movements.some((m) => m.line === line && isDrawn(m)));
  if (found) return found;
  const drawn = movements.filter(isDrawn);
  const order = (m) => [Number(m.inLoop), m.weight, m.layouts.filter((k) => k !== null).length];
  const best = drawn.reduce((most, m) => (most && !isMore(order(m), order(most)) ? most : m), null);
  return best?.line ?? null;
}

function isMore(a, b) {
  const k = a.findIndex((value, at) => value !== b[at]);
  return k >= 0 && a[k] > b[k];
}

/** Return the parts of the state by which a data movement is seen. */
function stateOf(movement) {
  const [from, to] = movement.layouts;
  const memory = (k) => (k === null ? null : DATA.layouts[k].memory);
  const usual = { edit: null, compare: -1, colour: "", isStore: false };
  const shows = (layout, more = {}) => ({ ...usual, layout, ...more });
  const single = to ?? from;
  if (single === null) return null;
  if (from === null || to === null) return shows(single);
  const [source, target] = [DATA.layouts[from], DATA.layouts[to]];
  const isOneTensor = sameShape(source, target) && source.bits === target.bits;
  if (!isOneTensor) return shows(memory(to) === REGISTERS ? from : to);
  if (memory(from) === SHARED && memory(to) === REGISTERS) return shows(from, { compare: to });
  if (memory(from) === REGISTERS && memory(to) === SHARED)
    return shows(to, { compare: from, isStore: true });
  return shows(from, { compare: to, colour: "origin" });
}

/** What only pages that embed a dump have: its time, its assembly. @type {Record<string, Function>} */
const ofDumps = {};

// -- the list -----------------------------------------------------------------------------------

/** Fill the list of findings and the table of data movements, once for each module. */
function showReport() {
  const box = byId("report");
  if (!dumpModules().length) return;
  if (box.dataset.module !== String(state.module)) fillReport(box);
  for (const node of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll("[data-line]")))
    node.classList.toggle("found", Number(node.dataset.line) === state.line);
  keepOneStop(box);
  box.querySelector(".found")?.scrollIntoView({ block: "nearest" });
}

function fillReport(box) {
  const { findings, notes = [], movements } = dumpModules()[state.module];
  box.dataset.module = state.module;
  byId("findings").replaceChildren(
    ...findings.map(findingRow),
    ...notes.map((note) => findingRow({ ...note, kind: "note", share: "" })),
  );
  byId("findings-title").textContent = findings.length
    ? `Findings (${findings.length})`
    : "No findings";
  ofDumps.showTimes?.();
  byId("fits").replaceChildren(...(dumpModules()[state.module].fits ?? []).map((text) => make("li", { textContent: text })));
  const functions = new Set(movements.map((movement) => movement.function));
  byId("movements").replaceChildren(
    ...movements.flatMap((movement, k) => {
      const isFirst = movement.function !== movements[k - 1]?.function;
      return [
        ...(functions.size > 1 && isFirst ? [functionRow(movement.function)] : []),
        movementRow(movement),
      ];
    }),
  );
}

function lineButton(line, text) {
  return make("button", {
    type: "button",
    className: "line-link",
    tabIndex: -1,
    textContent: text,
    onclick: () => selectLine(line),
  });
}

function findingRow({ lines, message, kind, share }) {
  const shown = lines.slice(0, MAX_FINDING_LINES).map((line) => {
    const button = lineButton(line, `line ${line}`);
    const item = make("span", {}, button);
    item.dataset.line = line;
    return item;
  });
  const more = lines.length - shown.length;
  const location = movementOn(lines[0])?.location;
  const from = location && `(${location.file.split("/").at(-1)}:${location.line})`;
  const which = [more > 0 && `and ${more} more`, from].filter(Boolean).join(" ");
  const about = [which, share].filter(Boolean).join(", ");
  return make(
    "li",
    { className: kind },
    ...shown,
    make("span", { textContent: `${about && ` ${about}`}: ${message}` }),
  );
}

/** Say why a data movement has no cost. */
function unknownCost() {
  if (dumpModules()[state.module].isReadHere) return "What it costs is worked out by tt-layout page FILE, not in the page.";
  return "No analysis determines what it costs.";
}

/**
 * Return what a module is called, and what its pass changed of the cycles.
 *
 * @param {DumpModule} module
 * @param {number} index
 */
function moduleInWords({ number, pass, stage, line, changed: own }, index) {
  const beside = modulesBeside(index);
  const cyclesOf = (k) => beside.includes(k) && dumpModules()[k].movements.reduce((sum, { cycles }) => sum + cycles, 0);
  const [before, after] = [cyclesOf(index - 1), cyclesOf(index)];
  const isKnown = before && after && before !== after && !dumpModules()[index].isReadHere;
  const [from, to] = own ?? (isKnown ? [before, after] : []);
  const changed = to === undefined ? "" : `, ${from ?? "no layouts"} → ${counted(to, "cycle")}`;
  const name = stage && !own ? `${stage} ${pass}` : pass;
  return `${number}: ${name ?? `line ${line}`}${changed}`;
}

function functionRow(name) {
  const cell = make("th", { colSpan: 3, textContent: name ? `@${name}` : "in no function" });
  cell.scope = "rowgroup";
  return make("tr", {}, cell);
}

/** Return from where to where data moves; an allocation without a value only has a place. */
function endsInWords({ from, to }) {
  return from === null ? to : `${from} → ${to}`;
}

function movementRow(movement) {
  const { line, name, type, bytes, runs, inLoop, cost } = movement;
  const times = runs === "1" ? "" : `, ×${runs}`;
  const about = [
    `${name.replace(/^\w+\./, "")} ${type ?? ""}${times}`,
    endsInWords(movement),
    ...(cost === null ? [] : [cost]),
  ];
  const row = make(
    "tr",
    { className: inLoop ? "in-loop" : "", onclick: () => selectLine(line) },
    make("td", {}, lineButton(line, String(line))),
    make("td", {}, ...about.map((textContent) => make("div", { textContent }))),
    make("td", { className: "amount", textContent: bytes || "–" }),
  );
  row.dataset.line = line;
  return row;
}

/** Let the Tab key stop once in the list: arrows move in it. */
function keepOneStop(box) {
  const buttons = [...box.querySelectorAll("button")];
  const current = buttons.find((node) => node.closest(".found")) ?? buttons[0];
  for (const node of buttons) node.tabIndex = node === current ? 0 : -1;
}

/** Move in the report: up and down between its lines, right to the words of the line that is chosen. */
function onReportKey(event) {
  const words = byId("movement-words");
  if (event.key === "ArrowRight" && words.offsetParent) {
    words.querySelector("summary").focus();
    event.preventDefault();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...byId("report").querySelectorAll("button")];
  const next = buttons[buttons.findIndex((node) => node === document.activeElement) + step];
  if (next) {
    buttons.forEach((node) => (node.tabIndex = node === next ? 0 : -1));
    next.focus();
  }
  event.preventDefault();
}

// -- the data movement that is chosen -----------------------------------------------------------

const MAX_FINDING_LINES = 6;
const UNSAID_FACTS = ["text", "instruction", "sector_bytes"];

/** Show what is known of the data movement that is chosen. */
function showMovement() {
  const box = byId("movement");
  const movement = state.line === null ? undefined : movementOn(state.line);
  box.hidden = !movement;
  if (!movement) return;
  const { line, name, type, runs, cost, facts } = movement;
  const times = runs === "1" ? "" : `, runs ${runs} times`;
  byId("movement-title").textContent = `Line ${line}: ${name}`;
  byId("movement-what").textContent = `${type ?? ""}, ${endsInWords(movement)}${times}`;
  const { findings, notes = [] } = dumpModules()[state.module];
  const found = findings.filter(({ lines }) => lines.includes(line));
  byId("movement-cost").textContent = cost ?? unknownCost();
  byId("movement-cost").hidden = found.some(({ message }) => message.includes(cost));
  byId("movement-findings").replaceChildren(
    ...found.map(({ message, advice }) =>
      make(
        "li",
        {},
        message,
        ...adviceNodes(advice),
      ),
    ),
    ...notes
      .filter(({ lines }) => lines.includes(line))
      .map(({ message }) => make("li", { className: "note", textContent: message })),
  );
  const numbers = Object.entries(facts).filter(
    ([key, value]) => typeof value === "number" && !UNSAID_FACTS.includes(key),
  );
  byId("movement-facts").replaceChildren(
    ...numbers.slice(0, 8).flatMap(([key, value]) => [
      make("dt", { textContent: key.replaceAll("_", " ").replace("wavefront", usualTarget().cycle) }),
      make("dd", { textContent: value }),
    ]),
  );
  ofDumps.showBecame?.(movement);
  const { explained = [] } = movement;
  byId("movement-words").hidden = !explained.length;
  byId("movement-explained").replaceChildren(...explained.map((textContent) => make("li", { textContent })));
  showSteps(movement);
}

/**
 * Return what is said of a finding: the best fix is open, with what sets it in Triton, as on a
 * terminal; other fixes, and what is said of them, are not.
 *
 * @param {string[]} advice
 */
function adviceNodes(advice) {
  const isMore = (_, k) => advice.slice(0, k + 1).filter(isFix).length > 1;
  const lines = (texts) => texts.map((text) => make("p", { className: "advice", textContent: text }));
  const more = advice.filter(isMore);
  const open = lines(advice.filter((text, k) => !isMore(text, k)));
  if (!more.length) return open;
  return [...open, make("details", {}, make("summary", { textContent: "Another fix" }), ...lines(more))];
}

function isFix(text) {
  return /^(fix|or): /.test(text);
}

/**
 * Show the ways to the same operation in the modules before and after.  The keyboard has one in
 * #module, so that these are no stops on its way to the grids.
 */
function showSteps(movement) {
  const box = byId("movement-steps");
  const beside = modulesBeside(state.module);
  box.hidden = beside.length < 2;
  if (box.hidden) return;
  const way = (step, text) => {
    const index = state.module + step;
    const there = beside.includes(index) && counterpart(movement, index);
    const node = make("button", {
      type: "button",
      textContent: text,
      tabIndex: -1,
      disabled: !there,
      onclick: () => selectLine(there.line),
    });
    return node;
  };
  const { number, pass } = dumpModules()[state.module];
  const of = pass ? `, ${pass}` : "";
  box.replaceChildren(
    way(-1, "‹ module before"),
    make("span", { className: "about", textContent: `module ${number}${of}` }),
    way(1, "module after ›"),
  );
}

/** Return the same data movement in another module: of one name, place in the program and order. */
function counterpart(movement, index) {
  const isSame = (other) =>
    other.name === movement.name &&
    other.function === movement.function &&
    show(other.location) === show(movement.location);
  const own = dumpModules()[state.module].movements.filter(isSame);
  const there = dumpModules()[index].movements.filter(isSame);
  return there[Math.min(own.indexOf(movement), there.length - 1)];
}

// -- modules ------------------------------------------------------------------------------------

/** Show the name of the dump, its modules, and the summary of the one that is shown. */
function showKernel() {
  const box = byId("kernel");
  box.hidden = !DATA.dump;
  if (!DATA.dump) return;
  byId("dump-name").textContent = DATA.dump.name;
  const modules = dumpModules();
  showModules();
  const shown = modules[state.module];
  byId("summary").replaceChildren(
    ...(shown?.summary ?? []).map((text) => make("li", { textContent: text })),
  );
}

/** Fill the menu: the kernels, and below each what passes made of it where there is more than one module. */
function showModules() {
  const modules = dumpModules();
  const groups = kernelsInTurn();
  byId("module-label").hidden = modules.length < 2;
  byId("module-label").firstChild.textContent = groups.length > 1 ? "Kernel " : "Module ";
  const option = (value, textContent) => make("option", { value, textContent });
  const each = (group) => group.map((k) => option(k, moduleInWords(modules[k], k)));
  const menu = groups.flatMap((group) => {
    if (groups.length === 1) return each(group);
    const label = kernelInWords(group[0]);
    return group.length > 1 ? [make("optgroup", { label }, ...each(group))] : [option(group[0], label)];
  });
  byId("module").replaceChildren(...menu);
  control("module").value = String(state.module);
}

/** Return the kernels of a module, with their line where others are called the same, and what was found. */
function kernelInWords(index) {
  const { kernels, line, findings, isUnread, isReadHere } = dumpModules()[index];
  const isAlone = kernelsInTurn().filter(([first]) => show(dumpModules()[first].kernels) === show(kernels)).length < 2;
  const name = kernels.join(", ") || "no kernel";
  const found = isUnread || isReadHere ? "" : `, ${findings.length ? counted(findings.length, "finding") : "no findings"}`;
  return `${name}${isAlone && kernels.length ? "" : `, line ${line}`}${found}`;
}

/** Show a module of the dump. */
function enterModule(index) {
  state.module = index;
  readChosen();
}

function chooseModule(index) {
  const current = state.line === null ? null : movementOn(state.line);
  change(() => {
    enterModule(index);
    followLine((current && counterpart(current, index)?.line) ?? usualLine(index));
  }, rebuild);
}
