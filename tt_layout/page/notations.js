// Which notation a text is in, and the layout that it means: the notations of tt_layout.notation.
// Each is turned into an attribute first, as there.

const LINEAR_BASIS = /\b\w+\s*=\s*\d+\s*->\s*\(|\w is a size 1 dimension/;
const LINEAR_LINE =
  /(\w+)\s*=\s*(\d{1,18})\s*->\s*\(([\d,\s]*)\)|(\w+) is a size 1 dimension/g;
const CALL_HEAD = /^\s*(?:[A-Za-z_]\w*\.)*(?:_?[A-Z]\w*(?:\.with_identity_for)?|constexpr)\s*\(/;

/** The notations other than that of attributes; the first that recognises a text reads it. */
const NOTATIONS = [
  { recognises: (text) => LINEAR_BASIS.test(text), read: readLinearLayout },
  { recognises: (text) => text.startsWith("{"), read: readBasesText },
  { recognises: (text) => TLX_HEAD.test(text), read: readTlx },
  { recognises: (text) => CUTE_LAYOUT.test(text) || CUTE_HEAD.test(text), read: readCuteLayout },
  { recognises: (text) => CALL_HEAD.test(text), read: readGluon },
];

/**
 * Return the layout that a text in any notation has over a type.
 *
 * @param text     of the layout
 * @param typeText such as tensor<16x16xf16>; 16x16xf16 leaves open in which memory it is
 * @param release  whose rules hold; empty for the newest that knows the text
 * @param lanes    of a warp, for notations that only count threads
 * @returns what `readLayout` does, with the { attribute, type, release } that were read
 */
function readNotation(text, typeText, release, lanes = WARP_LANES) {
  const clean = text.trim();
  if (!clean) throw new TextError("write a layout");
  const isAttribute = clean.startsWith("#");
  const notation = isAttribute ? null : NOTATIONS.find((one) => one.recognises(clean));
  if (!isAttribute && !notation)
    throw new TextError(
      "a layout begins with # as #ttg.linear<{...}>, or is gl.BlockedLayout(...), (8,4):(4,1), register=1 -> (0, 1)",
    );
  const context = { ...contextOf(typeText), release, lanes };
  const read = notation ? notation.read(clean, context) : clean;
  // What another notation lists as bases means the same in every release.
  const own = notation ? DATA.releases.at(-1) : release;
  const found = typeof read === "string" ? { attribute: read, release: own } : read;
  const rules = found.release || newestRelease(found.attribute);
  const type = context.isOpen ? typeFor(found.attribute, typeText) : typeText;
  const layout = readLayout(found.attribute, type, rules);
  const attribute = notation ? shortestAttribute(found.attribute, type) : found.attribute;
  return { ...layout, attribute, type, release: rules };
}

/** Refuse an attribute that a release does not have, or not with these keys. */
function checkSpelling(attribute, release) {
  for (const node of nestedIn(readAttribute(attribute))) {
    const forms = encodingsNamed(node.name).map((encoding) => formIn(encoding, release));
    const own = forms.filter((form) => `#${form?.name}` === node.name);
    if (!own.length) throw new TextError(`Triton ${release} has no attribute ${node.name}`);
    if (own.some((form) => knowsKeys(form, node))) continue;
    const known = own.flatMap(keysOf).map(([name]) => name);
    const strange = writtenKeys(node).find((key) => !known.includes(key));
    throw new TextError(unknownKey(node.name, strange, release));
  }
}

/** Return the { shape, bits, memory } of a type, and whether it leaves the memory open. */
function contextOf(typeText) {
  const isOpen = /^\s*\d/.test(typeText);
  const { shape, bits } = parseType(isOpen ? `tensor<${typeText.trim()}>` : typeText);
  const named = typeText.includes("memdesc") ? SHARED : REGISTERS;
  return { shape, bits, memory: isOpen ? null : named, isOpen };
}

/** Return a type such as 16x16xf16 as that of a tensor, or of a buffer. */
function typeFor(attribute, typeText) {
  const memory = memoryOf(attributeName(attribute)) ?? REGISTERS;
  return `${memory === REGISTERS ? "tensor" : "!ttg.memdesc"}<${typeText.trim()}>`;
}

function attributeName(attribute) {
  return /^\s*(#[\w.]+)/.exec(attribute)?.[1] ?? "";
}

// -- bases --------------------------------------------------------------------------------------

/** Return the attribute that lists bases: [name, vectors] of each input. */
function basesAttribute(memory, ins) {
  const of = Object.fromEntries(ins);
  const complete =
    memory === REGISTERS ? DISTRIBUTED.map((name) => [name, of[name] ?? []]) : ins;
  const text = attributeOf(memory, complete);
  const moving = complete.flatMap(([, vectors]) => vectors).filter((v) => v.some(Boolean));
  const isPermutation = new Set(moving.map(show)).size === moving.length;
  return isPermutation ? text : text.replace("#ttg.linear<", "#ttg.generic_linear<");
}

/** Return the attribute of lines such as register=1 -> (0, 1). */
function readLinearLayout(text) {
  const bases = Object.create(null);
  for (const [, input, value, basis, single] of text.matchAll(LINEAR_LINE)) {
    const own = (bases[single ?? input] ??= []);
    if (single) continue;
    if (Number(value) !== 2 ** own.length)
      throw new TextError(
        `expected the basis of ${input}=${2 ** own.length}, got that of ${input}=${value}`,
      );
    const numbers = basis.split(",").map((part) => part.trim()).filter(Boolean);
    if (numbers.some((part) => !/^\d+$/.test(part)))
      throw new TextError(`expected a basis such as (0, 1), got (${basis})`);
    own.push(numbers.map(Number));
  }
  if (!Object.keys(bases).length) throw new TextError("expected bases such as register=1 -> (0, 1)");
  const outs = /out dims are:\s*\[([^\]]*)\]/.exec(text)?.[1] ?? "";
  const sizes = [...outs.matchAll(/(\w+)\s*\(size (\d{1,18})\)/g)].map(([, name, n]) => [name, n]);
  return functionAttribute(bases, sizes.map(([name, size]) => [name, Number(size)]));
}

/** Return the attribute of the JSON of bases, or of a layout as tt-layout writes it. */
function readBasesText(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new TextError(`this is not the JSON of bases: ${error.message}`);
  }
  if (typeof data.attribute === "string")
    return { attribute: data.attribute, release: data.release };
  const given = data.bases ?? data;
  const pairs = Array.isArray(given) ? given : Object.entries(given);
  const outs = given === data ? [] : Object.entries(data.out_dims ?? {});
  for (const pair of pairs) {
    const isVectors = Array.isArray(pair?.[1]) && pair[1].every(isNumbers);
    if (!isVectors)
      throw new TextError(`the bases of ${pair?.[0]} must be lists of numbers such as [[0, 1]]`);
  }
  if (!pairs.length) throw new TextError('expected bases such as {"register": [[0, 1]]}');
  return functionAttribute(Object.fromEntries(pairs), outs);
}

/** Return the attribute of bases in either direction; `outs` may name the outputs. */
function functionAttribute(bases, outs) {
  const rank = Object.values(bases).flat()[0]?.length ?? outs.length;
  const names = outs.length ? outs.map(([name]) => name) : tensorDims(rank);
  for (const [name, vectors] of Object.entries(bases)) checkBases(name, vectors, rank);
  const inputs = Object.keys(bases);
  if (inputs.every((name) => /^dim\d{1,2}$/.test(name))) return invertedAttribute(bases, outs);
  const at = tensorDims(rank).map((name) => names.indexOf(name));
  if (at.includes(-1) || names.length !== rank)
    throw new TextError(`the outputs must be dim0, dim1, ..., got ${names.join(", ")}`);
  const ordered = mapValues(bases, (vectors) => vectors.map((v) => at.map((d) => v[d])));
  return attributeOfInputs(ordered);
}

function tensorDims(rank) {
  return Array.from({ length: rank }, (_, d) => `dim${d}`);
}

/** Return the attribute of a layout from the dimensions of a tensor to locations. */
function invertedAttribute(bases, outs) {
  const names = tensorDims(Object.keys(bases).length);
  if (names.some((name) => !(name in bases)))
    throw new TextError(`the inputs must be dim0, dim1, ..., got ${Object.keys(bases).join(", ")}`);
  const vectors = names.map((name) => bases[name]);
  const width = vectors.flat()[0]?.length ?? outs.length;
  const sizes = outs.length ? outs.map(([, size]) => size) : extent(vectors.flat(), width);
  const found = invertedBases(vectors, sizes);
  const inputs = outs.length ? outs.map(([name]) => name) : ["offset"];
  return attributeOfInputs(Object.fromEntries(inputs.map((name, k) => [name, found[k]])));
}

/** Return the attribute that lists the bases of registers and lanes, or of offsets. */
function attributeOfInputs(bases) {
  const names = Object.keys(bases);
  if (names.includes("offset")) return basesAttribute(SHARED, Object.entries(bases));
  if (names.every((name) => DISTRIBUTED.includes(name)))
    return basesAttribute(REGISTERS, Object.entries(bases));
  if (names.includes("row")) throw new TextError("there is no linear attribute for tensor memory");
  const expected = `${DISTRIBUTED.join(", ")} or offset, block`;
  throw new TextError(`no attribute has these bases: the inputs are ${names.join(", ")}, not ${expected}`);
}
