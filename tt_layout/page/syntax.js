// Attributes and types as MLIR writes them: text to values, whatever they mean.

/** What is wrong with a text. */
class TextError extends Error {}

const TOKEN =
  /(?:\s|\/\/[^\n]*)*(?:("?#?[A-Za-z_][\w.]*"?)|(-?(?:0x[0-9A-Fa-f]+|\d+))|([<>{}[\](),=:+]))/y;

/** Split a text into words, numbers and signs. */
function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new TextError(`cannot read ${quoted(text, start)}`);
    found.push({ text: match[1] ?? match[2] ?? match[3], at: start, isNumber: Boolean(match[2]) });
  }
  return found;
}

function quoted(text, start) {
  const part = text.slice(start).trim().slice(0, 12);
  return part
    ? `“${part}” at column ${text.length - text.slice(start).trimStart().length + 1}`
    : "the end";
}

const MAX_DEPTH = 64; // brackets within brackets

/** A text read from left to right.
 *
 * A value is a number, a word, true or false, a list, { interval, padding }, a dictionary
 * { dictionary }, or an attribute { name, items, text }, of which an item may also be { key, value }.
 */
class Reader {
  constructor(text) {
    this.text = text;
    this.tokens = tokens(text);
    this.next = 0;
    this.depth = 0;
  }

  peek(ahead = 0) {
    return this.tokens[this.next + ahead]?.text;
  }

  take(sign) {
    if (this.peek() !== sign) this.fail(`expected ${sign ?? "more"}`);
    this.next += 1;
  }

  accept(sign) {
    if (this.peek() !== sign) return false;
    this.next += 1;
    return true;
  }

  word() {
    const token = this.tokens[this.next];
    if (!token || !/^#?[A-Za-z_]/.test(token.text)) this.fail("expected a name");
    this.next += 1;
    return token.text;
  }

  value() {
    const token = this.tokens[this.next];
    if (!token) this.fail("expected a value");
    if (this.depth > MAX_DEPTH) this.fail(`brackets may nest ${MAX_DEPTH} deep at most`);
    this.depth += 1;
    const value = this.#valueAt(token);
    this.depth -= 1;
    return value;
  }

  #valueAt(token) {
    if (token.text === "[") return this.list();
    if (token.text === "{") return this.dictionary();
    if (token.text.startsWith("#")) return this.attribute();
    if (token.isNumber) return this.number();
    const word = this.word();
    return word === "true" || word === "false" ? word === "true" : word;
  }

  /** Read a number, a number with its type, or interval:+padding. */
  number() {
    const token = this.tokens[this.next];
    if (!token?.isNumber) this.fail("expected a number");
    this.next += 1;
    const [sign, digits] = /^(-?)(.*)$/.exec(token.text).slice(1);
    const value = Number(digits) * (sign ? -1 : 1);
    if (!this.accept(":")) return value;
    if (/^[A-Za-z]/.test(this.peek() ?? "")) {
      this.word();
      return value;
    }
    this.take("+");
    return { interval: value, padding: this.number() };
  }

  list() {
    const values = [];
    this.take("[");
    if (this.accept("]")) return values;
    do values.push(this.value());
    while (this.accept(","));
    this.take("]");
    return values;
  }

  dictionary() {
    const dictionary = Object.create(null);
    this.take("{");
    if (this.accept("}")) return { dictionary };
    do this.#add(dictionary, this.entry());
    while (this.accept(","));
    this.take("}");
    return { dictionary };
  }

  #add(dictionary, { key, value }) {
    if (Object.hasOwn(dictionary, key)) this.fail(`${key} is given twice`);
    dictionary[key] = value;
  }

  entry() {
    const isQuoted = this.peek()?.startsWith('"');
    const key = isQuoted ? this.tokens[this.next++].text.slice(1, -1) : this.word();
    this.take("=");
    return { key, value: this.value() };
  }

  attribute() {
    if (!this.peek()?.startsWith("#"))
      throw new TextError("an attribute begins with #, as #ttg.linear<{...}>");
    const start = this.tokens[this.next].at;
    const name = this.word();
    if (!name.includes("."))
      throw new TextError(`${name} is the name of a layout; write the attribute itself`);
    const items = this.accept("<") ? this.#items() : [];
    const end = this.tokens[this.next]?.at;
    return { name, items, text: this.text.slice(start, end).trim() };
  }

  #items() {
    const items = [];
    while (items.length || !this.accept(">")) {
      items.push(this.peek(1) === "=" ? this.entry() : this.value());
      if (this.accept(">")) break;
      if (!Array.isArray(items.at(-1)) || this.peek() !== "{") this.take(",");
    }
    return items;
  }

  end() {
    if (this.next < this.tokens.length) this.fail("expected the end");
  }

  fail(message) {
    const at = this.tokens[this.next]?.at ?? this.text.length;
    throw new TextError(`${message}, found ${quoted(this.text, at)}`);
  }
}

/** Return the attribute that a text is. */
function readAttribute(text) {
  const reader = new Reader(text);
  const node = reader.attribute();
  reader.end();
  return node;
}

/** Return the shape and the element type of a type such as tensor<16x16xf16>. */
function parseType(text) {
  const match =
    /^\s*(tensor|!(?:ttg|tt|triton_gpu)\.memdesc)\s*<\s*((?:\d+\s*x\s*)+)(!tt\.ptr|[a-z]\w*)/.exec(
      text,
    );
  if (!match) throw new TextError("expected a type such as tensor<16x16xf16>");
  const shape = match[2]
    .split("x")
    .map((part) => part.trim())
    .filter(Boolean)
    .map(Number);
  if (product(shape) > 2 ** 53) throw new TextError("the page shows at most 2^53 elements");
  return { shape, bits: elementBits(match[3]), element: match[3] };
}

/** Return the width of an element type in bits; null where it has none. */
function elementBits(name) {
  if (name === "!tt.ptr") return 64;
  const named = { bf16: 16, tf32: 32, index: null }[name];
  if (named !== undefined) return named;
  const match = /^(?:[su]?i|f)(\d+)/.exec(name);
  if (!match) throw new TextError(`unknown element type ${name}`);
  return Number(match[1]);
}

/** Write nested lists as MLIR does. */
function show(value) {
  return Array.isArray(value) ? `[${value.map(show).join(", ")}]` : String(value);
}
