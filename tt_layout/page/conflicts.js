// The section that shows what an access costs, in the words of tt_layout.reports.conflicts.

const MAX_COLLISIONS = 4;

/** Return the access between a layout of registers and one of shared memory; null for others. */
function accessPair(model, other) {
  const of = (memory) => [model, other].find((one) => one?.memory === memory);
  const [register, shared] = [of(REGISTERS), of(SHARED)];
  return register && shared ? { register, shared } : null;
}

/** Return the { cost } of a pair's access, or an { error } with the reason why it is not known. */
function workedOut({ register, shared }, target, isStore) {
  try {
    const places = accessMap(register, shared);
    return { cost: cost(places, fittingTarget(places, target), isStore) };
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    return { error: error.message };
  }
}

// -- in words -----------------------------------------------------------------------------------

/** Return a number with three decimals at most, as Python rounds it: halves to even. */
function rounded(number) {
  const [low, rest] = [Math.floor(number * 1000), (number * 1000) % 1];
  const isUp = rest > 0.5 || (rest === 0.5 && low % 2 === 1);
  return String((low + Number(isUp)) / 1000);
}

/** Return masks of bits in words: single bits, and those that go together. */
function bitsInWords(masks, noun) {
  const every = masks.map((mask) =>
    Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => hasBit(mask, bit)),
  );
  const single = every.filter((bits) => bits.length === 1).flat();
  const first = single.length ? [`${plural(`${noun} bit`, single.length)} ${ranges(single)}`] : [];
  const together = every
    .filter((bits) => bits.length > 1)
    .map((bits) => `${noun} bits ${bits.slice(0, -1).join(", ")} and ${bits.at(-1)} together`);
  return [...first, ...together].join("; ");
}

/** Return ascending numbers with runs of three or more written as ranges. */
function ranges(numbers) {
  const found = [];
  for (const number of numbers) {
    if (found.length && number === found.at(-1).at(-1) + 1) found.at(-1).push(number);
    else found.push([number]);
  }
  return found.flatMap((run) => (run.length > 2 ? [`${run[0]}-${run.at(-1)}`] : run)).join(", ");
}

/** Return what gives the addresses: lanes, or the rows of a matrix. */
function nounOf(access) {
  return access.instruction.matrices ? "row" : "lane";
}

/** Return the cycles that conflicts add to an instruction. */
function extraOf(access) {
  return access.wavefrontsPerInstruction - access.phases;
}

/** Return what an access consists of. */
function instructionInWords(access) {
  const { count, widthBytes, isMisaligned } = access.instruction;
  const kind = access.isStore ? "store" : "load";
  const width = `${counted(widthBytes, "byte")} per lane`;
  const end = isMisaligned ? "; misaligned by the padding, which traps" : "";
  return `${kind}: ${count} x ${instructionName(access)} per warp, ${width}${end}`;
}

/** Return the cycles that an instruction takes, and how many conflicts add. */
function verdictInWords(access) {
  const { cycle } = access.target;
  const cycles = `${counted(access.wavefrontsPerInstruction, cycle)} per instruction`;
  if (!extraOf(access)) return `${cycles}, conflict-free`;
  return `${cycles}, at least ${access.phases}: ${counted(extraOf(access), `extra ${cycle}`)}`;
}

/** Return which bits lead to a conflict. */
function selectingBits(masks, noun) {
  const isOne = masks.length === 1 && (masks[0] & (masks[0] - 1)) === 0;
  const verb = isOne ? "changes" : "change";
  return `${bitsInWords(masks, noun)} ${verb} the word but not the bank`;
}

/** Return which lanes are in conflict, a line for each bank. */
function collisionsInWords(access) {
  if (!extraOf(access)) return [];
  const noun = nounOf(access);
  const [bits, banks] = [collidingBits(access), collisions(access)];
  const lines = banks.slice(0, MAX_COLLISIONS).map(({ bank, lanes, words }) => {
    const named = words.slice(0, 4).join(", ") + (words.length > 4 ? ", .." : "");
    return `bank ${bank}: ${noun}s ${ranges(lanes)} touch ${counted(words.length, "word")} (${named})`;
  });
  if (bits.length) lines.unshift(selectingBits(bits, noun));
  const more = banks.length - MAX_COLLISIONS;
  return more > 0 ? [...lines, `and ${counted(more, "more bank")}`] : lines;
}

/** Return what the numbers of a target rest on. */
function evidence(target) {
  const source = target.verified ? "" : ` (${target.source})`;
  return `target: ${target.name}, ${target.title}; ${target.standing}${source}`;
}

// -- the section --------------------------------------------------------------------------------

/** Return an access in numbers: what is counted, how many there are, and beside what. */
function accessInNumbers(access) {
  const { instruction, wavefrontsPerInstruction, phases } = access;
  const inConflict = new Set(collisions(access).flatMap(({ lanes }) => lanes));
  const { lanes } = firstPhase(access);
  const who = instruction.matrices ? "Rows" : "Lanes";
  const perWarp = (cycles) => rounded(cycles * instruction.count);
  const { cycle } = access.target;
  return [
    [`${capitalised(cycle)}s per warp`, perWarp(wavefrontsPerInstruction), `at least ${perWarp(phases)}`],
    ["Bank conflicts per warp", perWarp(extraOf(access)), `extra ${cycle}s`],
    [`${who} in conflict`, inConflict.size, `of ${lanes.length} in the worst phase`],
  ];
}

/** Return how many cycles the worst phase takes. */
function wavefrontCount(access) {
  return 1 + Math.max(...cycleOfWords(access).values());
}

/** Say what is served in a cycle of the worst phase, of which -1 is all of them. */
function servedInWords(access, cycle) {
  const count = wavefrontCount(access);
  const { cycle: noun } = access.target;
  if (cycle < 0) return count > 1 ? `all ${count} ${noun}s` : `the only ${noun}`;
  const cycles = cycleOfWords(access);
  const { lanes, words } = firstPhase(access);
  const served = lanes.filter((_, k) => words[k].some((word) => cycles.get(word) === cycle));
  return `${noun} ${cycle + 1} of ${count}: ${plural(nounOf(access), served.length)} ${ranges(served)}`;
}

/** Shows what an access costs. */
class AccessView {
  /** @param section the section with the nodes that are filled here */
  constructor(section) {
    this.section = section;
    const names = ["what", "verdict", "numbers", "details", "evidence", "marks", "cycles"];
    this.nodes = Object.fromEntries(names.map((name) => [name, byId(`access-${name}`)]));
  }

  /** Show an access with its { cost }, or with the { error } why there is none; null for none. */
  show(access, isMarked) {
    this.section.hidden = !access;
    if (access?.cost) this.#showCost(access.cost, access.shared.banks);
    else if (access) this.#fill({ verdict: access.error, style: "error" });
    this.nodes.marks.hidden = !access?.cost;
    this.nodes.marks.classList.toggle("off", !isMarked || cyclesShown());
    this.nodes.cycles.hidden = !access?.cost || !isMarked;
  }

  /** Say which cycle is marked. */
  showCycle(access, cycle, isPlaying) {
    byId("cycle-at").textContent = servedInWords(access, cycle);
    byId("cycle-play").textContent = isPlaying ? "Stop" : "Play";
  }

  #showCost(cost, drawn) {
    const { banks } = cost.phase;
    this.#fill({
      what: instructionInWords(cost),
      verdict: verdictInWords(cost),
      style: extraOf(cost) ? "conflict" : "free",
      numbers: accessInNumbers(cost).map(numberTile),
      details: collisionsInWords(cost).map((text) => make("li", { textContent: text })),
      evidence:
        evidence(cost.target) + (banks === drawn ? "" : `; ${counted(banks, "bank")}, drawn as ${drawn}`),
    });
  }

  #fill({ what = "", verdict, style, numbers = [], details = [], evidence = "" }) {
    this.nodes.what.textContent = what;
    Object.assign(this.nodes.verdict, { textContent: verdict, className: style });
    this.nodes.numbers.replaceChildren(...numbers);
    this.nodes.details.replaceChildren(...details);
    this.nodes.evidence.textContent = evidence;
  }
}

function capitalised(word) {
  return word[0].toUpperCase() + word.slice(1);
}

function numberTile([name, number, note]) {
  const value = make("dd", {}, make("strong", { textContent: number }), ` ${note}`);
  return make("div", {}, make("dt", { textContent: name }), value);
}
