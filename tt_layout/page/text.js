// A text of many lines: only those in sight are in the document, whatever its length.  It may be
// pieces of a file, each with the number of its first line: rows count what is there, lines the file.

const TEXT_ROW = 20; // pixels
const TEXT_MARGIN = 20; // lines above and below those in sight

/** A box that scrolls over the lines of a text; one line is current, some are marked. */
class TextPane {
  /**
   * @param {HTMLElement} box the element to fill
   * @param {string} prefix what the ids of its lines begin with
   * @param {{ choose(line: number): void, pieces(line: number, text: string): Array<Node | string>,
   *   gutter(line: number): string }} handlers what choosing a line does, what of its text leads
   *   somewhere, and what is shown before it
   */
  constructor(box, prefix, handlers) {
    this.box = box;
    this.prefix = prefix;
    this.handlers = handlers;
    this.pieces = [];
    this.starts = []; // row of each piece's first line
    this.lines = [];
    this.rows = new Map(); // line -> its row in the document
    this.marked = new Set();
    /** @type {Map<number, number>} */
    this.waits = new Map();
    this.current = 1;
    this.found = null;
    this.extent = make("div", { className: "text-extent" });
    box.setAttribute("role", "listbox");
    box.append(this.extent);
    box.addEventListener("scroll", () => requestAnimationFrame(() => this.#paint()));
    box.addEventListener("keydown", (event) => this.#onKey(event));
    new ResizeObserver(() => this.#paint()).observe(box);
  }

  /**
   * Show a text.
   *
   * @param {[number, string][]} pieces the number of the first line of each, and its text
   */
  show(pieces) {
    const isShown = ([first, text], k) => first === this.pieces[k][0] && text === this.pieces[k][1];
    if (pieces.length === this.pieces.length && pieces.every(isShown)) return;
    this.pieces = pieces;
    const texts = pieces.map(([, text]) => text.split("\n"));
    let rows = 0;
    this.starts = texts.map((lines) => (rows += lines.length) - lines.length);
    this.lines = texts.flat();
    const longest = this.lines.reduce((most, line) => Math.max(most, line.length), 0);
    this.extent.style.height = `${this.lines.length * TEXT_ROW}px`;
    this.extent.style.minWidth = `calc(${longest}ch + 9rem)`;
    this.#drop(() => true);
    this.#paint();
  }

  /** Mark lines, and one above all; beside some stand the cycles that an iteration waits for them. */
  mark(marked, found = this.found, waits = this.waits) {
    Object.assign(this, { marked, found, waits });
    this.box.classList.toggle("timed", waits.size > 0);
    if (found) this.current = found;
    this.#paint();
  }

  /** Return the row of a line, from 0; -1 of one that is not there. */
  #rowOf(line) {
    const k = this.pieces.findLastIndex(([first]) => first <= line);
    if (k < 0) return -1;
    const row = this.starts[k] + line - this.pieces[k][0];
    return row < (this.starts[k + 1] ?? this.lines.length) ? row : -1;
  }

  /** Return the line of a row. */
  #lineOf(row) {
    const k = this.starts.findLastIndex((start) => start <= row);
    return this.pieces[k][0] + row - this.starts[k];
  }

  /** Scroll to a line, unless it is in sight. */
  reveal(line) {
    const top = Math.max(0, this.#rowOf(line)) * TEXT_ROW;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop + TEXT_ROW || top > scrollTop + clientHeight - 2 * TEXT_ROW)
      this.box.scrollTop = Math.max(0, top - clientHeight / 2 + TEXT_ROW);
    this.#paint();
  }

  /** Put the lines in sight into the document; rows that stay are kept, and with them a click on one. */
  #paint() {
    const { scrollTop, clientHeight } = this.box;
    const first = Math.max(0, Math.floor(scrollTop / TEXT_ROW) - TEXT_MARGIN);
    const end = Math.min(
      this.lines.length,
      Math.ceil((scrollTop + clientHeight) / TEXT_ROW) + TEXT_MARGIN,
    );
    this.#drop((line) => this.#rowOf(line) < first || this.#rowOf(line) >= end);
    let next = this.extent.firstChild;
    for (let row = first; row < end; row++) {
      const line = this.#lineOf(row);
      if (this.rows.has(line)) {
        next = this.rows.get(line).nextSibling;
      } else {
        this.rows.set(line, this.#row(line, row));
        this.extent.insertBefore(this.rows.get(line), next);
      }
      this.#paintRow(line);
    }
    if (this.rows.has(this.current))
      this.box.setAttribute("aria-activedescendant", this.#id(this.current));
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** Take the rows of some lines out of the document. */
  #drop(isOut) {
    for (const line of [...this.rows.keys()].filter(isOut)) {
      this.rows.get(line).remove();
      this.rows.delete(line);
    }
  }

  /** Show whether a line is marked, found or current. */
  #paintRow(line) {
    const row = this.rows.get(line);
    row.setAttribute("aria-selected", String(line === this.found));
    row.classList.toggle("here", this.marked.has(line));
    row.classList.toggle("found", line === this.found);
    row.classList.toggle("current", line === this.current);
    const cycles = this.waits.get(line);
    row.classList.toggle("waited", cycles !== undefined);
    row.querySelector(".waits").textContent = cycles ?? "";
  }

  #id(line) {
    return `${this.prefix}-${line}`;
  }

  #row(line, at) {
    const isApart = at > 0 && this.starts.includes(at); // lines before it are left out
    const row = make(
      "div",
      { className: isApart ? "row apart" : "row", id: this.#id(line), onclick: () => this.#choose(line) },
      make(
        "span",
        { className: "margin" },
        make("span", { className: "number", textContent: line }),
        make("span", { className: "live", textContent: this.handlers.gutter(line) }),
        make("span", { className: "waits", title: "cycles of the critical path" }),
      ),
      make("code", {}, ...this.handlers.pieces(line, this.lines[at] || " ")),
    );
    row.dataset.line = line;
    row.style.top = `${at * TEXT_ROW}px`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-posinset", String(at + 1));
    row.setAttribute("aria-setsize", String(this.lines.length));
    return row;
  }

  #choose(line) {
    this.current = line;
    this.handlers.choose(line);
  }

  #onKey(event) {
    const fitting = Math.floor(this.box.clientHeight / TEXT_ROW) - 1;
    const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -fitting, PageDown: fitting };
    const last = this.lines.length - 1;
    const ends = { Home: 0, End: last };
    if (event.key === "Enter") this.#choose(this.current);
    else if (event.key in steps || event.key in ends) {
      const requested = ends[event.key] ?? this.#rowOf(this.current) + steps[event.key];
      this.current = this.#lineOf(Math.max(0, Math.min(last, requested)));
      this.reveal(this.current);
    } else return;
    event.preventDefault();
  }
}
