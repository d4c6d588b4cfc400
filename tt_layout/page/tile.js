// The tile of one instruction in a layout of matrix instructions: what one warp holds of it, large
// enough for text, and where the same is held again by other warps and registers.

/** The rows and columns that a warp holds of the result of an instruction, by the mnemonic of its layout. */
const INSTRUCTION_TILES = {
  nvidia_mma: ({ values, release }) => {
    const [rows, columns] = mmaShape(values, release).slice(-2);
    return values.versionMajor === 3 ? [mmaShape(values, release)[0], FRAGMENT_COLUMNS] : [rows, columns];
  },
  amd_mfma: ({ values }) => values.instrShape.slice(0, 2),
  amd_wmma: ({ values }) => values.instrShape.slice(0, 2),
  dpas: ({ values }) => [values.repeatCount, values.executionSize],
};
const FRAGMENT_COLUMNS = 8; // of the fragment that wgmma repeats along N

/**
 * Return the [rows, columns] of the tile of one instruction; null where a layout is of no instruction,
 * or of no more than one.
 *
 * @param {Model} model
 */
function instructionTile({ memory, shape, spec: { attribute, release, ins } }) {
  if (memory !== REGISTERS || shape.length !== 2) return null;
  try {
    const encoding = readEncoding(readAttribute(attribute), release);
    const size = INSTRUCTION_TILES[encoding.mnemonic]?.(encoding);
    const isPart = size?.every((own, d) => own <= shape[d]) && show(size) !== show(shape);
    const isHeld = isPart && vectorsOf({ ins }, "lane").every((vector) => vector.every((step, d) => step < size[d]));
    return isHeld ? size : null;
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    return null; // such as bases that were edited
  }
}

/** Return the tile that is shown alone; null where the whole layout is. */
function tileShown() {
  return state.view === "tile" ? tileThere() : null;
}

/** Return the tile of the layout, where nothing is compared with it. */
function tileThere() {
  return page.other ? null : instructionTile(page.model);
}

/** Registers by lane: those in which one warp holds a tile. */
class TilePlane extends RegisterPlane {
  /**
   * @param {Model} model
   * @param {number[]} size the rows and columns of the tile
   */
  constructor(model, size) {
    super(model);
    const isInside = (register) => model.element(model.placeOf({ register })).every((at, d) => at < size[d]);
    this.registers = Array.from({ length: model.size("register") }, (_, k) => k).filter(isInside);
    this.rows = this.rowGroup = this.registers.length;
    this.title = "lanes across, registers of the tile down";
  }

  /** @override */
  place(x, y) {
    return this.model.placeOf({ register: this.registers[y], lane: x });
  }

  /** Return the cell of a location; null where it is of another tile. @override */
  cell(place) {
    const row = this.registers.indexOf(this.model.at(place, "register"));
    const isHere = row >= 0 && !this.model.at(place, "warp") && !this.model.at(place, "block");
    return isHere ? [this.model.at(place, "lane"), row] : null;
  }

  /** @override */
  rowLabel(y) {
    return `r${this.registers[y]}`;
  }
}

/**
 * Say where the tile is held again: the first element of each warp and register that another bit leads to.
 *
 * @param {Model} model
 * @param {number[]} size the rows and columns of the tile
 */
function repeatsInWords(model, size) {
  const again = ["warp", "register"].flatMap((name) => {
    const vectors = Object.fromEntries(model.spec.ins)[name] ?? [];
    return vectors.flatMap((vector, bit) =>
      vector.some((step, d) => step >= size[d]) ? [`${name} ${2 ** bit} at (${vector.join(", ")})`] : [],
    );
  });
  return `${size.join(" × ")} of ${model.shape.join(" × ")}, one instruction; the same again: ${again.join(", ")}`;
}
