// The layouts at the side, the text of the dump that they come from, and what its lines lead to.

const LONG_SOURCE = 2000; // lines, of which only those in sight are in the document

/** List all layouts of the page. */
function showList() {
  const box = byId("layouts");
  box.hidden = DATA.layouts.length < 2;
  byId("body").classList.toggle("listed", !box.hidden);
  if (box.hidden) return;
  const list = byId("layout-list");
  if (!list.childElementCount) list.append(...DATA.layouts.map(listEntry));
  list.querySelectorAll(".choice").forEach((node, k) => {
    if (k === state.layout) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  });
  revealEntry(list, list.children[state.layout]);
}

/** Scroll the list, and it alone, until an entry is in sight. */
function revealEntry(list, entry) {
  const [room, box] = [list.getBoundingClientRect(), entry.getBoundingClientRect()];
  if (box.top < room.top) list.scrollTop -= room.top - box.top;
  if (box.bottom > room.bottom) list.scrollTop += box.bottom - room.bottom;
}

/** Return the entry of a layout; a name that the entry above has, too, is not seen again. */
function listEntry(spec, k) {
  const isAgain = DATA.layouts[k - 1]?.name === spec.name;
  const name = make(
    "button",
    { type: "button", className: "choice" },
    make("strong", { textContent: spec.name, className: isAgain ? "unseen" : "" }),
    make("span", { textContent: spec.type }),
  );
  name.onclick = () => chooseLayout(k);
  const lines = [
    ...(spec.line && !isAgain ? [[spec.line, "defined"]] : []),
    ...spec.uses.map((line) => [line, "used"]),
  ];
  const links = lines.slice(0, 12).map(([line, word]) => lineLink(line, word));
  const more =
    lines.length > 12
      ? [make("span", { className: "about", textContent: `+${lines.length - 12}` })]
      : [];
  return make("li", {}, name, make("span", { className: "lines" }, ...links, ...more));
}

function lineLink(line, word) {
  const node = make("button", {
    type: "button",
    className: "line-link",
    textContent: `L${line}`,
    title: `${word} in line ${line}`,
  });
  node.setAttribute("aria-label", `Line ${line}, ${word}`);
  node.onclick = () => showLine(line);
  return node;
}

// -- the text -----------------------------------------------------------------------------------

/** Show the lines of the dump once, and mark those of the layout that is shown. */
function showSource() {
  const box = byId("source");
  box.hidden = !DATA.source;
  if (!DATA.source) return;
  if (!byId("source-lines").childElementCount) fillSource();
  const { line, uses } = DATA.layouts[state.layout];
  const marked = new Set([line, ...uses]);
  for (const node of document.querySelectorAll("#source-lines [data-line]")) {
    node.classList.toggle("here", marked.has(Number(node.dataset.line)));
  }
}

function fillSource() {
  byId("source-name").textContent = DATA.sourceName;
  const users = new Map();
  DATA.layouts.forEach((spec, k) =>
    [spec.line, ...spec.uses].forEach((line) => users.set(line, [...(users.get(line) ?? []), k])),
  );
  const rows = DATA.source.split("\n").map((text, k) => {
    const row = make(
      "div",
      { className: "row", id: `line-${k + 1}` },
      make("span", { className: "number", textContent: k + 1 }),
    );
    row.dataset.line = k + 1;
    row.append(make("code", { textContent: text || " " }));
    const buttons = lineButtons([...new Set(users.get(k + 1))], text);
    if (buttons.length) row.append(make("span", { className: "uses" }, ...buttons));
    return row;
  });
  byId("source-lines").classList.toggle("long", rows.length > LONG_SOURCE);
  byId("source-lines").replaceChildren(...rows);
}

/** Return what a line of the dump leads to: its layouts, and its access to shared memory. */
function lineButtons(ids, text) {
  const byName = Map.groupBy(ids, (k) => shortName(DATA.layouts[k]));
  const buttons = [...byName].map(([name, own]) => useButton(name, own));
  const pair = /local_(load|store|alloc)/.test(text) ? accessOf(ids) : null;
  return pair ? [accessButton(pair, !text.includes("local_load")), ...buttons] : buttons;
}

/** Return a button that shows a layout, or of several of one name, one after the other. */
function useButton(name, ids) {
  const node = make("button", {
    type: "button",
    className: "line-link",
    textContent: ids.length > 1 ? `${name} ×${ids.length}` : name,
  });
  const types = ids.map((k) => DATA.layouts[k].type);
  node.setAttribute("aria-label", `Show ${name}, ${types.join(" or ")}`);
  node.onclick = () => {
    chooseLayout(ids[(ids.indexOf(state.layout) + 1) % ids.length]);
    byId("panes").scrollIntoView();
  };
  return node;
}

/** Return the shared memory and the registers among layouts, where there is one such pair. */
function accessOf(ids) {
  const of = (memory) => ids.filter((k) => DATA.layouts[k].memory === memory);
  const pairs = of(SHARED).flatMap((k) => of(REGISTERS).map((held) => [k, held]));
  const fitting = pairs.filter(([k, held]) => isOneTensor(DATA.layouts[k], DATA.layouts[held]));
  return fitting.length === 1 ? fitting[0] : null;
}

function isOneTensor(a, b) {
  return sameShape(a, b) && a.bits === b.bits;
}

function accessButton([layout, compare], isStore) {
  const node = make("button", { type: "button", className: "line-link", textContent: "access" });
  node.setAttribute("aria-label", `Show the access of ${DATA.layouts[layout].name}`);
  node.onclick = () => {
    change(
      () => Object.assign(state, { layout, compare, isStore, edit: null, colour: "" }),
      rebuild,
    );
    byId("panes").scrollIntoView();
  };
  return node;
}

function showLine(line) {
  byId("source").open = true;
  const row = byId(`line-${line}`);
  if (!row) return;
  document.querySelectorAll(".row.found").forEach((node) => node.classList.remove("found"));
  row.classList.add("found");
  row.scrollIntoView({ block: "center" });
}
