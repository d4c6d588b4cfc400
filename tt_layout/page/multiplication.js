// A multiplication of matrices as a whole, in one grid: A on the left, B above, D in the corner, as
// tt_layout.figures.mma draws it, and scales beside A and above B.  What is pointed at in one matrix
// lights up in all of them.

const MATRIX_COLOURS = ["lane", "warp", "thread", "register"];
const PER_GAP = [48, 32]; // columns and rows for each of the gap between matrices: it always shows

/** The first rows and columns of a matrix; of those before them the first. */
class FirstPlane extends TensorPlane {
  /**
   * @param {number[]} shape
   * @param {number[]} size how many columns and rows there are
   * @param {boolean} isTurned whether columns are drawn as rows
   */
  constructor(shape, [columns, rows], isTurned) {
    const [last, other] = [shape.length - 1, shape.length - 2];
    const axes = isTurned ? { rows: last, columns: other } : { rows: other, columns: last };
    super(shape, { ...axes, at: shape.map(() => 0) });
    Object.assign(this, { rows, columns });
  }

  /** Return the cell of an element, or null where it is not drawn. @override */
  cell(element) {
    const cell = super.cell(element);
    return cell && cell[0] < this.columns && cell[1] < this.rows ? cell : null;
  }
}

/** A matrix of a multiplication: what is drawn of it, and who holds that. */
class Matrix {
  /**
   * @param {any} part as the file embeds it; its layout is null where no lane holds it
   * @param {string} colour one of MATRIX_COLOURS
   * @param {number[]} ground the colour of the page
   */
  constructor({ layout, isTurned, name, title, size, axes, place, step }, colour, ground) {
    /** @type {string} */
    this.title = title;
    /** Where it is among the matrices, from the left and from above. @type {number[]} */
    this.place = place;
    /** How many of K go together. @type {number | null} */
    this.step = step;
    /** @type {string} */
    this.name = name;
    /** @type {string[]} */
    this.axes = axes;
    /** @type {number[]} */
    this.size = size;
    this.columns = this.size[0];
    this.rows = this.size[1];
    this.left = 0; // of its first cell in the grid
    this.top = 0;
    if (!layout) return;
    this.model = new Model(layout, usualTarget());
    this.colouring = new Colouring(this.model, colour);
    const plane = new FirstPlane(this.model.shape, this.size, isTurned);
    this.source = new TensorSource(this.model, plane, this.colouring, ground);
  }

  /** Return text about locations with its registers named after the matrix: T5:a1. */
  #named(text) {
    return text.replace(/(T\d+):(\d+)/g, `$1:${this.name[0].toLowerCase()}$2`);
  }

  text(x, y) {
    return this.source ? this.#named(this.source.text(x, y)) : `${y},${x}`;
  }

  get longestLabel() {
    const longest = this.source?.longestLabel ?? `${this.rows - 1},${this.columns - 1}`;
    return this.#named(longest);
  }

  /** Say what a cell is, and who holds it. */
  say(x, y) {
    const name = `${this.name} (${y}, ${x})`;
    if (!this.source) return `${name}, in shared memory`;
    return `${name}, ${this.#named(this.model.holdersInWords(this.source.element(x, y)))}`;
  }

  group(id) {
    return this.model?.groups.find((group) => group.id === id);
  }

  /** Return the keys of the groups that hold what a cell shows. */
  keysAt(id, x, y) {
    return this.group(id)?.keysOf(this.source.element(x, y)) ?? [];
  }

  /** Return the first and last of what an index of another matrix meets on each axis: across, down. */
  meets(matrix, cell) {
    return this.axes.map((axis, k) => {
      const own = matrix.axes.findIndex((other) => dimension(other) === dimension(axis));
      return own < 0 ? [0, this.size[k] - 1] : along(cell[own], matrix.size[own], this.size[k]);
    });
  }

  /** Return a test of cells: whether one of these groups holds what they show. */
  holdersMatch(id, keys) {
    const group = this.group(id);
    return group ? this.source.heldBy(group, keys) : () => false;
  }
}

/** The matrices of a multiplication as one source of cells, with gaps between them. */
class MultiplicationSource {
  /**
   * @param {Multiplication} multiplication as the file embeds it
   * @param {string} colour one of MATRIX_COLOURS
   * @param {number[]} ground the colour of the page
   */
  constructor({ title, about, parts }, colour, ground) {
    this.kind = "multiplication";
    this.hasShortLabels = true;
    // The sizes are below the instruction, which so has one line.
    const [instruction, sizes] = title[1].split(" of ");
    this.title = instruction;
    this.about = [sizes, about].filter(Boolean).join("; ");
    this.matrices = parts.map((part) => new Matrix(part, colour, ground));
    const [across, down] = [this.#arrange(0), this.#arrange(1)];
    this.columns = across.end;
    this.columnRuns = across.runs;
    this.rows = down.end;
    this.rowRuns = down.runs;
    this.captionRows = down.gap;
    this.#chooseColours(ground);
    this.longestLabel = longest(this.matrices.map((matrix) => matrix.longestLabel));
  }

  /**
   * Put the matrices beside each other, or below, each with its place there and a gap between.
   * Return where the last ends, the [start, end] `runs` of each place, and the gap.
   */
  #arrange(axis) {
    const sizes = [];
    for (const { place, size } of this.matrices) sizes[place[axis]] = size[axis];
    const gap = Math.ceil(sizes.reduce((sum, size) => sum + size) / PER_GAP[axis]);
    let end = axis ? 0 : -gap; // above the first stands its caption
    const found = sizes.map((size) => [end + gap, (end += gap + size)]);
    for (const matrix of this.matrices) matrix[["left", "top"][axis]] = found[matrix.place[axis]][0];
    return { end, runs: found, gap };
  }

  /** Choose the colours of the matrix with most groups, and those of cells without one. */
  #chooseColours(ground) {
    const all = this.matrices.flatMap(({ colouring }) => colouring ?? []);
    this.colouring = all.reduce((most, own) => (own.count > most.count ? own : most));
    this.colours = this.colouring.colours(ground);
    const { soft, panel } = themeColours();
    const plain = tile(mix(ground, [128, 128, 128], 0.12));
    this.plain = this.colours.push({ ...plain, ink: soft }) - 1;
    this.blank = this.colours.push({ fill: panel, ink: panel }) - 1;
  }

  /** Return { matrix, x, y } of a cell; null between the matrices. */
  at(x, y) {
    for (const matrix of this.matrices) {
      const [column, row] = [x - matrix.left, y - matrix.top];
      if (column >= 0 && row >= 0 && column < matrix.columns && row < matrix.rows)
        return { matrix, x: column, y: row };
    }
    return null;
  }

  shade(x, y) {
    const at = this.at(x, y);
    if (!at) return this.blank;
    return at.matrix.source ? at.matrix.source.shade(at.x, at.y) : this.plain;
  }

  text(x, y) {
    const at = this.at(x, y);
    return at ? at.matrix.text(at.x, at.y) : "";
  }

  rowLabel(y) {
    const at = this.matrices.find(({ top, rows }) => y >= top && y < top + rows);
    return at ? `${at.axes[1][0]} ${y - at.top}` : "";
  }

  columnLabel(x) {
    const at = this.matrices.find(({ left, columns }) => x >= left && x < left + columns);
    return at ? `${at.axes[0][0]} ${x - at.left}` : "";
  }

  /** Return what stands in the gap above each matrix, from the left: of some texts the first that fits. */
  get captions() {
    const rows = this.captionRows;
    const fromLeft = [...this.matrices].sort((one, other) => one.left - other.left);
    return fromLeft.map(({ name, title, left, top, columns }) => ({
      texts: [title, name, name.replace("scales of ", "s")],
      columns,
      x: left,
      y: top - rows,
      rows,
    }));
  }

  /** Return the lines between groups along K, as [x0, y0, x1, y1] in cells. */
  get strokes() {
    const [a, b] = this.matrices;
    const steps = ({ step }, count) =>
      step ? Array.from({ length: Math.ceil(count / step) - 1 }, (_, k) => (k + 1) * step) : [];
    const upright = steps(a, a.columns).map((k) => [a.left + k, a.top, a.left + k, a.top + a.rows]);
    const level = steps(b, b.rows).map((k) => [b.left, b.top + k, b.left + b.columns, b.top + k]);
    return [...upright, ...level];
  }

  say(x, y) {
    const at = this.at(x, y);
    return at ? at.matrix.say(at.x, at.y) : "Between the matrices";
  }

  /** Return the cells of what is selected. */
  cells({ name, cell }) {
    const matrix = this.matrices.find((own) => own.name === name);
    return [[matrix.left + cell[0], matrix.top + cell[1]]];
  }

  /** Return a test of cells: whether they have to do with what is selected. */
  matcher({ scope, element: { name, cell } }) {
    const matrix = this.matrices.find((own) => own.name === name);
    const tests = new Map(
      this.matrices.map((own) => [
        own,
        scope === "element"
          ? isWithin(own.meets(matrix, cell))
          : own.holdersMatch(scope, matrix.keysAt(scope, ...cell)),
      ]),
    );
    return (x, y) => {
      const at = this.at(x, y);
      return !at || tests.get(at.matrix)(at.x, at.y);
    };
  }
}

/** Return which of M, N and K an axis goes along. */
function dimension(axis) {
  return axis === "block" ? "k" : axis;
}

/**
 * Return a test of cells: whether they are within the first and last column and row.
 *
 * @param {number[][]} ranges
 */
function isWithin([[left, right], [top, bottom]]) {
  return (x, y) => x >= left && x <= right && y >= top && y <= bottom;
}

/** Return the first and last of others that an index meets: packed ones, and scales, are fewer. */
function along(index, count, others) {
  return [Math.floor((index * others) / count), Math.ceil(((index + 1) * others) / count) - 1];
}

/** Say what a cell has to do with the others. */
function multipliedInWords(matrices, matrix, scope, x, y) {
  const said = matrix.say(x, y);
  const group = matrix.group(scope);
  if (group) {
    const keys = matrix.keysAt(scope, x, y).map(group.nameOf);
    return `${said}; ${plural(group.label, keys.length)} ${keys.join(", ")}`;
  }
  const met = Object.fromEntries(matrices.map((own) => [own.name, own.meets(matrix, [x, y])]));
  const columns = spanInWords("column", met.A[0]);
  const rows = spanInWords("row", met.B[1]);
  const related = {
    A: `times ${rows} of B, goes into row ${y} of D`,
    B: `times ${columns} of A, goes into column ${x} of D`,
    D: `row ${y} of A times column ${x} of B`,
    "scales of A": `scales ${columns} of row ${y} of A`,
    "scales of B": `scales ${rows} of column ${x} of B`,
  };
  const scale = met[`scales of ${matrix.name}`];
  const scaled = scale ? `, scaled by (${scale[1][0]}, ${scale[0][0]}) of the scales` : "";
  return `${said}; ${related[matrix.name]}${scaled}`;
}

function spanInWords(noun, [first, last]) {
  return first === last ? `${noun} ${first}` : `${noun}s ${first} to ${last}`;
}

// -- which there is -----------------------------------------------------------------------------

const multiplicationsByLine = once(
  () =>
    new Map(
      dumpModules().flatMap(({ multiplications }) =>
        (multiplications ?? []).map((one) => [one.line, one]),
      ),
    ),
);

/** Return the multiplication on a line of the dump, if there is one. */
function multiplicationOn(line) {
  return multiplicationsByLine().get(line);
}

/** Return the multiplication on the line, or that of the layout; null for none. */
function multiplicationThere() {
  if (!DATA.dump) return page.ownMultiplication;
  return (!state.edit && multiplicationOn(state.line)) || null;
}

/** Return the multiplication that is shown; null where it is the layout. */
function multiplicationShown() {
  return state.view === "mma" ? multiplicationThere() : null;
}

/** Return what is shown where nothing is said. */
function usualView() {
  if (multiplicationThere() && (DATA.dump || DATA.isMultiplied)) return "mma";
  if (page.access?.cost) return "cycles";
  return requestThere() ? "sectors" : "layout";
}

/** Return the layouts of the result of a multiplication among those of its line. */
function resultsOf(multiplication) {
  if (!multiplication) return [];
  const { layout } = multiplication.parts[2];
  return layoutsOfLine(multiplication.line).filter((k) => show(DATA.layouts[k].ins) === show(layout?.ins));
}

// -- what is pointed at -------------------------------------------------------------------------

function connectMultiplication() {
  page.multiplicationView = new GridView(byId("multiplication"), {
    hover: (source, x, y) => pointAt(cellOf(source, x, y)),
    leave: () => pointAt(null),
    pin: (source, x, y) => light(cellOf(source, x, y)),
  });
  onChoice("view", (view) => change(() => Object.assign(state, { view, colour: "", lit: null })));
}

function cellOf(source, x, y) {
  const at = source.at(x, y);
  return at && { name: at.matrix.name, cell: [at.x, at.y] };
}

/** Return the cell of a matrix that the address keeps lit, such as A,3,5; null for none. */
function readLit(text) {
  const [, name, x, y] = /^([ABD]|scales of [AB]),(\d{1,6}),(\d{1,6})$/.exec(text ?? "") ?? [];
  return name ? { name, cell: [Number(x), Number(y)] } : null;
}

function pointAt(cell) {
  page.pointed = cell;
  showPointed();
}

/** Keep lit what a cell has to do with, or no longer. */
function light(cell) {
  const isSame = show(cell) === show(state.lit);
  change(() => (state.lit = isSame ? null : cell), showPointed);
}

/** Show a multiplication instead of the layouts; or these where there is none. */
function showMultiplication(ground) {
  const multiplication = multiplicationShown();
  document.querySelector("main").classList.toggle("multiplied", Boolean(multiplication));
  page.multiplicationView.pane.hidden = !multiplication;
  const isChart = cyclesShown();
  const isSectors = Boolean(sectorsShown());
  const isLanes = page.model.memory === REGISTERS; // as the colours of sectors
  const isHidden = (one) => {
    if (!one || multiplication) return true;
    return isChart ? one !== page.access.shared : isSectors && (one !== page.model || !isLanes);
  };
  page.cyclesView.pane.hidden = !isChart && !isSectors;
  page.suggestedView.pane.hidden = !isChart || !page.suggestion;
  page.views.tensor.pane.hidden = Boolean(multiplication) || isChart || (isSectors && !isLanes);
  page.views.hardware.pane.hidden = isHidden(page.model);
  page.views.other.pane.hidden = isHidden(page.other);
  if (!multiplication) return;
  page.multiplicationView.show(new MultiplicationSource(multiplication, state.colour, ground));
  showLegend(page.multiplicationView.source.colouring, ground);
  showPointed();
}

/** Show what is pointed at or lit, in the grid and in words. */
function showPointed() {
  const { source } = page.multiplicationView;
  const shown = page.pointed ?? state.lit;
  const drawn = shown && source.matrices.find(({ name }) => name === shown.name);
  const isInside = drawn && shown.cell[0] < drawn.columns && shown.cell[1] < drawn.rows;
  const selection = { group: true, scope: state.scope, element: shown, isPinned: false };
  page.multiplicationView.highlight(isInside ? [selection] : []);
  byId("said").textContent = isInside ? multipliedInWords(source.matrices, drawn, state.scope, ...shown.cell) : "";
  const isOfLayout = isInside && show(drawn.model?.spec.ins) === show(page.model.spec.ins);
  page.matrix.workOut(isOfLayout ? page.model.inverse.place(drawn.source.element(...shown.cell)) : null);
}
