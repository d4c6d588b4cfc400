// A grid of cells on a canvas: only what is visible is drawn, whatever the tensor's size.  For
// keyboards and screen readers the grid has one cell in the document, which follows the cursor.

const FONT_FAMILY = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const LABEL_FONT = `11px ${FONT_FAMILY}`;
const LABEL_SIZES = [11, 10, 9, 8]; // pixels of the text in a cell, the largest that fits
const MEASURED = 10; // pixels of the text that is measured
const HEAD = 20;
const ROW_HEIGHT = 34; // of the highest cells that are chosen by themselves
const SPACE = 3; // pixels beside the text of a cell
const TEXT_GAP = 5; // pixels at least between texts beside each other
const MIN_CELL = 1;
const WHOLE_CELL = 16; // smaller cells have quarters of pixels, so that they fill the room
const MOST_OF_WINDOW = 0.4; // that a grid of many rows takes beside a dump
const MOST_OUT_OF_SIGHT = 2; // times the room that a grid takes on a phone, so that its cells have text
const MIN_FRAMED = 6; // in lower cells a thick frame is no other than a thin one
const POINTER = 11; // pixels from the middle of a pointer to its tip, and to the edge
const MAX_POINTERS = 8;
const PAPER_HEIGHT = 880; // pixels that a sheet has beside its margins and a heading
const MAX_EXTENT = 8e6; // pixels that browsers can scroll over
const MORE_HOLDERS = "+"; // behind the first location of an element that is in several
const MOVES = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -16],
  PageDown: [0, 16],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};

/**
 * Return an element of the document.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
function byId(id) {
  return document.getElementById(id);
}

/**
 * Return a box, a list or a button of the document, which has a value or can be disabled.
 *
 * @param {string} id
 */
function control(id) {
  return /** @type {HTMLInputElement} */ (byId(id));
}

/**
 * Do something with the value of a list when another is chosen.
 *
 * @param {string} id
 * @param {(value: string) => void} act
 */
function onChoice(id, act) {
  byId(id).onchange = () => act(control(id).value);
}

/**
 * Make an element with properties and children.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]> | Record<string, any>} properties
 * @param {Array<Node | string>} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** Read the colours of the page's theme. */
function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(
    ["panel", "ink", "soft", "line", "accent"].map((name) => [name, read(name)]),
  );
}

/** Break a label in two where it has a joint: T109 and :1, 11 and 10 of 11,10, or 12 and +1 of 12+1. */
function twoLines(text) {
  const at = Math.max(text.lastIndexOf(":"), text.lastIndexOf(","), text.search(/\+\d/));
  return at > 0 ? [text.slice(0, at), text.slice(at).replace(",", "")] : [text];
}

/** Return what a label says in less room: T109 of T109:1, and that there are others, T109+ of T109:1+. */
function shortened(text) {
  return twoLines(text)[0] + (text.endsWith(MORE_HOLDERS) ? MORE_HOLDERS : "");
}

/** Return the longest of some labels, the first of those alike; "" of none. */
function longest(labels) {
  return labels.reduce((long, own) => (own.length > long.length ? own : long), "");
}

/** Return [start, end] of each run of equal values. */
function runs(values) {
  const found = [];
  for (let start = 0, end = 0; start < values.length; start = end) {
    while (end < values.length && values[end] === values[start]) end++;
    found.push([start, end]);
  }
  return found;
}

/** Return every how many places of runs [start, end] there are between two places. */
function ticks(among, every, from, to) {
  return among.flatMap(([start, end]) => {
    const first = start + Math.ceil(Math.max(0, from - start) / every) * every;
    const count = Math.max(0, Math.ceil((Math.min(end, to) - first) / every));
    return Array.from({ length: count }, (_, k) => first + k * every);
  });
}

function isOnPaper() {
  return document.documentElement.classList.contains("paper") || matchMedia("print").matches;
}

/** Return the height that a grid may take. */
function roomBelow() {
  if (isOnPaper()) return PAPER_HEIGHT;
  const share = Number(getComputedStyle(document.documentElement).getPropertyValue("--grid-share"));
  return Math.max(150, Math.min(share * window.innerHeight, 640));
}

/** A pane with a grid. */
class GridView {
  /**
   * @param {HTMLElement} pane the section that the grid fills
   * @param {any} handlers `hover(source, x, y)`, `leave()`, `pin(source, x, y, adds)`
   */
  constructor(pane, handlers) {
    this.pane = pane;
    this.handlers = handlers;
    /** The source of the cells: a TensorSource, a HardwareSource or a MultiplicationSource. @type {any} */
    this.source = undefined;
    /** The pixels that are drawn on. @type {[number, number] | undefined} */
    this.stageSize = undefined;
    /** The height that the grid may take, in pixels; null for a share of the window. @type {number | null} */
    this.room = null;
    this.width = 0; // of a cell, in pixels
    this.height = 0;
    this.zoom = 0;
    this.cursor = [0, 0];
    this.dirty = new Set();
    this.selections = [];
    this.#build();
    this.#listen();
  }

  #build() {
    const id = this.pane.id;
    this.heading = make("h2", { id: `${id}-title` });
    this.about = make("span", { className: "about" });
    const button = (text, label, act) => {
      const node = make("button", {
        type: "button",
        textContent: text,
        title: label,
        onclick: act,
      });
      node.setAttribute("aria-label", `${label}, ${this.pane.dataset.name}`);
      return node;
    };
    const zoom = make(
      "span",
      { className: "zoom" },
      button("−", "Smaller cells", () => this.zoomBy(-1)),
      button("Fit", "Fit the window", () => this.zoomBy(0)),
      button("+", "Larger cells", () => this.zoomBy(1)),
    );
    this.base = make("canvas");
    this.over = make("canvas");
    /** Of what is drawn, while it is printed. @type {HTMLImageElement | null} */
    this.picture = null;
    this.cell = make("div", { id: `${id}-cell`, role: "gridcell" });
    this.cell.setAttribute("role", "gridcell");
    const row = make("div", {}, this.cell);
    row.setAttribute("role", "row");
    row.className = "unseen";
    this.stage = make("div", { className: "stage", tabIndex: 0 }, this.base, this.over, row);
    this.stage.setAttribute("role", "grid");
    this.stage.setAttribute("aria-labelledby", this.heading.id);
    this.stage.setAttribute("aria-activedescendant", this.cell.id);
    this.stage.setAttribute("aria-describedby", "keys");
    this.extent = make("div", { className: "extent" }, this.stage);
    this.scroller = make("div", { className: "scroller", tabIndex: -1 }, this.extent);
    // The buttons stand above the grid, and come after it for the Tab key.
    this.pane.append(make("header", {}, this.heading, this.about), this.scroller, zoom);
  }

  #listen() {
    this.scroller.addEventListener("scroll", () => this.#redraw("base", "over"));
    window.addEventListener("resize", () => this.layOut());
    new ResizeObserver(() => {
      if (
        this.scroller.clientWidth !== this.stageSize?.[0] ||
        this.scroller.clientHeight !== this.stageSize[1]
      )
        this.layOut();
    }).observe(this.scroller);
    this.stage.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    this.stage.addEventListener("mousemove", (event) => this.#pointAt(event));
    this.stage.addEventListener("mouseleave", () => this.#leave());
    this.stage.addEventListener("click", (event) => {
      const at = this.#cellAt(event);
      if (!at) return;
      this.cursor = at;
      this.handlers.pin(this.source, ...at, event.shiftKey || event.ctrlKey || event.metaKey);
    });
    this.stage.addEventListener("keydown", (event) => this.#key(event));
    this.stage.addEventListener("focus", () => {
      if (this.stage.matches(":focus-visible")) this.moveTo(...this.cursor);
    });
    this.stage.addEventListener("blur", () => this.#leave());
  }

  /** Show another source, keeping the cursor where it can be kept. */
  show(source) {
    const isOther = this.source?.columns !== source.columns || this.source?.rows !== source.rows;
    this.source = source;
    if (isOther) {
      this.zoom = 0;
      this.anchor = null;
    }
    this.cursor = [
      Math.min(this.cursor[0], source.columns - 1),
      Math.min(this.cursor[1], source.rows - 1),
    ];
    this.heading.textContent = source.title;
    this.stage.setAttribute("aria-rowcount", source.rows);
    this.stage.setAttribute("aria-colcount", source.columns);
    this.layOut();
  }

  /** Zoom around the cell that was pointed at last, or the middle; 0 fits the window again. */
  zoomBy(step) {
    const [x, y] = this.anchor ?? this.#middleCell();
    const at = this.middle(x, y);
    this.zoom = step ? this.zoom + step : 0;
    this.layOut();
    const [left, top] = this.middle(x, y);
    this.scroller.scrollLeft += left - at[0];
    this.scroller.scrollTop += top - at[1];
  }

  #onWheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoomBy(event.deltaY < 0 ? 1 : -1);
  }

  #middleCell() {
    const { x0, x1, y0, y1 } = this.visible();
    return [Math.floor((x0 + x1) / 2), Math.floor((y0 + y1) / 2)];
  }

  /** Choose the size of cells for the room there is, and draw. */
  layOut() {
    if (!this.source || !this.scroller.clientWidth) return;
    const { columns, rows } = this.source;
    this.#measure();
    const room = this.room ?? Math.max(roomBelow(), this.#wholeHeight);
    [this.width, this.height] = this.#cellSize(this.scroller.clientWidth - this.gutter, room - HEAD - 2);
    this.label = this.#labelIn(this.width, this.height);
    const scale = (count, size) => Math.min(count * size, MAX_EXTENT);
    this.extent.style.width = `${this.gutter + scale(columns, this.width)}px`;
    this.extent.style.height = `${HEAD + scale(rows, this.height) + 2}px`;
    this.scroller.style.height = `${Math.min(HEAD + rows * this.height + 2 + this.#barHeight(), room)}px`;
    this.about.textContent = [this.source.about, ...this.#leftOut()].join("; ");
    this.#resize(this.scroller.clientWidth, this.scroller.clientHeight);
    this.#redraw("base", "over");
  }

  /** Say which part is on paper, where nothing can be scrolled. */
  #leftOut() {
    if (!isOnPaper()) return [];
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = this.scroller;
    const parts = [
      ["rows", this.source.rows, scrollTop / this.height, (clientHeight - HEAD) / this.height],
      ["columns", this.source.columns, scrollLeft / this.width, (clientWidth - this.gutter) / this.width],
    ];
    return parts
      .filter(([, count, , fitting]) => fitting < count)
      .map(([noun, count, first, fitting]) => {
        const last = Math.min(count, Math.floor(first + fitting)) - 1;
        return `${noun} ${Math.ceil(first)} to ${last} of ${count}`;
      });
  }

  /** Return the height of what is above the grid in its pane. */
  get headHeight() {
    return this.pane.firstElementChild.getBoundingClientRect().height + 18;
  }

  /** Return the height at which all rows can be seen, as far as that leaves a part of the window. */
  get #wholeHeight() {
    return Math.min(HEAD + this.source.rows * MIN_CELL + 4, MOST_OF_WINDOW * window.innerHeight);
  }

  /** Return the height at which the grid's cells are as high as they are ever chosen to be. */
  get wantedHeight() {
    return HEAD + this.source.rows * this.#mostHigh + 4;
  }

  /** Return the least height at which cells have text, of all rows in a width; 0 where no height is enough. */
  labelledHeight(width) {
    this.#measure();
    const [cell] = this.#cellSize(width - this.gutter, Infinity, 1);
    const heights = Array.from({ length: this.#mostHigh }, (_, k) => k + 1);
    const least = heights.find((height) => this.#labelIn(cell, height));
    return least ? HEAD + this.source.rows * least + 4 : 0;
  }

  /** Return how well cells fit a room: 1 where they have their text, less the smaller they are. */
  fitting(width, height) {
    this.#measure();
    const [w, h] = this.#cellSize(width - this.gutter, height - HEAD - 2, 1);
    const { columns, rows } = this.source;
    const part = Math.min(1, (width - this.gutter) / (columns * w)) * Math.min(1, height / (rows * h));
    const label = this.#labelIn(w, h);
    if (label) return part * (label.lines === "short" ? 0.9 : 1);
    return part * Math.min(0.8, 0.04 * Math.min(w, 2 * h));
  }

  /** Return the height of a scroll bar where the cells do not fit the width. */
  #barHeight() {
    return this.source.columns * this.width + this.gutter > this.scroller.clientWidth ? 16 : 0;
  }

  /** Measure the labels of the source, for text of one pixel. */
  #measure() {
    const pen = this.base.getContext("2d");
    const { longestLabel, rows } = this.source;
    pen.font = `${MEASURED}px ${FONT_FAMILY}`;
    const widthOf = (text) => pen.measureText(text).width / MEASURED;
    const halves = twoLines(longestLabel);
    this.widths = [[longestLabel], halves, this.source.hasShortLabels ? [shortened(longestLabel)] : []].map(
      (lines) => ({ count: lines.length, width: Math.max(...lines.map(widthOf)) }),
    );
    pen.font = LABEL_FONT;
    const labels = [0, rows - 1, rows >> 1].map(
      (y) => pen.measureText(this.source.rowLabel(y)).width,
    );
    this.gutter = Math.ceil(Math.max(...labels)) + 14;
  }

  /** Return the { size, lines } of the text that fits a cell: whole, in two lines or shortened; or null. */
  #labelIn(width, height) {
    const [whole, halves, short] = this.widths;
    const fits = ({ count, width: own }, size) =>
      count > 0 && width >= own * size + SPACE && height >= count * size + 2;
    /** @type {any[]} */
    const shapes = [[whole, "whole"], [halves, "halves"], [short, "short"]];
    for (const among of [shapes.slice(0, 2), shapes.slice(2)])
      for (const size of LABEL_SIZES)
        for (const [shape, lines] of among)
          if (fits(shape, size)) return { size, lines };
    return null;
  }

  /** Return the size of a cell: as large as the room allows, up to what its label takes comfortably. */
  #cellSize(width, height, factor = 2 ** (this.zoom / 2)) {
    const { columns, rows } = this.source;
    const widest = Math.max(this.#mostHigh, this.widths[0].width * LABEL_SIZES[0] + 18);
    const fitting = (room, count) => {
      const steps = room < WHOLE_CELL * count ? 4 : 1; // of a pixel
      return Math.floor((steps * room) / count) / steps;
    };
    const size = (room, count, most, least = MIN_CELL) => Math.max(MIN_CELL, Math.max(least, Math.min(fitting(room, count), most)) * factor);
    const high = size(height, rows, this.#mostHigh);
    return [size(width, columns, Math.floor(widest), this.#leastWide(fitting(width, columns), high)), high];
  }

  /** Return the least width of a cell: on a phone one that has text, if not much of the grid is then out of sight. */
  #leastWide(fitting, height) {
    if (isOnPaper() || !matchMedia("(max-width: 600px)").matches) return MIN_CELL;
    const size = LABEL_SIZES.at(-1);
    const shapes = this.widths.filter(({ count }) => count > 0 && height >= count * size + 2);
    const labelled = Math.ceil(Math.min(...shapes.map(({ width }) => width * size + SPACE)));
    return labelled <= MOST_OUT_OF_SIGHT * fitting ? labelled : MIN_CELL;
  }

  /** Return the height of the highest cells that are chosen by themselves. */
  get #mostHigh() {
    return this.source.rowHeight ?? ROW_HEIGHT;
  }

  #resize(width, height) {
    const ratio = window.devicePixelRatio || 1;
    this.stage.style.width = `${width}px`;
    this.stage.style.height = `${height}px`;
    this.stageSize = [width, height];
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
  }

  /** Return the columns and rows that can be seen. */
  visible() {
    const [width, height] = this.stageSize;
    const { scrollLeft, scrollTop } = this.scroller;
    return {
      x0: Math.floor(scrollLeft / this.width),
      x1: Math.min(this.source.columns, Math.ceil((scrollLeft + width - this.gutter) / this.width)),
      y0: Math.floor(scrollTop / this.height),
      y1: Math.min(this.source.rows, Math.ceil((scrollTop + height - HEAD) / this.height)),
    };
  }

  left(x) {
    return Math.round(this.gutter + x * this.width - this.scroller.scrollLeft);
  }

  top(y) {
    return Math.round(HEAD + y * this.height - this.scroller.scrollTop);
  }

  /** Return the middle of a cell, in pixels from the corner of the grid. */
  middle(x, y) {
    return [this.left(x) + this.width / 2, this.top(y) + this.height / 2];
  }

  #redraw(...layers) {
    if (!this.dirty.size) requestAnimationFrame(() => this.paint());
    layers.forEach((layer) => this.dirty.add(layer));
  }

  /** Draw what has changed, now. */
  paint() {
    const dirty = this.dirty;
    this.dirty = new Set();
    if (!this.stageSize) return;
    if (dirty.has("base")) this.#paintBase();
    if (dirty.has("over")) this.#paintOver();
  }

  /** Show a picture of what is drawn, for paper, or what is drawn itself. */
  print(isPaper) {
    this.paint();
    this.picture?.remove();
    this.picture = isPaper ? make("img", { alt: "", src: this.base.toDataURL() }) : null;
    if (isPaper) this.stage.append(this.picture);
  }

  // -- the cells --------------------------------------------------------------------------------

  #paintBase() {
    const context = this.base.getContext("2d");
    this.colours = themeColours();
    context.clearRect(0, 0, ...this.stageSize);
    const range = this.visible();
    this.#paintFills(context, range);
    if (this.#dims) this.#paintUnmarked(context, range);
    const hasColumns = this.width >= 7;
    this.#paintLines(context, range, this.colours.panel, Number(hasColumns), Number(hasColumns || this.height >= 14), 1);
    const { columnGroup = 1, rowGroup = 0 } = this.source;
    if (this.width >= 4)
      this.#paintLines(context, range, this.colours.panel, columnGroup > 1 ? columnGroup : 0, 0, 2);
    this.#paintLines(context, range, this.colours.ink, 0, rowGroup, 1);
    if (this.label) this.#paintTexts(context, range);
    if (this.source.marks?.hasFrames) this.#paintMarks(context, range);
    this.#paintStrokes(context);
    this.#paintCaptions(context);
    this.#paintHeads(context, range);
  }

  #paintFills(context, { x0, x1, y0, y1 }) {
    const { colours } = this.source;
    const hatch = this.#hatch(context);
    for (let y = y0; y < y1; y++) {
      const shades = Array.from({ length: x1 - x0 }, (_, k) => this.source.shade(x0 + k, y));
      for (const [start, end] of runs(shades)) {
        context.fillStyle = shades[start] < 0 ? hatch : colours[shades[start]].fill;
        this.#fill(context, x0 + start, x0 + end, y);
      }
    }
  }

  /** Fill cells beside each other. */
  #fill(context, x0, x1, y) {
    const [left, top] = [this.left(x0), this.top(y)];
    context.fillRect(left, top, this.left(x1) - left, this.top(y + 1) - top);
  }

  /** Dim what an access does not touch; its labels stay readable. */
  #paintUnmarked(context, range) {
    context.globalAlpha = 0.84;
    this.#paintBut(context, range, (x, y) => this.source.marks.at(x, y) !== undefined);
    context.globalAlpha = 1;
  }

  /** Cover all cells but those that pass a test with the colour of the panel. */
  #paintBut(context, { x0, x1, y0, y1 }, passes) {
    context.fillStyle = this.colours.panel;
    for (let y = y0; y < y1; y++) {
      const isIn = Array.from({ length: x1 - x0 }, (_, k) => passes(x0 + k, y));
      for (const [start, end] of runs(isIn)) {
        if (isIn[start]) continue;
        this.#fill(context, x0 + start, x0 + end, y);
      }
    }
  }

  /** Frame what an access touches: thinly, and where there are conflicts thickly, or filled. */
  #paintMarks(context, { y0, y1 }) {
    context.strokeStyle = context.fillStyle = this.colours.ink;
    for (const { x0, x1, y, isInConflict } of this.source.marks.all) {
      if (y < y0 || y >= y1) continue;
      const [left, top] = [this.left(x0), this.top(y)];
      const [width, height] = [this.left(x1) - left, this.top(y + 1) - top];
      const line = isInConflict ? Math.min(2.5, height / 4) : Math.min(1, height / 8);
      context.lineWidth = line;
      context.strokeRect(left + line / 2, top + line / 2, width - line, height - line);
      if (isInConflict && height < MIN_FRAMED) context.fillRect(left, top, width, height);
    }
  }

  /** Return the pattern of cells that hold nothing. */
  #hatch(context) {
    const canvas = make("canvas", { width: 6, height: 6 });
    const pen = canvas.getContext("2d");
    pen.strokeStyle = this.colours.line;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(-1, 7);
    pen.lineTo(7, -1);
    pen.stroke();
    return context.createPattern(canvas, "repeat");
  }

  #paintLines(context, { x0, x1, y0, y1 }, colour, everyX, everyY, width) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    const [right, bottom] = [this.left(x1), this.top(y1)];
    const steps = (from, to, every, size) => {
      const marks = [];
      if (!every || every * size < 5) return marks;
      for (let k = Math.max(every, Math.ceil(from / every) * every); k < to; k += every)
        marks.push(k);
      return marks;
    };
    for (const x of steps(x0, x1, everyX, this.width)) {
      context.moveTo(this.left(x) - 0.5, this.top(y0));
      context.lineTo(this.left(x) - 0.5, bottom);
    }
    for (const y of steps(y0, y1, everyY, this.height)) {
      context.moveTo(this.left(x0), this.top(y) - 0.5);
      context.lineTo(right, this.top(y) - 0.5);
    }
    context.stroke();
  }

  #paintTexts(context, { x0, x1, y0, y1 }) {
    const { size, lines } = this.label;
    const linesOf = { whole: (text) => [text], halves: twoLines, short: (text) => [shortened(text)] }[lines];
    context.font = `${size}px ${FONT_FAMILY}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let y = y0; y < y1; y++) {
      for (let x = x0; x < x1; x++) {
        const text = this.source.text(x, y);
        if (!text) continue;
        const shade = this.source.shade(x, y);
        const isDimmed = shade < 0 || (this.#dims && !this.source.marks.at(x, y));
        context.fillStyle = isDimmed ? this.colours.soft : this.source.colours[shade].ink;
        this.#paintText(context, linesOf(text), x, y);
      }
    }
  }

  #paintText(context, lines, x, y) {
    const step = this.label.size;
    const middle = this.top(y) + this.height / 2 + 0.5;
    const first = middle - ((lines.length - 1) * step) / 2;
    lines.forEach((line, k) =>
      context.fillText(line, this.left(x) + this.width / 2, first + step * k),
    );
  }

  /** Draw the strong lines that a source has between some of its cells. */
  #paintStrokes(context) {
    context.strokeStyle = this.colours.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [x0, y0, x1, y1] of this.source.strokes ?? []) {
      context.moveTo(this.left(x0) - 0.5, this.top(y0) - 0.5);
      context.lineTo(this.left(x1) - 0.5, this.top(y1) - 0.5);
    }
    context.stroke();
  }

  /** Write what a source says of some of its cells above them. */
  #paintCaptions(context) {
    context.font = `600 12px ${FONT_FAMILY}`;
    context.fillStyle = this.colours.ink;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const ends = new Map(); // of the last text in each row
    for (const { texts, x, y, rows, columns } of this.source.captions ?? []) {
      const left = Math.max(this.left(x) + 2, (ends.get(y) ?? -Infinity) + TEXT_GAP);
      const widthOf = (text) => context.measureText(text).width;
      const room = this.left(x + columns) - left;
      const text = texts.find((own) => widthOf(own) <= room) ?? texts.at(-1);
      context.fillText(text, left, this.top(y) + (rows * this.height) / 2);
      ends.set(y, left + widthOf(text));
    }
  }

  /** Draw the coordinates above and beside the cells, as many as there is room for. */
  #paintHeads(context, { x0, x1, y0, y1 }) {
    const [width, height] = this.stageSize;
    context.fillStyle = this.colours.panel;
    context.fillRect(0, 0, width, HEAD);
    context.fillRect(0, 0, this.gutter, height);
    context.font = LABEL_FONT;
    context.fillStyle = this.colours.soft;
    context.textBaseline = "middle";
    context.textAlign = "center";
    const widest =
      context.measureText(
        this.source.columnLabel(this.source.columns - (this.source.columnGroup ?? 1)),
      ).width + 8;
    const everyX =
      this.#every(widest, this.width * (this.source.columnGroup ?? 1)) *
      (this.source.columnGroup ?? 1);
    let end = -Infinity;
    for (const x of ticks(this.source.columnRuns ?? [[0, x1]], everyX, x0, x1)) {
      const middle = this.left(x) + (this.width * (this.source.columnGroup ?? 1)) / 2;
      const text = this.source.columnLabel(x);
      const half = context.measureText(text).width / 2;
      if (middle < this.gutter || middle - half < end + TEXT_GAP) continue;
      context.fillText(text, middle, HEAD / 2 + 1);
      end = middle + half;
    }
    context.textAlign = "right";
    const everyY = this.#every(14, this.height);
    for (const y of ticks(this.source.rowRuns ?? [[0, y1]], everyY, y0, y1)) {
      const middle = this.top(y) + Math.max(this.height, 12) / 2;
      if (middle > HEAD + 4 && middle < height - 4)
        context.fillText(this.source.rowLabel(y), this.gutter - 7, middle + 0.5);
    }
  }

  /** Return every how many cells a label of some size has room. */
  #every(room, size) {
    return 2 ** Math.max(0, Math.ceil(Math.log2(room / size)));
  }

  // -- what is selected ---------------------------------------------------------------------------

  /** Highlight these selections: { group, element, isPinned }; no group for the element itself. */
  highlight(selections) {
    const dimmed = this.#dims;
    this.selections = selections;
    this.#redraw("over", ...(this.#dims === dimmed ? [] : ["base"]));
  }

  /** Whether what an access does not touch is dimmed: not while a group is selected, which dims the rest. */
  get #dims() {
    return Boolean(this.source.marks?.dims) && !this.selections.some(({ group }) => group);
  }

  #paintOver() {
    const context = this.over.getContext("2d");
    const [width, height] = this.stageSize;
    context.clearRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(this.gutter, HEAD, width - this.gutter, height - HEAD);
    context.clip();
    const groups = this.selections.filter((selection) => selection.group);
    if (groups.length) this.#dimOthers(context, groups);
    for (const selection of this.selections) {
      if (!selection.group || !selection.isPinned) this.#paintRings(context, selection);
    }
    if (this.stage.matches(":focus-visible")) this.#paintCursor(context);
    context.restore();
  }

  /** Dim all cells but those of the groups. */
  #dimOthers(context, groups) {
    const matchers = groups.map((selection) => this.source.matcher(selection));
    const matches = (x, y) => matchers.some((matcher) => matcher(x, y));
    context.globalAlpha = 0.78;
    this.#paintBut(context, this.visible(), matches);
    context.globalAlpha = 1;
  }

  /** Ring the cells of one element: dark and light, so that it shows on every colour. */
  #paintRings(context, { element, isPinned }) {
    const { x0, x1, y0, y1 } = this.visible();
    const cells = this.source.cells(element);
    this.#paintPointers(context, cells);
    for (const [x, y] of cells) {
      if (x < x0 || x >= x1 || y < y0 || y >= y1) continue;
      const [width, height] = [Math.max(this.width, 9), Math.max(this.height, 9)];
      const left = this.left(x) + (this.width - width) / 2;
      const top = this.top(y) + (this.height - height) / 2;
      const ring = (line, inset, colour) => {
        context.lineWidth = line;
        context.strokeStyle = colour;
        context.strokeRect(left + inset, top + inset, width - 2 * inset, height - 2 * inset);
      };
      ring(3, 0.5, isPinned ? "#fff" : "#000");
      ring(isPinned ? 2 : 1.5, isPinned ? 1 : 1.25, isPinned ? "#b3005e" : "#fff");
    }
  }

  /** Point from the edge at cells that are out of sight. */
  #paintPointers(context, cells) {
    const [width, height] = this.stageSize;
    const [low, high] = [[this.gutter, HEAD], [width, height]];
    context.fillStyle = this.colours.accent;
    for (const cell of cells.slice(0, MAX_POINTERS)) {
      const middle = this.middle(...cell);
      const at = middle.map((m, d) => Math.max(low[d] + POINTER, Math.min(high[d] - POINTER, m)));
      const isInSight = middle.every((m, d) => m >= low[d] && m <= high[d]);
      if (isInSight) continue;
      const angle = Math.atan2(middle[1] - at[1], middle[0] - at[0]);
      const corner = (turn, size) => [
        at[0] + size * Math.cos(angle + turn),
        at[1] + size * Math.sin(angle + turn),
      ];
      context.beginPath();
      context.moveTo(...corner(0, POINTER - 1));
      context.lineTo(...corner(2.4, POINTER - 1));
      context.lineTo(...corner(-2.4, POINTER - 1));
      context.fill();
    }
  }

  #paintCursor(context) {
    const [x, y] = this.cursor;
    context.setLineDash([3, 2]);
    context.lineWidth = 2;
    context.strokeStyle = this.colours.accent;
    context.strokeRect(
      this.left(x) - 2,
      this.top(y) - 2,
      Math.max(this.width, 9) + 4,
      Math.max(this.height, 9) + 4,
    );
    context.setLineDash([]);
  }

  // -- pointer and keys ---------------------------------------------------------------------------

  #cellAt(event) {
    const box = this.stage.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    if (left < this.gutter || top < HEAD) return null;
    const x = Math.floor((left - this.gutter + this.scroller.scrollLeft) / this.width);
    const y = Math.floor((top - HEAD + this.scroller.scrollTop) / this.height);
    return x < this.source.columns && y < this.source.rows ? [x, y] : null;
  }

  #pointAt(event) {
    const at = this.#cellAt(event);
    const key = at?.join();
    if (key === this.pointed) return;
    this.pointed = key;
    if (at) this.anchor = at;
    if (at) this.handlers.hover(this.source, ...at);
    else this.handlers.leave();
  }

  #leave() {
    this.pointed = undefined;
    this.handlers.leave();
  }

  #key(event) {
    if (event.key === "Enter" || event.key === " ") {
      this.handlers.pin(this.source, ...this.cursor, event.shiftKey);
    } else if (event.key in MOVES && !event.altKey && !event.metaKey) {
      const [dx, dy] = MOVES[event.key];
      const toCorner = event.ctrlKey && Math.abs(dx) === Infinity;
      this.moveTo(this.cursor[0] + dx, this.cursor[1] + (toCorner ? dx : dy));
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Move the cursor to a cell, bring it into sight and say what it is. */
  moveTo(x, y) {
    const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
    this.cursor = [clamp(x, this.source.columns), clamp(y, this.source.rows)];
    this.reveal(...this.cursor);
    this.cell.setAttribute("aria-colindex", String(this.cursor[0] + 1));
    this.cell.parentElement.setAttribute("aria-rowindex", String(this.cursor[1] + 1));
    this.cell.textContent = this.source.say(...this.cursor);
    this.handlers.hover(this.source, ...this.cursor);
  }

  /** Scroll so that a cell is in sight. */
  reveal(x, y) {
    const [width, height] = this.stageSize;
    const fit = (at, size, scroll, room) => {
      if (at * size < scroll) return at * size;
      return (at + 1) * size > scroll + room ? (at + 1) * size - room : scroll;
    };
    this.scroller.scrollLeft = fit(x, this.width, this.scroller.scrollLeft, width - this.gutter);
    this.scroller.scrollTop = fit(y, this.height, this.scroller.scrollTop, height - HEAD);
    this.#redraw("base", "over");
  }
}
