// A dump that is pasted or dropped: its layouts, conversions and accesses to shared memory, line by
// line.  What tt_layout.audit concludes from the whole of it (loops, addresses, registers) is not here.

const MAX_ALIAS_TEXT = 20000; // characters of a layout with its aliases written out
const MAX_LAYOUT_NAME = 64; // as tt_layout.page.dump has it
const MODULE_HEAD = /^\s*(?:"?builtin\.)?module\b/;
const PASS_HEAD = /^\/\/ -+\/\/ IR Dump (?:Before|After) (\S+)/;
const ALIAS_LINE = /^#([A-Za-z_][\w$-]*)\s*=\s*(#.*\S)\s*$/;
const LOCATION_LINE = /^(#loc\d*)\s*=\s*(loc\(.*)$/;
const OPERATION = /^\s*(?:%[^=]*=\s*)?"?((?:tt|ttg|ttng|triton_gpu|triton_nvidia_gpu|amdg|amdgpu)\.(\w+))"?/;
const TYPE_HEAD = /(?:\btensor|!(?:ttg|tt|triton_gpu)\.memdesc|-> ?)</g; // the last is a memdesc, too
const GLOBAL = "global memory";

/** A module that is there to be chosen. */
const UNREAD = {
  rank: [0, 0],
  stage: null,
  target: null,
  summary: [],
  findings: [],
  movements: [],
  multiplications: [],
  registers: [],
  pressure: "",
  isUnread: true,
  isReadHere: true,
};

/** What moves data, by its name without the dialect: its kind, and which ends global memory is. */
const MOVING = {
  convert_layout: ["conversion"],
  local_load: ["local load"],
  local_store: ["local store"],
  local_alloc: ["local store"],
  tmem_load: ["local load"],
  tmem_store: ["local store"],
  tmem_alloc: ["local store"],
  load: ["global load", "from"],
  store: ["global store", "to"],
  buffer_load: ["global load", "from"],
  buffer_store: ["global store", "to"],
  async_copy_global_to_local: ["copy to local"],
};

/** Return whether a text is a dump, and not a layout. */
function isDump(text) {
  const lines = text.split("\n");
  return lines.length > 2 && lines.some((line) => MODULE_HEAD.test(line)) && lines.some((line) => OPERATION.test(line));
}

/**
 * Return the { dump, layouts, targets } of the text of a dump: what a page of it embeds.
 *
 * @param {string} name of its file
 * @param {string} text
 */
function readDump(name, text) {
  const lines = text.split("\n");
  const found = new PlacedTypes();
  const modules = modulesIn(lines).map((module) => readModule(module, lines, found));
  if (!found.layouts.length) throw new TextError("no layout that can be read is used in this text");
  const targets = modules.flatMap(({ target }) => (target === null ? [] : [target]));
  return { dump: { name, text, modules, programs: {}, line: null, isReadHere: true }, layouts: found.layouts, targets };
}

/** Put the modules that passes made, where that changed the cost, among those that were audited. */
function addPasses() {
  const { modules, passes } = DATA.dump;
  for (const { number, line, pass, cycles, kernels } of passes ?? []) {
    const audited = modules.find((one) => one.number === number);
    if (audited) Object.assign(audited, { pass, changed: cycles });
    else modules.push({ ...UNREAD, number, kernels, line, first: line, pass, changed: cycles });
  }
  modules.sort((a, b) => a.number - b.number);
}

/** Read the module that was chosen, unless the audit has. */
function readChosen() {
  const { modules, text } = DATA.dump;
  const chosen = modules[state.module];
  if (!chosen?.isUnread) return;
  const lines = text.split("\n");
  const found = new PlacedTypes();
  found.layouts = DATA.layouts;
  const place = modulesIn(lines).find(({ line }) => line === chosen.line);
  const { number, kernels, pass, changed } = chosen;
  if (place) modules[state.module] = { ...readModule(place, lines, found), number, kernels, pass, changed };
}

/** Return the modules of a text: where each begins and ends, in lines counted from 1. */
function modulesIn(lines) {
  const heads = lines.flatMap((line, at) => (MODULE_HEAD.test(line) ? [at] : []));
  const starts = heads.length ? heads : [0];
  const isLocation = (line) => LOCATION_LINE.test(line);
  const isBefore = (line) => !line.trim() || line.startsWith("//") || ALIAS_LINE.test(line) || isLocation(line);
  const firsts = starts.map((at, k) => {
    let first = at;
    while (first > (starts[k - 1] ?? -1) + 1 && isBefore(lines[first - 1])) first--;
    while (k && isLocation(lines[first])) first++; // of the module before
    return first;
  });
  return starts.map((at, k) => ({
    number: k + 1,
    first: firsts[k] + 1,
    line: at + 1,
    end: firsts[k + 1] ?? lines.length,
  }));
}

/** Return what the page shows of a module. */
function readModule({ number, first, line, end }, lines, found) {
  const own = lines.slice(first - 1, end);
  const named = (pattern) => new Map(own.flatMap((text) => [pattern.exec(text)?.slice(1)].filter(Boolean)));
  const aliases = named(ALIAS_LINE);
  const lineOf = (name) => own.findIndex((text) => ALIAS_LINE.exec(text)?.[1] === name) + first;
  const context = { aliases, locations: named(LOCATION_LINE), lineOf, found, target: targetIn(own) };
  const movements = movementsIn(own, first, context);
  const { title, name } = context.target ?? {};
  const findings = conflictsAmong(movements);
  return {
    number,
    kernels: [...new Set(movements.flatMap((movement) => (movement.function ? [`@${movement.function}`] : [])))],
    rank: [0, movements.reduce((sum, { extra }) => sum + (extra ?? 0), 0)],
    first,
    line,
    pass: own.map((text) => PASS_HEAD.exec(text)?.[1]).find(Boolean) ?? null,
    stage: null,
    target: name ?? null,
    summary: [
      `${name ? `${name}, ${title}: ` : ""}read in the page: layouts, conversions and bank conflicts`,
      "for loops, global memory, registers and suggestions: tt-layout page FILE",
    ],
    findings,
    movements,
    multiplications: [],
    registers: [],
    pressure: "",
    isReadHere: true,
  };
}

/** Return the GPU that a module names, if the page knows it. */
function targetIn(own) {
  const [, vendor, name] = /\.target"?\s*=\s*"(cuda|hip):(\w+)"/.exec(own.find((text) => text.includes('.target')) ?? "") ?? [];
  return vendor && targetNamed(vendor === "cuda" ? `sm${name}` : name);
}

// -- types and their layouts ----------------------------------------------------------------------

/** The layouts of a dump over the types that they are used with, each once. */
class PlacedTypes {
  constructor() {
    /** @type {Spec[]} */
    this.layouts = [];
    /** @type {Map<string, number | null>} */
    this.numbers = new Map();
    /** @type {Map<number, Model>} */
    this.models = new Map();
  }

  /** Return the number of the layout of a type on a line; null where it has none that fits. */
  number({ layout, plain }, line, { aliases, lineOf }) {
    const attribute = withoutAliases(layout, aliases);
    const key = `${attribute} ${plain}`;
    if (!this.numbers.has(key)) this.numbers.set(key, this.#place(attribute, plain, layout, lineOf));
    const number = this.numbers.get(key);
    const uses = number === null ? null : this.layouts[number].uses;
    if (uses && uses.at(-1) !== line) uses.push(line);
    return number;
  }

  #place(attribute, plain, layout, lineOf) {
    try {
      const read = readNotation(attribute, plain, "");
      const isAlias = layout !== attribute && /^#[\w$-]+$/.test(layout);
      const name = layout.length <= MAX_LAYOUT_NAME ? layout : attributeName(attribute).split(".").at(-1);
      this.layouts.push({ ...read, name, line: isAlias ? lineOf(layout.slice(1)) : null, uses: [] });
      return this.layouts.length - 1;
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      return null; // such as shared_memory, or a type that the layout is not for
    }
  }

  /** Return what the page knows of a layout. */
  model(number) {
    if (!this.models.has(number)) this.models.set(number, new Model(this.layouts[number], usualTarget()));
    return this.models.get(number);
  }
}

/** Return a layout with its aliases written out. */
function withoutAliases(layout, aliases) {
  let text = layout;
  for (let depth = 0; depth < MAX_DEPTH && text.length < MAX_ALIAS_TEXT; depth++) {
    const next = text.replace(/#([A-Za-z_][\w$-]*)(?![\w.$-])/g, (own, name) => aliases.get(name) ?? own);
    if (next === text) return text;
    text = next;
  }
  return layout; // of itself, or too large: it is not read
}

/** Return the types with a layout on a line. */
function typesIn(text) {
  const found = [];
  TYPE_HEAD.lastIndex = 0;
  for (let match = TYPE_HEAD.exec(text); match; match = TYPE_HEAD.exec(text)) {
    const parts = partsOf(text, TYPE_HEAD.lastIndex);
    if (!parts) break;
    TYPE_HEAD.lastIndex = parts.end;
    const [over, layout, , ...more] = parts.texts;
    const whole = more.find((part) => /^\d+(x\d+)*$/.test(part));
    const head = match[0] === "tensor<" ? "tensor" : "!ttg.memdesc";
    if (!layout?.startsWith("#")) continue;
    const isPart = whole !== undefined && !over.startsWith(`${whole}x`);
    const shape = isPart ? over.replace(/^(\d+x)+/, `${whole}x`) : over; // the layout is that of the whole
    found.push({ layout, plain: `${head}<${shape}>`, isPart });
  }
  return found;
}

/** Return what stands between commas from a place on up to the closing bracket, and where that ends. */
function partsOf(text, start) {
  const texts = [];
  let [depth, from] = [1, start];
  for (let at = start; at < text.length; at++) {
    if ("<[({".includes(text[at])) depth++;
    else if ("])}".includes(text[at]) || (text[at] === ">" && text[at - 1] !== "-")) depth--;
    if (!depth || (depth === 1 && text[at] === ",")) {
      texts.push(text.slice(from, at).trim());
      from = at + 1;
    }
    if (!depth) return { texts, end: at + 1 };
  }
  return null;
}

// -- operations -----------------------------------------------------------------------------------

/** Return the data movements of some lines, of which the first has a number. */
function movementsIn(own, first, context) {
  /** @type {DumpMovement[]} */
  const movements = [];
  const loops = []; // indentation of those that are open
  let inFunction = null;
  own.forEach((text, k) => {
    const indent = text.search(/\S/);
    if (indent >= 0 && indent <= (loops.at(-1) ?? -1)) loops.pop();
    if (/\bscf\.(for|while)\b/.test(text)) loops.push(indent);
    inFunction = /\b(?:tt|llvm|func)\.func\b.*?@([\w$.-]+)/.exec(text)?.[1] ?? inFunction;
    const types = typesIn(text);
    const numbers = types.map((type) => context.found.number(type, first + k, context));
    const [, name, short] = OPERATION.exec(text) ?? [];
    if (!Object.hasOwn(MOVING, short ?? "") || !types.length) return;
    const where = { line: first + k, name, function: inFunction, inLoop: loops.length > 0 };
    movements.push(movementOf({ short, types, numbers, where, location: locationIn(text, context) }, context));
  });
  return movements;
}

/** Return the data movement of an operation as a page of the dump has it. */
function movementOf({ short, types, numbers, where, location }, context) {
  const [kind, end] = MOVING[short];
  const isAlone = types.length === 1;
  const group = short.endsWith("_alloc") && isAlone ? "allocation" : kind;
  const ends = isAlone
    ? end === "to" ? [types[0], null] : [null, types[0]]
    : types.slice(-2);
  const layouts = isAlone
    ? end === "to" ? [numbers[0], null] : [null, numbers[0]]
    : numbers.slice(-2);
  const moved = types.find(({ plain }) => plain.startsWith("tensor")) ?? types[0];
  const outside = group === "allocation" ? null : GLOBAL;
  const cost = types.some(({ isPart }) => isPart) ? {} : costOf(layouts, context);
  return {
    ...where,
    group,
    type: moved.plain.replace("!ttg.", ""),
    from: ends[0]?.layout ?? outside,
    to: ends[1]?.layout ?? outside,
    layouts,
    bytes: group === "allocation" ? 0 : bytesOf(moved.plain),
    runs: "1",
    cost: cost.text ?? null,
    weight: cost.cycles ?? 0,
    cycles: cost.cycles ?? 0,
    facts: {},
    extra: cost.extra ?? 0,
    location,
    request: null,
  };
}

/** Return the bytes of a tensor; of one of pointers, of what they point at. */
function bytesOf(type) {
  const { shape, bits } = parseType(type.replace(/!tt\.ptr<(\w+).*?>/, "$1"));
  return Math.ceil((product(shape) * (bits ?? 0)) / 8);
}

/** Return what moving a tensor from one layout to another takes, as far as that is known here. */
function costOf([from, to], { found, target }) {
  if (from === null || to === null) return {};
  const [source, result] = [found.model(from), found.model(to)];
  if (!sameShape(source.spec, result.spec)) return {};
  if (source.memory === REGISTERS && result.memory === REGISTERS) return { text: reachInWords(source.layout, result.layout) };
  const pair = accessPair(source, result);
  if (!pair) return {};
  const isStore = pair.register === source;
  const { cost: own } = workedOut(pair, target ?? usualTarget(pair.register), isStore);
  if (!own) return {};
  const { instruction, wavefrontsPerInstruction } = own;
  const extra = extraOf(own);
  const each = `${instruction.count} x ${instructionName(own)}, ${counted(wavefrontsPerInstruction, own.target.cycle)} each`;
  const cycles = perWarp(own) * pair.register.size("warp");
  return { text: `${each}${extra ? `, ${rounded(extra)} from conflicts` : ""}`, extra, cycles };
}

/** Say how far the elements go from one layout of registers to another. */
function reachInWords(before, after) {
  const sizes = before.outs.map(([, size]) => size);
  const flat = ({ ins }) => Object.fromEntries(ins.map(([name, vectors]) => [name, vectors.map((v) => flatten(v, sizes))]));
  const [own, other] = [flat(before), flat(after)];
  const within = { register: "within threads", lane: "within warps", warp: "between warps" };
  const names = [...Object.keys(within), "block"];
  const stays = names.slice(0, -1).find((_, k) => {
    const span = new Span(names.slice(0, k + 1).flatMap((name) => own[name] ?? []));
    const held = names.slice(0, k + 1).flatMap((name) => other[name] ?? []);
    const moved = names.slice(k + 1).flatMap((name) => {
      const count = Math.max(own[name]?.length ?? 0, other[name]?.length ?? 0);
      return Array.from({ length: count }, (_, bit) => (own[name]?.[bit] ?? 0n) ^ (other[name]?.[bit] ?? 0n));
    });
    return [...held, ...moved].every((vector) => span.contains(vector));
  });
  return stays ? within[stays] : "between CTAs";
}

/**
 * Return a finding for each access with bank conflicts, those alike together, the worst first.
 *
 * @param {DumpMovement[]} movements
 */
function conflictsAmong(movements) {
  const worst = movements.filter(({ extra }) => extra);
  worst.sort((a, b) => Number(b.inLoop) - Number(a.inLoop) || b.cycles - a.cycles);
  /** @param {DumpMovement} movement */
  const messageOf = ({ name, group, from, to, cost }) =>
    `${name} of ${group === "local store" ? to : from} has bank conflicts: ${cost}`;
  return [...Map.groupBy(worst, messageOf)].map(([message, own]) => ({
    lines: own.map(({ line }) => line),
    message,
    kind: "bank-conflicts",
    share: "",
    advice: [],
    suggested: null,
  }));
}

/** Return the place in the program that a line names. */
function locationIn(text, { locations }) {
  let place = text.slice(text.lastIndexOf("loc("));
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const [, file, line, column] = /"([^"]+)":(\d+):(\d+)/.exec(place) ?? [];
    if (file) return { file, line: Number(line), column: Number(column) };
    const [alias] = /#loc\d*/.exec(place) ?? [];
    if (!locations.has(alias)) return null;
    place = locations.get(alias);
    locations = new Map(locations);
    locations.delete(alias);
  }
  return null;
}
