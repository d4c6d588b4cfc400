// The assembly of a kernel beside its dump and its program: lines that have one place of the program.

/** Return the place that each line of the assembly comes from. */
const placesOfAssembly = once(() => {
  const found = new Map();
  for (const [first, last, place] of DATA.dump?.assembly?.pieces ?? [])
    for (let line = first; line <= last; line++) found.set(line, place);
  return found;
});

const spiltLines = once(() => new Set(DATA.dump?.assembly?.spills ?? []));

/** Return the lines of the dump that have a place, in the module that is shown. */
function linesOfPlace(place) {
  const { tied = {} } = dumpModules()[state.module] ?? {};
  return Object.keys(tied).map(Number).filter((line) => tied[line] === place);
}

/** Show the assembly, and mark what the chosen line of the dump became. */
function showAssembly() {
  const assembly = DATA.dump?.assembly;
  byId("tie").hidden = !assembly;
  byId("assembly").hidden = !assembly || !state.isTied;
  byId("body").classList.toggle("tied", Boolean(assembly) && state.isTied);
  byId("tie").setAttribute("aria-pressed", String(state.isTied));
  if (!assembly || !state.isTied) return;
  byId("assembly-title").textContent = assembly.name;
  const { tied = {} } = dumpModules()[state.module] ?? {};
  const place = tied[state.line];
  const own = assembly.pieces.filter((piece) => piece[2] === place);
  const lines = own.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, k) => first + k));
  const [file, line] = assembly.places[place] ?? [];
  const became = file === undefined ? "a line leads to what has the same place in the program" : `${counted(lines.length, "line")} from ${file}:${line}`;
  byId("assembly-about").textContent = [became, assembly.about].filter(Boolean).join("; ");
  page.assemblyText.show([[1, assembly.text]]);
  const isNew = page.assemblyText.found !== (lines[0] ?? null);
  page.assemblyText.mark(new Set(lines), lines[0] ?? null);
  if (isNew && lines.length) page.assemblyText.reveal(lines[0]);
}

/** Show the line of the dump that a line of the assembly comes from: one after the other. */
function selectAssemblyLine(line) {
  const lines = linesOfPlace(placesOfAssembly().get(line));
  if (!lines.length) return;
  selectLine(lines[(lines.indexOf(state.line) + 1) % lines.length]);
}

/** Show the instructions that a data movement became. */
function showBecame({ became = [] }) {
  const words = became.map(([name, many]) => `${many} × ${name}`);
  byId("movement-became").textContent = words.length ? `In ${DATA.dump.assembly.name}: ${words.join(", ")}` : "";
}

function connectAssembly() {
  page.assemblyText = new TextPane(byId("assembly-lines"), "assembly-line", {
    choose: selectAssemblyLine,
    pieces: (_line, text) => [text],
    gutter: (line) => (spiltLines().has(line) ? "spill" : ""),
  });
  byId("tie").onclick = () => change(() => (state.isTied = !state.isTied));
}

Object.assign(ofDumps, { showAssembly, showBecame, connectAssembly });
