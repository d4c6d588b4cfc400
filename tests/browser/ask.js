// Put behind the page's scripts by the tests, to ask what they work out.

/** Answer questions of tests: the page's own evaluation of a layout, and where a cell is drawn. */
function ask({
  what,
  layout,
  points,
  attribute,
  type,
  release,
  lanes,
  element,
  with: against,
  grid,
  cell,
  target,
  isStore,
}) {
  const built = (spec) => new Model({ padding: [], bits: 16, ...spec }, usualTarget());
  const orError = (action) => {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      return { error: error.message };
    }
  };
  const answers = {
    evaluate: () => points.map((point) => evaluate(layout, point)),
    holders: () => built(layout).inverse.holders(element),
    where: () => {
      const view = page.views[grid] ?? page[`${grid}View`];
      view.reveal(...cell);
      return view.middle(...cell);
    },
    lit: () => {
      const pen = page.multiplicationView.over.getContext("2d");
      const { gutter, stageSize } = page.multiplicationView;
      const isClear = (cell) => {
        const [x, y] = page.multiplicationView.middle(...cell);
        const isInSight = x > gutter && y > HEAD && x < stageSize[0] && y < stageSize[1];
        return isInSight && !pen.getImageData(x, y, 1, 1).data[3];
      };
      return page.multiplicationView.source.matrices.map(({ left, top, rows, columns }) =>
        Array.from({ length: rows }, (_, y) =>
          Array.from({ length: columns }, (_, x) => isClear([left + x, top + y])),
        ),
      );
    },
    multiplied: () =>
      page.multiplicationView.source.matrices.map((matrix) => ({
        at: [matrix.left, matrix.top],
        texts: Array.from({ length: matrix.rows }, (_, y) =>
          Array.from({ length: matrix.columns }, (_, x) => matrix.text(x, y)),
        ),
      })),
    drawn: () =>
      allViews()
        .filter(({ pane, source }) => source && !pane.hidden)
        .map((view) => ({
          cell: [view.width, view.height],
          cells: [view.source.columns, view.source.rows],
          room: [view.scroller.clientWidth - view.gutter, view.scroller.clientHeight - HEAD],
          label: view.label,
        })),
    texts: () => {
      const { source } = page.views[grid] ?? page[`${grid}View`];
      return Array.from({ length: source.rows }, (_, y) =>
        Array.from({ length: source.columns }, (_, x) => source.text(x, y)),
      );
    },
    shade: () => {
      const { source } = page.views[grid];
      return source.shade(...source.cells(element)[0]);
    },
    cells: () => (page.views[grid] ?? page[`${grid}View`]).source.cells(element),
    marks: () => page.views[grid].source.marks?.all ?? [],
    reduction: () => orError(() => {
      const steps = reductionSteps(layout, points, targetNamed(target));
      return { steps, words: steps.map((step, k) => [broughtBy(step), sumInWords(step, k + 1)]) };
    }),
    read: () => orError(() => readLayout(attribute, type, release)),
    notation: () => orError(() => readNotation(attribute, type, release, lanes)),
    multiplication: () => multiplicationOf(readNotation(attribute, type, release)),
    newest: () => newestRelease(attribute),
    isReadable: () => isReadable(attribute),
    compare: () => ({
      words: changesInWords(layout, against),
      moved: new Movement(built(layout), built(against)).moved,
    }),
    dump: () => readDump("kernel", attribute),
    swizzle: () => bestSwizzle(built(layout), built(against), { target: targetNamed(target), isStore }),
    counted: () => points.map((number) => counted(number, "wavefront")),
    access: () => {
      const pair = accessPair(built(layout), built(against));
      const { cost: own, error } = workedOut(pair, targetNamed(target), isStore);
      if (error) return { error };
      const words = [instructionInWords(own), verdictInWords(own), ...collisionsInWords(own)];
      const wavefronts = own.wavefrontsPerInstruction;
      return { wavefronts, phases: own.phases, collisions: collisions(own), words };
    },
  };
  return answers[what]();
}

Object.defineProperty(window, "ttLayout", { value: ask });
