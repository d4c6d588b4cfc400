// Attributes in the spelling of a release: values by the names of the newest one.
//
// The forms are data: DATA.encodings, read off the tool's own.  An encoding is { mnemonic, name,
// memory, text, release, values }; what old releases wrote in another way becomes what today's keys say.

/** Tell whether a release is another or a later one. */
function isSince(release, first) {
  return DATA.releases.indexOf(release) >= DATA.releases.indexOf(first);
}

/** Return the form in which a release reads an encoding; undefined where it has none. */
function formIn(encoding, release) {
  return encoding.forms.findLast(({ since }) => isSince(release, since));
}

/** Return the attribute in those that only mark it; they map elements as it does. */
function unwrapped({ name, items, text }) {
  if (DATA.placeholders.includes(name.slice(1)))
    throw new TextError(`${name} is a placeholder: a later pass chooses the layout`);
  const isWrapper = DATA.wrappers.includes(name.slice(1));
  if (isWrapper && items.length === 1 && items[0].items) return unwrapped(items[0]);
  return { name, items, text };
}

/** Return a test of encodings: whether a release or another has it under a name. */
function isNamed(name) {
  return ({ forms }) => forms.some((form) => `#${form.name}` === name);
}

function encodingsNamed(name) {
  const found = DATA.encodings.filter(isNamed(name));
  if (!found.length) {
    const names = DATA.encodings.flatMap(({ forms }) => forms.map((form) => form.name));
    const near = nearest(name.slice(1), names.sort().reverse()); // ttg before triton_gpu
    throw new TextError(`${name} is not a layout attribute${near ? `; did you mean #${near}?` : ""}`);
  }
  const isLaid = ({ mnemonic }) => Object.hasOwn(KINDS, mnemonic);
  if (!found.every(isLaid))
    throw new TextError(`for ${name} edit the bases, or run tt-layout again`);
  return found;
}

/** Return the memory in which an attribute of a name puts a tensor; undefined for no such name. */
function memoryOf(name) {
  return DATA.encodings.find(isNamed(name))?.memory;
}

const LEAST_ALIKE = 0.6;

/**
 * Return the known name that looks most like another, for "did you mean", as tt_layout.errors.nearest
 * does: a dialect in front does not count, but of equals that of the same dialect is taken.
 *
 * @param {string} name
 * @param {string[]} known
 * @returns {string | undefined}
 */
function nearest(name, known) {
  const parts = (text) => [text.slice(0, Math.max(0, text.lastIndexOf("."))), text.slice(text.lastIndexOf(".") + 1)];
  const [dialect, own] = parts(name);
  const scores = new Map(known.map((other) => [parts(other)[1], alike(parts(other)[1], own)]));
  const best = [...scores.keys()].reduce((most, other) => {
    const isBetter = scores.get(other) > scores.get(most) || (scores.get(other) === scores.get(most) && other > most);
    return isBetter ? other : most;
  });
  if (scores.get(best) < LEAST_ALIKE) return undefined;
  const found = known.filter((other) => parts(other)[1] === best);
  return found.find((other) => parts(other)[0] === dialect) ?? found[0];
}

/** Return which part of two texts is the same, from 0 to 1: their longest common piece, and those beside it. */
function alike(a, b) {
  return a.length + b.length ? (2 * common(a, b)) / (a.length + b.length) : 1;
}

/** Return how many characters texts share in their longest common piece, before it and after it. */
function common(a, b) {
  let [at, there, size] = [0, 0, 0];
  for (let i = 0; i + size < a.length; i++)
    for (let j = 0; j + size < b.length; j++) {
      let own = 0;
      while (i + own < a.length && j + own < b.length && a[i + own] === b[j + own]) own++;
      if (own > size) [at, there, size] = [i, j, own];
    }
  if (!size) return 0;
  return size + common(a.slice(0, at), b.slice(0, there)) + common(a.slice(at + size), b.slice(there + size));
}

function keysOf(form) {
  return form.keys.map((place) => DATA.keys[place]);
}

/** Return the names of the keys that are written in an attribute. */
function writtenKeys({ items }) {
  return items.flatMap(({ dictionary, key }) => (key ? [key] : Object.keys(dictionary ?? {})));
}

function knowsKeys(form, node) {
  const known = keysOf(form).map(([name]) => name);
  return writtenKeys(node).every((name) => known.includes(name));
}

/**
 * Return the encoding and the form in which an attribute is read: that of the release, or the
 * newest, in which the tool writes what it read in another notation.
 */
function spellingOf({ name, items }, release) {
  const forms = encodingsNamed(name).flatMap((encoding) => {
    const own = formIn(encoding, release);
    return (own ? [own, encoding.forms.at(-1)] : []).map((form) => ({ encoding, form }));
  });
  const fitting = forms.filter(({ form }) => form.name === name.slice(1));
  if (!fitting.length) throw new TextError(`Triton ${release} has no attribute ${name}`);
  return fitting.find(({ form }) => knowsKeys(form, { items })) ?? fitting[0];
}

/** Return the encoding that an attribute stands for under the rules of a release. */
function readEncoding(node, release) {
  if (!node?.items) throw new TextError(`expected a layout attribute, got ${show(node)}`);
  const { name, items, text } = unwrapped(node);
  const { encoding, form: found } = spellingOf({ name, items }, release);
  const form = { style: found.style, keys: keysOf(found) };
  const written = readValues(name, form, entriesOf(name, items, form.style), release);
  return inItsNames(form, () => {
    const values = inTodaysTerms(encoding.mnemonic, written, release);
    checkRules(encoding, values, release);
    KINDS[encoding.mnemonic].check?.(values, release);
    const { mnemonic, memory } = encoding;
    return { mnemonic, memory, name, text, release, values, form };
  });
}

/** Return what an action returns; its errors call keys as a form does. */
function inItsNames({ keys }, action) {
  const written = Object.fromEntries(keys.map(([name, , own]) => [own, name]));
  try {
    return action();
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new TextError(error.message.replace(/\w+/g, (word) => written[word] ?? word));
  }
}

/** Return the values of an attribute by key, which are enclosed as its style has it. */
function entriesOf(name, items, style) {
  const rest = [...items];
  const given = Object.create(null);
  const wrong = () => new TextError(`${name} is written ${DATA.styles[style]}`);
  if (style === "PADDED" && Array.isArray(rest[0])) given.paddings = rest.shift();
  if (style !== "STRUCT") {
    const { dictionary } = rest.shift() ?? {};
    if (!dictionary || (style === "ALIGNED" && dictionary.alignment !== undefined)) throw wrong();
    Object.assign(given, dictionary);
  }
  for (const { key, value } of rest) {
    if (key === undefined || !["STRUCT", "ALIGNED"].includes(style)) throw wrong();
    if (Object.hasOwn(given, key)) throw new TextError(`${key} is given twice`);
    given[key] = value;
  }
  return given;
}

/** Return the values of all keys of a form, given or by default. */
function readValues(name, form, given, release) {
  const known = form.keys.map(([key]) => key);
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown) throw new TextError(unknownKey(name, unknown, release));
  const isLacking = ([key, , , ...absent]) => !absent.length && !Object.hasOwn(given, key);
  const lacking = form.keys.filter(isLacking).map(([key]) => `'${key}'`);
  if (lacking.length) {
    const keys = plural("key", lacking.length);
    throw new TextError(`${name} needs the ${keys} ${lacking.join(", ")}`);
  }
  const values = {};
  for (const [key, kind, own, absent] of form.keys) {
    const isGiven = Object.hasOwn(given, key);
    values[own] = isGiven ? readValue(key, kind, given[key], release) : absent;
  }
  return values;
}

/** Return what is wrong with a key: the releases that have it, or the key that was probably meant. */
function unknownKey(name, key, release) {
  const encodings = encodingsNamed(name);
  const hasKey = (one) =>
    encodings.some((encoding) => {
      const form = formIn(encoding, one);
      return form?.name === name.slice(1) && keysOf(form).some(([own]) => own === key);
    });
  const having = DATA.releases.filter(hasKey);
  const subject = `${name} has no key '${key}'`;
  if (having.length) {
    const [first, last] = [having[0], having.at(-1)];
    return `${subject} in Triton ${release}; Triton ${first === last ? first : `${first} to ${last}`} has it`;
  }
  const forms = encodings.flatMap((encoding) => encoding.forms.filter((form) => form.name === name.slice(1)));
  const known = [...new Set(forms.reverse().flatMap(keysOf).map(([own]) => own))];
  const near = nearest(key, known);
  const takes = known.filter((own) => own !== "paddings").join(", ");
  return `${subject}; ${near ? `did you mean '${near}'? it` : "it"} takes ${takes}`;
}

const MAX_INTEGER = 2 ** 31 - 1;

/** Return a value of a kind; an error names the key. */
function readValue(key, kind, value, release) {
  const expect = (isRight, what) => {
    if (!isRight) throw new TextError(`${key} must be ${what}, got ${shownValue(value)}`);
  };
  const isInteger = (number) => Number.isInteger(number) && number >= 0 && number <= MAX_INTEGER;
  const isList = (list, holds) => Array.isArray(list) && list.every(holds);
  const isVector = (vector) => isList(vector, isInteger);
  if (kind.words) {
    expect(Object.hasOwn(kind.words, String(value)), Object.keys(kind.words).join(" or "));
    return kind.words[value];
  }
  if (kind.inputs) {
    expect(value.dictionary, "a dictionary");
    const strange = Object.keys(value.dictionary).find((input) => !kind.inputs.includes(input));
    expect(!strange, `of ${kind.inputs.join(" and ")}`);
    const bases = (input) => readValue(input, "bases", value.dictionary[input] ?? [], release);
    return kind.inputs.map(bases);
  }
  if (kind === "layout") return readEncoding(value, release);
  if (kind === "integer" && value === false) return 0;
  if (kind === "integers" && Array.isArray(value)) value = value.map((n) => (n === false ? 0 : n));
  if (kind === "integer") expect(isInteger(value), "a number from 0 to 2^31 - 1");
  if (kind === "boolean") expect(typeof value === "boolean", "true or false");
  if (kind === "integers") expect(isVector(value), "a list of numbers");
  if (kind === "bases") expect(isList(value, isVector), "a list of basis vectors");
  if (kind !== "pairs") return value;
  expect(isList(value, (pair) => pair.padding !== undefined), "interval:+padding, ...");
  return value.map(({ interval, padding }) => [interval, padding]);
}

function shownValue(value) {
  return value.name ?? (value.dictionary ? "{...}" : show(value));
}

// -- the release of a text ----------------------------------------------------------------------

/**
 * Return the newest release that knows every key of an attribute, and of those among its values;
 * if there are some, of those that have every key they need.
 */
function newestRelease(attribute) {
  const nodes = nestedIn(readAttribute(attribute));
  const releases = [...DATA.releases].reverse();
  const isReadBy = (judge, release) => (node) =>
    encodingsNamed(node.name).some((encoding) => {
      const form = formIn(encoding, release);
      return form?.name === node.name.slice(1) && judge(form, node, release);
    });
  const found = [isComplete, knowsKeys].flatMap((judge) =>
    releases.filter((release) => nodes.every(isReadBy(judge, release))),
  );
  return found[0] ?? releases[0];
}

/** Return an attribute and those among its values, without those that only mark them. */
function nestedIn(node) {
  const { name, items } = unwrapped(node);
  const values = items.flatMap(({ dictionary, value }) => [value, ...Object.values(dictionary ?? {})]);
  return [{ name, items }, ...values.filter((value) => value?.items).flatMap(nestedIn)];
}

/** Tell whether an attribute has all keys that a form needs, and says nothing that is gone. */
function isComplete(form, node, release) {
  const written = writtenKeys(node);
  const isRequired = ([name, , , ...absent]) => !absent.length && name !== "paddings";
  const needed = keysOf(form).filter(isRequired);
  if (!knowsKeys(form, node) || !needed.every(([name]) => written.includes(name))) return false;
  const given = Object.assign({}, ...node.items.map(({ dictionary }) => dictionary));
  const isGone = {
    nvidia_mma: () => given.versionMajor === 1 && isSince(release, "3.9"),
    blocked: () => isSince(release, "3.4") && SPLIT.some((name) => given[name]?.length === 0),
    padded_shared: () => isSince(release, "3.6") && !given.shape && !given.offset,
  };
  return !isGone[form.name.split(".")[1]]?.();
}

// -- what old releases wrote in another way -------------------------------------------------

const SPLIT = ["CTAsPerCGA", "CTASplitNum", "CTAOrder"];

/** Return values in which today's keys say what those of older releases did. */
function inTodaysTerms(mnemonic, written, release) {
  const values = { CGALayout: [], ...written };
  if (SPLIT[0] in values) {
    Object.assign(values, { CGALayout: basesOfSplit(values), splitRank: values.CTAsPerCGA?.length });
  }
  if ("CTASplitM" in values) values.CGALayout = basesOfTwoSplits(values);
  return { ...values, ...OLDER[mnemonic]?.(values, release) };
}

const OLDER = {
  nvidia_mma: ({ versionMinor = 0, instrShape = [] }) => ({ versionMinor, instrShape }),
  amd_mfma(values) {
    if (values.versionMinor)
      throw new TextError(`versionMinor must be 0, got ${values.versionMinor}`);
    const { elementType, elementBitWidth = elementType === "f64" ? 64 : 32 } = values;
    const instrShape = SPLIT[0] in values ? values.instrShape.slice(0, 2) : values.instrShape;
    const { tilesPerWarp = [] } = values;
    return { elementBitWidth, instrShape, tilesPerWarp };
  },
  amd_wmma({ version = 1, isTranspose = false, instrShape = [16, 16, 16], ...values }) {
    const today = { version, isTranspose, instrShape };
    if (values.ctaLayout) return today;
    const { warpsPerCTA, tilesPerWarp = [] } = values;
    const ctaLayout = tilesOfLists(warpsPerCTA, tilesPerWarp);
    return { ...today, ctaLayout, rank: warpsPerCTA.length };
  },
  dpas: ({ repCluster, warpsPerCTA }) => ({
    repCluster: repCluster.length ? repCluster : warpsPerCTA.map(() => 1),
  }),
  nvmma_shared: ({ rank, splitRank = 2, ...values }) =>
    SPLIT[0] in values ? { rank: splitRank === 2 ? null : splitRank } : { rank },
  tensor_memory_encoding(values) {
    const { unpacked, colStride = unpacked ? null : 1 } = values;
    const { twoCTAs = false, ctaMode = "default", fp4Padded = false } = values;
    return { colStride, twoCTAs, ctaMode, fp4Padded };
  },
  dot_op({ kWidth = 0, parent, ...values }, release) {
    if (kWidth !== null && !isSince(release, "3.0") && isSince(release, "2.1") && !takesWidth(parent))
      throw new TextError("kWidth is only for an mma parent of Ampere or later");
    return { kWidth: kWidth ?? 0, parent, ...values };
  },
};

function takesWidth({ mnemonic, values }) {
  return mnemonic === "nvidia_mma" && values.versionMajor !== 1;
}

/** Return the bases of block for three lists: of each dimension the CTAs that split it, then repeat it. */
function basesOfSplit(values) {
  const given = SPLIT.filter((name) => values[name] !== null);
  if (!given.length) return [];
  if (given.length < SPLIT.length)
    throw new TextError(`${SPLIT.join(", ")} must all be given or none of them`);
  const [perCga, split, order] = SPLIT.map((name) => values[name]);
  if (perCga.length !== split.length || split.length !== order.length)
    throw new TextError(`${SPLIT.join(", ")} must have one length`);
  if (!order.length) return [];
  checkPermutation("CTAOrder", order);
  checkPowers("CTAsPerCGA", perCga);
  checkPowers("CTASplitNum", split);
  if (perCga.some((count, d) => count % split[d]))
    throw new TextError(`CTASplitNum must divide CTAsPerCGA, got ${show(split)} and ${show(perCga)}`);
  const factors = order.flatMap((d) => [
    identity(split[d], "block", `dim${d}`),
    zeros(perCga[d] / split[d], "block"),
  ]);
  const names = perCga.map((_, d) => `dim${d}`);
  return vectorsOf(withOuts(factors.reduce(times), names), "block");
}

/** Return the bases of block for CTASplitM and CTASplitN. */
function basesOfTwoSplits({ CTASplitM, CTASplitN }) {
  checkPowers("CTASplitM", [CTASplitM]);
  checkPowers("CTASplitN", [CTASplitN]);
  const layout = times(
    identity(CTASplitM, "block", "dim0"),
    identity(CTASplitN, "block", "dim1"),
  );
  return vectorsOf(layout, "block");
}

/** Return ctaLayout for the lists of 3.6 and before: of each dimension the tiles, then the warps. */
function tilesOfLists(warps, tiles) {
  checkPowers("warpsPerCTA", warps);
  checkPowers("tilesPerWarp", tiles);
  if (tiles.length && tiles.length !== warps.length)
    throw new TextError("warpsPerCTA and tilesPerWarp must have one length");
  const factors = warps.map((count, d) =>
    times(
      identity(tiles[d] ?? 1, "register", `dim${d}`),
      identity(count, "warp", `dim${d}`),
    ),
  );
  const names = warps.map((_, d) => `dim${d}`);
  const layout = withOuts(factors.reverse().reduce(times, emptyLayout()), names);
  return ["register", "warp"].map((input) => vectorsOf(layout, input));
}
