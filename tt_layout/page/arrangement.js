// How the grids share the room that the window leaves: beside each other or one below the other.

const PANE_WIDTH = 28; // pixels of a pane beside its grid
const PANE_GAP = 10;
const LEAST_ROOM = 120; // pixels that the grid of a pane gets at least
const WAYS = [
  [[1]],
  [[2], [1, 1]],
  [[3], [2, 1], [1, 2], [1, 1, 1]],
];

/**
 * Arrange the panes that are shown in the way in which most cells have room for their text.
 *
 * @param {HTMLElement} box that contains the panes
 * @param {GridView[]} views those that are shown
 * @param {number} height pixels that there are for all of them
 */
function arrange(box, views, height) {
  const width = box.clientWidth;
  // Banks stand above each other.
  const ways = cyclesShown() ? [views.map(() => 1)] : WAYS[views.length - 1];
  const place = (way) => placedIn(way, views, width, height);
  // The root: that all grids can be seen counts more than that one is large.
  const score = (way) => place(way).reduce((sum, { view, size }) => sum + Math.sqrt(view.fitting(...size)), 0);
  const best = ways.reduce((most, way) => (score(way) > score(most) + 0.02 ? way : most));
  for (const { view, share } of place(best)) view.pane.style.gridColumn = `span ${6 / share}`;
  // How high the headings are is only known in their width.
  for (const { view, size } of place(best)) view.room = size[1];
}

/** Return the panes with the { size } of their grids, so many in each row. */
function placedIn(counts, views, width, height) {
  let next = 0;
  const rows = counts.map((count) => views.slice(next, (next += count)));
  const heads = rows.map((row) => Math.max(...row.map((view) => view.headHeight)));
  const gaps = PANE_GAP * (rows.length - 1);
  const free = height - gaps - heads.reduce((sum, head) => sum + head);
  const wanted = rows.map((row) => Math.max(...row.map((view) => view.wantedHeight)));
  const widthIn = (row) => (width - PANE_GAP * (row.length - 1)) / row.length - PANE_WIDTH;
  const labelled = rows.map((row) => Math.max(LEAST_ROOM, ...row.map((view) => view.labelledHeight(widthIn(row)))));
  const heights = cyclesShown() ? inTurn(free, wanted) : shared(free, wanted, labelled);
  return rows.flatMap((row, k) =>
    row.map((view) => {
      return { view, share: row.length, size: [widthIn(row), Math.max(LEAST_ROOM, heights[k])] };
    }),
  );
}

/** Give each what it wants of a length, as long as those behind it get the least. */
function inTurn(length, wanted) {
  let rest = length;
  return wanted.map((own, k) => {
    const behind = wanted.slice(k + 1).reduce((sum, other) => sum + Math.min(other, LEAST_ROOM), 0);
    const given = Math.min(own, rest - behind);
    rest -= given;
    return given;
  });
}

/**
 * Share a length among those that want some: what one does not want, the others get.  If it is enough
 * for all of them to have text in their cells, each gets what that takes first.
 *
 * @param {number} length
 * @param {number[]} wanted
 * @param {number[]} labelled what the text of each takes
 */
function shared(length, wanted, labelled) {
  const taken = labelled.reduce((sum, own) => sum + own, 0);
  if (taken > length) return sharedAlike(length, wanted);
  const rest = sharedAlike(length - taken, wanted.map((own, k) => Math.max(0, own - labelled[k])));
  return rest.map((own, k) => own + labelled[k]);
}

function sharedAlike(length, wanted) {
  const order = wanted.map((_, k) => k).sort((a, b) => wanted[a] - wanted[b]);
  const given = [];
  let rest = length;
  order.forEach((k, at) => {
    given[k] = Math.min(wanted[k], Math.floor(rest / (order.length - at)));
    rest -= given[k];
  });
  return given;
}
