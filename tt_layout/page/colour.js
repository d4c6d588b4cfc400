// Colours of cells: the palette of tt_layout.colour, which the page gets as data.  The text on each
// is black; neighbours of few values are far apart in it, and beyond its size it repeats.

/** Return [red, green, blue] of a colour such as #77aadd. */
function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** Mix a part of another colour into one. */
function mix(colour, other, part) {
  return colour.map((channel, k) => Math.round(channel * (1 - part) + other[k] * part));
}

/** Return the relative luminance of a colour, as WCAG 2 defines it. */
function luminance(colour) {
  const [r, g, b] = colour.map((channel) => {
    const c = channel / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Return a fill and the ink that can be read on it. */
function tile(colour) {
  const light = luminance(colour);
  const isDark = 1.05 / (light + 0.05) > (light + 0.05) / 0.05;
  return { fill: `rgb(${colour.join(" ")})`, ink: isDark ? "#fff" : "#000" };
}

/** Return the colours of `count` values, as many as there are. */
function palette(count) {
  const { cells, shades } = DATA.palette;
  const hues = cells.length / shades;
  const step = count <= hues ? shades : count <= 2 * hues ? shades / 2 : 1;
  const shown = Math.min(count, cells.length);
  return Array.from({ length: shown }, (_, k) => tile(rgb(cells[k * step])));
}

/** Return the index into a palette of a value. */
function shadeIndex(value) {
  return value % DATA.palette.cells.length;
}
