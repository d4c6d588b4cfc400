// The box in which a layout is chosen: what is written in it filters the list below.

/** A box with a list of the page's layouts. */
class LayoutBox {
  /**
   * @param {HTMLInputElement} input where the filter is written
   * @param {HTMLElement} list what it opens
   * @param {(number: number) => void} choose what is called with the number of a layout
   */
  constructor(input, list, choose) {
    this.input = input;
    this.list = list;
    this.choose = choose;
    this.chosen = 0;
    /** @type {number[]} */
    this.numbers = [];
    this.active = 0;
    this.shown = [];
    input.addEventListener("focus", () => this.#open(""));
    input.addEventListener("click", () => this.#open(""));
    input.addEventListener("input", () => this.#open(input.value));
    input.addEventListener("blur", () => this.#close());
    input.addEventListener("keydown", (event) => this.#onKey(event));
    // A press on the list must not take the focus, or the list is gone before the click.
    list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  /** Show the layout that is chosen, of those of the lines given. */
  show(chosen, numbers) {
    this.chosen = chosen;
    this.numbers = numbers;
    if (document.activeElement !== this.input) this.input.value = layoutInWords(chosen);
  }

  #open(filter) {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.numbers.filter((k) => {
      const { name, type, attribute } = DATA.layouts[k];
      const text = `${name} ${type} ${attribute}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    this.active = Math.max(0, this.shown.indexOf(this.chosen));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (!filter) this.input.select();
    this.#fill();
  }

  #fill() {
    const entries = this.shown.map((k, at) => this.#entry(k, at));
    const none = make("li", { className: "about", textContent: "no layout has this in it" });
    this.list.replaceChildren(...(entries.length ? entries : [none]));
    const active = entries[this.active];
    if (!active) return this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-activedescendant", active.id);
    return active.scrollIntoView({ block: "nearest" });
  }

  #entry(k, at) {
    const { name, type, line } = DATA.layouts[k];
    const node = make(
      "li",
      { id: `layout-${k}`, className: "choice", onclick: () => this.#take(k) },
      make("strong", { textContent: name }),
      make("span", { textContent: line ? `${type}, line ${line}` : type }),
    );
    node.setAttribute("role", "option");
    node.setAttribute("aria-selected", String(k === this.chosen));
    node.classList.toggle("active", at === this.active);
    return node;
  }

  #take(k) {
    this.#close();
    this.choose(k);
    this.input.value = layoutInWords(k);
  }

  #close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.input.value = layoutInWords(this.chosen);
  }

  #onKey(event) {
    const last = this.shown.length - 1;
    const moves = { ArrowDown: Math.min(last, this.active + 1), ArrowUp: Math.max(0, this.active - 1) };
    if (event.key in moves) {
      if (this.list.hidden) this.#open("");
      else this.active = moves[event.key];
      this.#fill();
    } else if (event.key === "Enter" && last >= 0) this.#take(this.shown[this.active]);
    else if (event.key === "Escape" && !this.list.hidden) this.#close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Return what a layout is called in a list. */
function layoutInWords(k) {
  const { name, type } = DATA.layouts[k];
  return `${name} on ${type}`;
}

/** Return the layouts that can be chosen: those of the module that is shown. */
function choosableLayouts() {
  const all = DATA.layouts.map((_, k) => k);
  if (!DATA.dump) return all;
  const isInside = (line) => isInModule(line, state.module);
  const own = all.filter((k) => DATA.layouts[k].uses.some(isInside));
  return own.length ? [...own].sort((a, b) => plainness(a) - plainness(b)) : all;
}

/** Return how far down in the list a layout stands: offsets, masks and pointers come last. */
function plainness(k) {
  return Number(/(x|<)(i1|i32|i64|!tt\.ptr.*)>$/.test(DATA.layouts[k].type));
}
