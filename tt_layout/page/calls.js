// Calls as Python writes them, such as gl.BlockedLayout([1, 4], order=[1, 0]): read, never evaluated.

const CALL_TOKEN = /\s*(?:([A-Za-z_][\w.]*)|(\d+)|("[^"\\\n]*"|'[^'\\\n]*')|([()[\],=]))/y;
const CALL_WORDS = { True: true, False: false, None: null };
const MAX_CALL_DEPTH = 64;

/** A call: its name, the arguments by place, and those by name. */
class Call {
  /**
   * @param {string} name
   * @param {any[]} positional
   */
  constructor(name, positional = []) {
    this.name = name;
    this.positional = positional;
    /** @type {Record<string, any>} */
    this.keywords = Object.create(null);
  }

  /** The name of the class without that of its module. */
  get own() {
    return this.name.split(".").at(-1);
  }
}

/** @typedef {{ at?: number, word?: string, number?: string, string?: string, sign?: string }} Token */

/** A text of calls, lists and constants, read from left to right. */
class CallReader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    /** @type {Token[]} */
    this.tokens = [];
    CALL_TOKEN.lastIndex = 0;
    while (CALL_TOKEN.lastIndex < text.trimEnd().length) {
      const at = CALL_TOKEN.lastIndex;
      const match = CALL_TOKEN.exec(text);
      if (!match) throw new TextError(`cannot read ${quoted(text, at)}`);
      const [, word, number, string, sign] = match;
      this.tokens.push({ at, word, number, string, sign });
    }
    this.next = 0;
    this.depth = 0;
  }

  /** @returns {Token} */
  get token() {
    return this.tokens[this.next] ?? {};
  }

  accept(sign) {
    if (this.token.sign !== sign) return false;
    this.next += 1;
    return true;
  }

  take(sign) {
    if (!this.accept(sign)) this.fail(`expected ${sign}`);
  }

  fail(message) {
    throw new TextError(`${message}, found ${quoted(this.text, this.token.at ?? this.text.length)}`);
  }

  value() {
    if (++this.depth > MAX_CALL_DEPTH)
      throw new TextError(`brackets nest deeper than ${MAX_CALL_DEPTH}`);
    const value = this.#value();
    this.depth -= 1;
    return value;
  }

  #value() {
    const { word, number, string } = this.token;
    if (this.accept("[")) return this.#items("]").values;
    if (this.accept("(")) {
      const { values, hasComma } = this.#items(")");
      return values.length === 1 && !hasComma ? values[0] : values;
    }
    if (number === undefined && string === undefined && word === undefined)
      this.fail("expected a value");
    this.next += 1;
    if (number !== undefined) return Number(number);
    if (string !== undefined) return string.slice(1, -1);
    if (word in CALL_WORDS) return CALL_WORDS[word];
    return this.accept("(") ? this.#call(word) : word;
  }

  #items(end) {
    const values = [];
    let hasComma = false;
    while (!this.accept(end)) {
      values.push(this.value());
      hasComma = this.accept(",");
      if (!hasComma && this.token.sign !== end) this.fail(`expected , or ${end}`);
    }
    return { values, hasComma };
  }

  #call(name) {
    const call = new Call(name);
    while (!this.accept(")")) {
      const isNamed = this.token.word && this.tokens[this.next + 1]?.sign === "=";
      if (isNamed) {
        const { word } = this.token;
        if (Object.hasOwn(call.keywords, word)) this.fail(`${word} is given twice`);
        this.next += 2;
        call.keywords[word] = this.value();
      } else if (Object.keys(call.keywords).length) {
        this.fail("expected keyword=value");
      } else call.positional.push(this.value());
      if (!this.accept(",") && this.token.sign !== ")") this.fail("expected , or )");
    }
    const isWrapper = call.own === "constexpr" && call.positional.length === 1;
    return isWrapper ? call.positional[0] : call;
  }
}

/** Return the call that a text is. */
function readCall(text) {
  const reader = new CallReader(text);
  const call = reader.value();
  if (reader.next < reader.tokens.length) reader.fail("expected the end");
  if (!(call instanceof Call))
    throw new TextError("expected a constructor such as gl.BlockedLayout(...)");
  return call;
}
