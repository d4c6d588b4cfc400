// The matrix over F2 with labelled bits, and an element worked out in it.

/** Draws the matrix of a layout into a table. */
class MatrixView {
  /** @param table where the matrix goes; @param sum where the work is written */
  constructor(table, sum) {
    this.table = table;
    this.sum = sum;
  }

  /** Show the matrix of a layout: a column per input bit, a row per output bit. */
  show(model) {
    this.model = model;
    const columns = model.spec.ins.flatMap(([name, vectors], d) =>
      vectors.map((vector, bit) => ({ name, d, bit, vector })),
    );
    this.columns = columns;
    const head = make("thead", {}, this.#dimensions(), this.#bits(columns));
    const rows = model.spec.outs.flatMap(([name, size], d) =>
      Array.from({ length: log2(size) }, (_, bit) => this.#row(name, d, bit, columns)),
    );
    this.table.replaceChildren(
      make("caption", { className: "unseen", textContent: "Basis vectors" }),
      head,
      make("tbody", {}, ...rows),
    );
    this.active = [];
    this.workOut(null);
  }

  #dimensions() {
    const cells = this.model.spec.ins
      .filter(([, vectors]) => vectors.length)
      .map(([name, vectors]) =>
        make("th", {
          colSpan: vectors.length,
          scope: "colgroup",
          className: "edge",
          textContent: name,
        }),
      );
    return make(
      "tr",
      {},
      make("td"),
      ...cells,
      make("th", { className: "edge result", textContent: "=" }),
    );
  }

  #bits(columns) {
    const cells = columns.map(({ bit }) =>
      make("th", { scope: "col", textContent: bit, className: bit ? "" : "edge" }),
    );
    return make(
      "tr",
      {},
      make("td"),
      ...cells,
      make("td", { className: "edge result" }),
    );
  }

  #row(name, d, bit, columns) {
    const cells = columns.map((column) => {
      const isSet = hasBit(column.vector[d], bit);
      const style = `${isSet ? "one" : "zero"}${column.bit ? "" : " edge"}`;
      return make("td", { textContent: isSet ? "1" : "·", className: style });
    });
    const head = make("th", { scope: "row", textContent: `${name} bit ${bit}` });
    return make(
      "tr",
      { className: bit ? "" : "edge" },
      head,
      ...cells,
      make("td", { className: "edge result" }),
    );
  }

  /** Show which basis vectors xor to the element at a location; null to show none. */
  workOut(place) {
    const isOn = this.columns.map(({ d, bit }) => place !== null && hasBit(place[d], bit));
    const element = place && evaluate(this.model.layout, place);
    const [, bits] = this.table.tHead.rows;
    isOn.forEach((on, k) => bits.cells[k + 1].classList.toggle("on", on));
    let at = 0;
    this.model.spec.outs.forEach(([, size], d) => {
      for (let bit = 0; bit < log2(size); bit++, at++)
        this.#workRow(this.table.tBodies[0].rows[at], isOn, element && hasBit(element[d], bit));
    });
    this.sum.classList.toggle("hint", !place);
    this.sum.textContent = place
      ? this.#sumInWords(place, element, isOn)
      : "Point at an element to see its bits worked out.";
  }

  #workRow(row, isOn, result) {
    isOn.forEach((on, k) => row.cells[k + 1].classList.toggle("on", on));
    const last = row.cells[row.cells.length - 1];
    last.textContent = result === null ? "" : result ? "1" : "·";
  }

  #sumInWords(place, element, isOn) {
    const terms = this.columns
      .filter((_, k) => isOn[k])
      .map(({ name, bit, vector }) => `${name} bit ${bit} (${vector.join(", ")})`);
    return `${this.model.describe(place)}:  ${terms.join(" ⊕ ") || "no bit is set"} = (${element.join(", ")})`;
  }
}
