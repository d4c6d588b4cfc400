// The layout to use instead of one with bank conflicts: of a dump what the audit suggests for all accesses
// to the buffer, else the best swizzled_shared for this one, as tt_layout.analyses.shared_memory.swizzle
// ranks them.

const MAX_SEARCHED_RANK = 3;
const MAX_SEARCHED = 1500; // layouts that are tried while the page waits

/** What was found for the accesses of this visit, by what they are. @type {Map<string, any>} */
const suggestions = new Map();

/**
 * Return the { shared, cost, attribute, isForAll } that an access with conflicts should have; null for none.
 *
 * @param {{ register: Model, shared: Model, cost?: any }} access
 */
function suggestionOf({ register, shared, cost: own }) {
  if (!own || !extraOf(own)) return null;
  const given = suggestedByAudit();
  const key = show([register.spec.ins, shared.spec.attribute, shared.spec.type, own.target.name, own.isStore, given]);
  if (!suggestions.has(key)) {
    const attribute = given ?? bestSwizzle(register, shared, own);
    const found = attribute && underLayout(attribute, register, shared, own);
    suggestions.set(key, found && { ...found, isForAll: given !== null });
  }
  return suggestions.get(key);
}

/** Return the layout that the audit suggests for the line of the dump that is shown, if it does. */
function suggestedByAudit() {
  if (state.line === null) return null;
  const { findings } = dumpModules()[state.module];
  const found = findings.find(({ lines, suggested }) => suggested && lines.includes(state.line));
  return found?.suggested ?? null;
}

/** Return an access with another layout of the memory; null where that saves nothing. */
function underLayout(attribute, register, { spec, banks, bankBits }, own) {
  const read = readNotation(attribute, spec.type, "");
  const shared = new Model({ ...spec, ...read }, { banks, bankBytes: bankBits / 8 });
  const { cost: other } = workedOut({ register, shared }, own.target, own.isStore);
  const isBetter = other && perWarp(other) < perWarp(own);
  return isBetter ? { shared, cost: other, attribute } : null;
}

/** Return the cycles of all instructions of a warp. */
function perWarp({ wavefrontsPerInstruction, instruction }) {
  return wavefrontsPerInstruction * instruction.count;
}

/**
 * Return the attribute of the swizzled_shared with the fewest cycles, of equals one in which the same
 * dimension is the fastest, so that the other side of the buffer is served as before; null where none
 * can be told.
 */
function bestSwizzle(register, { shape, spec, banks, bankBits }, { target, isStore }) {
  const isSearched = shape.length <= MAX_SEARCHED_RANK && register.size("block") === 1;
  const candidates = isSearched ? swizzles(shape) : [];
  if (!candidates.length || candidates.length > MAX_SEARCHED) return null;
  const release = DATA.releases.at(-1);
  const memory = { banks, bankBytes: bankBits / 8 };
  const fast = vectorsOf(spec, "offset")[0]?.findIndex(Boolean) ?? 0;
  const ranked = candidates.map(({ number, ...values }) => {
    const layout = laySwizzled({ ...values, CGALayout: [] }, shape, release, spec.bits);
    const shared = new Model({ ...spec, ...layout, padding: [] }, memory);
    const own = cost(accessMap(register, shared), target, isStore);
    const { vec, perPhase, maxPhase, order } = values;
    const costs = [perWarp(own), own.instruction.count, Number(order[0] !== fast)];
    return { values, rank: [...costs, maxPhase, perPhase, vec, number] };
  });
  const best = ranked.reduce((most, one) => (isMore(most.rank, one.rank) ? one : most));
  return attributeText("ttg.swizzled_shared", "DICT", best.values);
}

/** Return the distinct swizzled_shared layouts of a shape; `number` is that of their order. */
function swizzles(shape) {
  const rowMajor = shape.map((_, d) => shape.length - 1 - d);
  return permutations(rowMajor).flatMap((order, number) => {
    const found = [{ vec: 1, perPhase: 1, maxPhase: 1, order, number }];
    const [columns, rows] = order.slice(0, 2).map((d) => log2(shape[d]));
    for (let phases = 1; order.length > 1 && phases <= Math.min(columns, rows); phases++)
      for (let vec = 0; vec <= columns - phases; vec++)
        for (let per = 0; per <= rows - phases; per++)
          found.push({ vec: 2 ** vec, perPhase: 2 ** per, maxPhase: 2 ** phases, order, number });
    return found;
  });
}

/** Return the orders of some things, in the order in which Python's itertools lists them. */
function permutations(all) {
  if (!all.length) return [[]];
  return all.flatMap((first, k) => permutations(all.toSpliced(k, 1)).map((rest) => [first, ...rest]));
}
