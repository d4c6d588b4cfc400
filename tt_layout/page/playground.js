// The playground: a page without a layout of its own, in which one or two are typed.

const TEXT_BOXES = ["layout", "type", "other", "release", "lanes"];
/** The keys by which the address has the texts. */
const TEXT_KEYS = { layout: "a", type: "t", other: "o", release: "r", lanes: "h" };
const LANES = [["", "32"], ["64", "64"]];
const COPIED_TIME = 4000; // milliseconds for which it is said that the link was copied

/** Return the texts that the page starts with. */
function usualTexts() {
  const [{ layout, type, other }] = DATA.playground.examples;
  return { layout, type, other, release: "", lanes: "" };
}

/** Return the layouts of texts, and under each box what is wrong with its text. */
function readTexts({ layout, type, other, release, lanes }) {
  const errors = { layout: "", type: "", other: "" };
  const attempt = (box, action) => {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      errors[box] = error.message;
      return null;
    }
  };
  if (!attempt("type", () => contextOf(type))) return { layouts: [], errors };
  const read = (box, text) =>
    attempt(box, () => {
      if (release && text.trim().startsWith("#")) checkSpelling(text, release);
      return readNotation(text, type, release, Number(lanes) || undefined);
    });
  const layouts = [read("layout", layout)];
  if (other.trim()) layouts.push(read("other", other));
  const [first, second] = layouts;
  if (first && second && !sameShape(first, second))
    errors.other = `this layout is of a tensor of another shape`;
  return { layouts: named(layouts.filter(Boolean)), errors };
}

/** Return layouts with names: of their kinds, which two of one kind need to be told apart. */
function named(layouts) {
  const kinds = layouts.map(({ attribute }) => attributeName(attribute).split(".").at(-1));
  const names = kinds[0] === kinds[1] ? ["the first", "the second"] : kinds;
  const title = [...new Set(kinds)].join(" and ");
  return layouts.map((read, k) => ({ ...read, name: names[k], title, line: null, uses: [] }));
}

/** Take the layouts of texts as those of the page, if they can be read; return whether they can. */
function takeTexts(wanted) {
  const { layouts, errors } = readTexts(wanted);
  for (const [box, message] of Object.entries(errors)) showError(`text-${box}`, message);
  const isOnlyOther = page.texts && show(firstTexts(wanted)) === show(firstTexts(page.texts));
  const isStale = Boolean(errors.layout || errors.type || (errors.other && isOnlyOther));
  byId("shown").classList.toggle("stale", isStale);
  byId("stale").textContent = isStale ? "The pictures are still those of the text before." : "";
  if (isStale) return false;
  page.texts = errors.other ? { ...wanted, other: "" } : wanted;
  const shown = errors.other ? layouts.slice(0, 1) : layouts;
  DATA.isPair = shown.length === 2;
  DATA.layouts = shown;
  return true;
}

function firstTexts(texts) {
  return Object.values({ ...texts, other: "" });
}

/** Show what is wrong with the text of a box; nothing where the message is empty. */
function showError(id, message) {
  byId(`${id}-error`).textContent = message;
  if (message) byId(id).setAttribute("aria-invalid", "true");
  else byId(id).removeAttribute("aria-invalid");
}

function writtenTexts() {
  return Object.fromEntries(TEXT_BOXES.map((box) => [box, control(`text-${box}`).value]));
}

/** Follow what is written in the boxes. */
function followTexts() {
  const { layout } = writtenTexts();
  if (isDump(layout)) return openDump("pasted dump", layout);
  const wasPair = DATA.isPair;
  const isRead = takeTexts(writtenTexts());
  markExample();
  if (!isRead) return;
  const anew = { layout: 0, edit: null, compare: null };
  if (DATA.isPair !== wasPair) anew.colour = "";
  return change(() => Object.assign(state, anew));
}

/** Start from an example: nothing of what was chosen before is kept. */
function chooseExample({ layout, type, other, view }) {
  fillTexts({ layout, type, other, release: "", lanes: "" });
  takeTexts(writtenTexts());
  const anew = { layout: 0, edit: null, compare: null, colour: "", scope: "element", pins: [] };
  const usual = { view: view || null, slice: null, banks: null, isStore: false };
  change(() => Object.assign(state, anew, usual));
  markExample();
}

/** Exchange the layout and the one that it is compared with. */
function swapTexts() {
  const { layout, other } = writtenTexts();
  if (!other.trim()) return;
  fillTexts({ ...writtenTexts(), layout: other, other: layout });
  followTexts();
}

function fillTexts(given) {
  for (const box of TEXT_BOXES) control(`text-${box}`).value = given[box];
}

/** Mark the example that stands in the boxes. */
function markExample() {
  const written = writtenTexts();
  DATA.playground.examples.forEach((example, k) => {
    const isShown = ["layout", "type", "other"].every((box) => example[box] === written[box]);
    byId(`example-${k}`).setAttribute("aria-pressed", String(isShown));
  });
}

// -- a dump -------------------------------------------------------------------------------------

/** Show a dump instead of layouts that are typed; what is wrong with it is said below the first box. */
function openDump(name, text) {
  const isRead = report("text-layout", () => {
    const { dump, layouts, targets } = readDump(name, text);
    const usualTargets = [...new Set([...targets, ...DATA.usualTargets])];
    Object.assign(DATA, { dump, layouts, usualTargets, isPair: false, playground: null });
  });
  if (!isRead) return;
  showPlayground(false);
  byId("close-dump").hidden = false;
  showDump();
  history.replaceState(null, "", location.pathname + location.search);
  readAddress();
  rebuild();
}

/** Open the file that was chosen or dropped. */
async function openFile(file) {
  if (file && DATA.playground) openDump(file.name, await file.text());
}

/** Let a dump be chosen, or dropped anywhere. */
function connectFiles() {
  const box = control("dump-file");
  byId("open-dump").onclick = () => box.click();
  box.onchange = () => openFile(box.files[0]);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    openFile(event.dataTransfer.files[0]);
  });
  byId("close-dump").onclick = () => location.reload();
}

// -- the address --------------------------------------------------------------------------------

/** Return the parts of the address that keep the texts. */
function addressOfTexts() {
  if (show(Object.values(page.texts)) === show(Object.values(usualTexts()))) return {};
  return Object.fromEntries(TEXT_BOXES.map((box) => [TEXT_KEYS[box], page.texts[box]]));
}

/** Take the texts of an address; those that cannot be read stand in the boxes with their errors. */
function takeAddress(parts) {
  const usual = usualTexts();
  const given = { ...usual };
  if (parts.has("a")) {
    for (const box of TEXT_BOXES) given[box] = parts.get(TEXT_KEYS[box]) ?? "";
    given.type ||= usual.type;
    if (!DATA.releases.includes(given.release)) given.release = "";
    if (!LANES.some(([value]) => value === given.lanes)) given.lanes = "";
  }
  page.texts = null;
  fillTexts(given);
  if (!takeTexts(given)) {
    const { layouts } = readTexts(usual);
    Object.assign(DATA, { layouts, isPair: layouts.length === 2 });
    page.texts = usual;
  }
  markExample();
}

/** Copy the address, which keeps all that is shown. */
async function copyLink() {
  const said = byId("copied");
  try {
    await navigator.clipboard.writeText(location.href);
    said.textContent = "Link copied";
  } catch {
    said.textContent = "Copy the address of the page: the browser does not let it be copied here";
  }
  setTimeout(() => (said.textContent = ""), COPIED_TIME);
}

// -- set-up -------------------------------------------------------------------------------------

/** Show the boxes in which layouts are typed, or what stands in their place in a page of layouts. */
function showPlayground(isShown) {
  byId("playground").hidden = !isShown;
  byId("body").classList.toggle("played", isShown);
  for (const id of ["edit-attribute", "edit-type"]) byId(id).parentElement.hidden = isShown;
  byId("edit").querySelector("summary").textContent = isShown ? "Edit the basis vectors" : "Edit the layout";
  byId("reset").textContent = isShown ? "Back to the text’s layout" : "Back to the file’s layout";
}

/** Make the boxes and the examples, and leave out of the page what they replace. */
function connectPlayground() {
  showPlayground(true);
  connectFiles();
  const releases = [...DATA.releases].reverse().map((name) => [name, name]);
  fillSelect("text-release", [["", "newest"], ...releases], "");
  fillSelect("text-lanes", LANES, "");
  byId("examples").append(...exampleGroups());
  for (const box of TEXT_BOXES) byId(`text-${box}`).oninput = () => later(followTexts);
  byId("copy-link").onclick = copyLink;
  byId("swap").onclick = swapTexts;
  /** @type {HTMLDetailsElement} */ (byId("examples-box")).open = matchMedia("(min-width: 1100px)").matches;
}

/** Return a row of buttons for each group of examples. */
function exampleGroups() {
  const { examples } = DATA.playground;
  return [...new Set(examples.map(({ group }) => group))].map((group, at) => {
    const title = make("h2", { id: `examples-${at}`, textContent: group });
    const buttons = examples.flatMap((example, k) =>
      example.group === group ? [exampleButton(example, k)] : [],
    );
    const row = make("div", { className: "examples" }, ...buttons);
    row.setAttribute("role", "group");
    row.setAttribute("aria-labelledby", title.id);
    return make("div", {}, title, row);
  });
}

function exampleButton(example, k) {
  const { name } = example;
  const properties = { id: `example-${k}`, type: "button", className: "example", textContent: name };
  return make("button", { ...properties, onclick: () => chooseExample(example) });
}
