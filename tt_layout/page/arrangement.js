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
  const ways = WAYS[views.length - 1].map((counts) => placedIn(counts, views, width, height));
  const score = (way) => way.reduce((sum, { view, size }) => sum + view.fitting(...size), 0);
  const best = ways.reduce((most, way) => (score(way) > score(most) + 0.05 ? way : most));
  for (const { view, size, share } of best) {
    view.room = size[1];
    view.pane.style.gridColumn = `span ${6 / share}`;
  }
}

/** Return the panes with the { size } of their grids, so many in each row. */
function placedIn(counts, views, width, height) {
  let next = 0;
  const rows = counts.map((count) => views.slice(next, (next += count)));
  const heads = rows.map((row) => Math.max(...row.map((view) => view.headHeight)));
  const gaps = PANE_GAP * (rows.length - 1);
  const free = height - gaps - heads.reduce((sum, head) => sum + head);
  const wanted = rows.map((row) => Math.max(...row.map((view) => view.wantedHeight)));
  const heights = shared(free, wanted);
  return rows.flatMap((row, k) =>
    row.map((view) => {
      const own = (width - PANE_GAP * (row.length - 1)) / row.length - PANE_WIDTH;
      return { view, share: row.length, size: [own, Math.max(LEAST_ROOM, heights[k])] };
    }),
  );
}

/** Share a length among those that want some: what one does not want, the others get. */
function shared(length, wanted) {
  const order = wanted.map((_, k) => k).sort((a, b) => wanted[a] - wanted[b]);
  const given = [];
  let rest = length;
  order.forEach((k, at) => {
    given[k] = Math.min(wanted[k], Math.floor(rest / (order.length - at)));
    rest -= given[k];
  });
  return given;
}
