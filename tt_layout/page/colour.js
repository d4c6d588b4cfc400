// Colours of cells.  Hues that stay apart for the colour-blind (Paul Tol's "light" scheme, and a
// ramp from yellow to blue that also falls in lightness); the text on each is black or white,
// whichever has the higher contrast, which is never below 4.58.

const HUES = [
  "#77aadd",
  "#ee8866",
  "#eedd88",
  "#44bb99",
  "#ffaabb",
  "#99ddff",
  "#bbcc33",
  "#dddddd",
];
const RAMP = ["#fbf7c5", "#d3ecb4", "#93d2ba", "#4fb6c3", "#2c8fbf", "#2a62a8", "#283b85"];
const RAMP_STEPS = 64;
const MAX_BANDED = 32;
const SHADES = [0, 0.24, 0.43, 0.6];

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

/** Return the colours of `count` values; `ground` is the colour of the page. */
function palette(count, ground) {
  const isDark = luminance(ground) < 0.2;
  const calm = (colour) => (isDark ? mix(colour, ground, 0.22) : colour);
  if (count <= HUES.length) return HUES.slice(0, count).map((hue) => tile(calm(rgb(hue))));
  if (count <= MAX_BANDED) return banded(count, calm, ground);
  return Array.from(
    { length: Math.min(count, RAMP_STEPS) },
    (_, k, n = Math.min(count, RAMP_STEPS)) => tile(calm(along(RAMP, k / (n - 1)))),
  );
}

/** Give neighbours one hue in several shades. */
function banded(count, calm, ground) {
  const perHue = count / HUES.length;
  return Array.from({ length: count }, (_, k) => {
    const hue = calm(rgb(HUES[Math.floor(k / perHue)]));
    return tile(mix(hue, ground, SHADES[Math.floor((k % perHue) * (SHADES.length / perHue))]));
  });
}

/** Return the colour at a part of the way along some colours. */
function along(colours, part) {
  const position = part * (colours.length - 1);
  const from = Math.min(Math.floor(position), colours.length - 2);
  return mix(rgb(colours[from]), rgb(colours[from + 1]), position - from);
}

/** Return the index into a palette of a value among `count`. */
function shadeIndex(value, count) {
  if (count <= RAMP_STEPS) return value;
  return Math.floor((value * (RAMP_STEPS - 1)) / (count - 1));
}
