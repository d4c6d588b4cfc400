// The time of a kernel: what takes it, as bars, and an iteration of its loops, as lanes.

/** Show the estimates of the kernels of the module, or why there are none. */
function showTimes() {
  const { times = [] } = dumpModules()[state.module];
  byId("time").hidden = !times.length;
  byId("times").replaceChildren(...times.flatMap((time) => kernelTime(time, times.length > 1)));
}

/** @param {KernelTime} time */
function kernelTime({ name, text, seconds, bars = [], paths = [] }, isNamed) {
  const said = make("p", { textContent: isNamed ? `${name}: ${text}` : text });
  if (!seconds) return [said];
  const most = Math.max(seconds, ...bars.map(([, own]) => own));
  const bar = ([term, own, words], className = "") => {
    const drawn = make("i", { className });
    drawn.style.width = `${(100 * own) / most}%`;
    const head = make("th", { textContent: term });
    head.scope = "row";
    return make("tr", {}, head, make("td", {}, drawn), make("td", { textContent: words }));
  };
  const all = make("tbody", {}, bar(["all together", seconds, ""], "all"), ...bars.map((one) => bar(one)));
  const caption = make("caption", { textContent: "What each would take alone" });
  return [said, make("table", { className: "bars" }, caption, all), ...paths.flatMap(timePath)];
}

/** Return the picture of an iteration, and the steps that it waits for. */
function timePath({ text, cycles, drawn, passes, critical, lanes }) {
  const lines = new Map(critical.map((one) => [one[0], one]));
  const of = passes > 1 ? `${passes} iterations` : "";
  const said = make("p", { textContent: `${text[0].toUpperCase()}${text.slice(1)}.` });
  const waits = critical.map(([line, own, name]) => {
    const item = make("li", {}, lineButton(line, `line ${line}`), ` ${name}: ${counted(own, "cycle")}`);
    item.dataset.line = line;
    return item;
  });
  const picture = make("div", { className: "lanes" }, ...lanes.map((lane) => timeLane(lane, drawn, lines)));
  const key = make("p", { className: "about" }, make("i", { className: "on" }), "on the critical path");
  const axis = make("p", { className: "about axis" }, make("span", { textContent: "0" }), make("span", { textContent: of }), make("span", { textContent: counted(drawn, "cycle") }));
  return [said, ...(lanes.length ? [picture, axis, key] : []), make("ul", {}, ...waits)];
}

/** Return a lane: what is under way at once is one below the other. */
function timeLane([name, meaning, spans], drawn, critical) {
  const ends = [];
  const boxes = spans.map(([begin, end, line]) => {
    const free = ends.findIndex((last) => last <= begin);
    const row = free < 0 ? ends.length : free;
    ends[row] = end;
    const box = make("i", { className: critical.has(line) ? "on" : "", title: `line ${line}: cycle ${begin} to ${end}`, onclick: () => selectLine(line) });
    Object.assign(box.style, { left: `${(100 * begin) / drawn}%`, width: `${(100 * (end - begin)) / drawn}%`, top: `${6 * row}px` });
    return box;
  });
  const track = make("span", { className: "track" }, ...boxes);
  track.style.height = `${6 * Math.max(2, ends.length)}px`;
  track.setAttribute("role", "img");
  const words = spans.slice(0, 8).map(([begin, end, line]) => `line ${line} from ${begin} to ${end}`);
  const more = spans.length > 8 ? `, and ${spans.length - 8} more` : "";
  track.setAttribute("aria-label", `${meaning}: ${words.join(", ")}${more}`);
  return make("div", { title: meaning }, make("span", { textContent: name }), track);
}

/** Return the cycles of the critical path by line: of the dump, or of a file of the program. */
function waitsByLine(file = null) {
  const found = new Map();
  for (const { paths = [] } of dumpModules()[state.module]?.times ?? [])
    for (const { critical } of paths)
      for (const [own, cycles, , from, at] of critical) {
        const line = file === null ? own : from === file ? at : null;
        if (line !== null) found.set(line, (found.get(line) ?? 0) + cycles);
      }
  return found;
}

Object.assign(ofDumps, { showTimes, waitsByLine });
