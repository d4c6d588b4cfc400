"""A page that is open in the browser, and what tests do with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs


class Opened:
    """A page in the browser.

    Attributes:
        page: Playwright's page.
        file: the file that is shown.
        errors: messages of the console and uncaught exceptions.
        requests: addresses that were asked for, without fragments.
    """

    def __init__(self, page: Any, file: Path, artefacts: Path) -> None:
        self.page, self.file, self.artefacts = page, file, artefacts
        self.errors: list[str] = []
        self.requests: set[str] = set()
        page.on("console", self._note)
        page.on("pageerror", self._caught)
        page.route("**/*", self._asked)

    def leave(self) -> None:
        """Leave the page as it was found, for another file."""
        self.page.evaluate("localStorage.clear()")
        self.page.remove_listener("console", self._note)
        self.page.remove_listener("pageerror", self._caught)
        self.page.unroute_all()

    def _caught(self, error: Any) -> None:
        self.errors.append(str(error))

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning") and "willReadFrequently" not in message.text:
            self.errors.append(message.text)

    def _asked(self, route: Any) -> None:
        address = route.request.url.split("#")[0]
        self.requests.add(address)
        if address == self.file.as_uri():
            route.continue_()
        else:
            route.abort()

    def go(self, fragment: str = "") -> None:
        """Load the page anew."""
        if self.page.url.startswith(self.file.as_uri()):
            self.page.goto("about:blank")  # a fragment alone loads nothing
        self.page.goto(self.file.as_uri() + (f"#{fragment}" if fragment else ""))
        assert self.page.evaluate("'ttLayout' in window")

    @property
    def said(self) -> str:
        """What the page says of the cell that is hovered or focused."""
        return str(self.page.inner_text("#said"))

    @property
    def address(self) -> dict[str, str]:
        """The state in the address."""
        fragment = self.page.evaluate("location.hash").removeprefix("#")
        return {key: values[0] for key, values in parse_qs(fragment).items()}

    def shot(self, name: str) -> None:
        """Keep a picture of the page as it is, where there is a folder for it."""
        self.settle()
        if not self.artefacts.is_dir():
            return
        self.page.screenshot(path=self.artefacts / f"{name}.png", full_page=True)

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def focus(self, grid: str, right: int = 0, down: int = 0) -> None:
        """Focus a grid's first cell by the keyboard, and move from there."""
        self.page.keyboard.press("Tab")  # what follows is focused as by the keyboard
        self.page.focus(f"#{grid} .stage")
        self.page.keyboard.press("Control+Home")
        for key, count in (("ArrowRight", right), ("ArrowDown", down)):
            for _ in range(count):
                self.page.keyboard.press(key)

    def hover_rings(self, grid: str) -> list[list[int]]:
        """Return the middles of the dark rings that a grid shows, in pixels of its overlay."""
        rings: list[list[int]] = self.page.evaluate(RINGS, grid)
        return rings

    def point(self, grid: str, x: float, y: float) -> None:
        """Move the mouse to a place in a grid, in pixels from its corner."""
        stage = self.page.locator(f"#{grid} .stage")
        stage.evaluate("node => node.scrollIntoView({ block: 'start' })")
        box = stage.bounding_box()
        self.page.mouse.move(box["x"] + x, box["y"] + y)
        self.settle()

    def at(self, grid: str, x: int, y: int) -> None:
        """Point at a cell."""
        self.point(grid, *self.ask(what="where", grid=grid, cell=[x, y]))

    def poor_contrasts(self) -> list[Any]:
        """Return the texts in sight whose contrast is below 4.5, with it."""
        poor: list[Any] = self.page.evaluate(CONTRASTS)
        return poor

    def drawn_while_hovering(self, grid: str) -> list[int]:
        """Hover over a grid; return what each frame draws, in calls to the canvas."""
        counts: list[int] = self.page.evaluate(HOVERING, grid)
        return counts

    def select(self, control: str, value: str) -> None:
        """Choose an option of a control."""
        self.page.select_option(f"#{control}", value)

    def choose_layout(self, number: int) -> None:
        """Choose a layout of the page, counted from 0, in the box of layouts."""
        self.page.click("#layout-filter")
        self.page.click(f"#layout-{number}")

    def fill(self, control: str, text: str) -> None:
        """Write into a box, and wait until the page follows."""
        self.page.fill(f"#{control}", text)
        self.page.wait_for_timeout(300)

    def ask(self, **question: Any) -> Any:
        """Ask the page's own evaluation."""
        return self.page.evaluate("question => window.ttLayout(question)", question)


RINGS = """grid => {
  const canvas = document.querySelectorAll(`#${grid} canvas`)[1];
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const seen = new Set(), rings = [];
  for (let at = 0; at < width * height; at++) {
    if (!pixels[4 * at + 3] || seen.has(at)) continue;
    const found = [at]; seen.add(at);
    let [left, right, top, bottom] = [width, 0, height, 0];
    while (found.length) {
      const one = found.pop(), x = one % width, y = (one - x) / width;
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
      for (const next of [one - 1, one + 1, one - width, one + width]) {
        if (next < 0 || !pixels[4 * next + 3] || seen.has(next)) continue;
        seen.add(next);
        found.push(next);
      }
    }
    rings.push([Math.round((left + right) / 2), Math.round((top + bottom) / 2)]);
  }
  return rings;
}"""

CONTRASTS = """() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = node => {
    for (; node; node = node.parentElement) {
      const colour = channels(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const poor = [];
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    const isUnseen = !node.checkVisibility() || /SCRIPT|STYLE/.test(node.tagName);
    if (!texts.currentNode.data.trim() || isUnseen) continue;
    const [ink, paper] = [light(channels(getComputedStyle(node).color)), light(ground(node))];
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (contrast < 4.5) poor.push([texts.currentNode.data.slice(0, 30), contrast]);
  }
  return poor;
}"""

MOST_DRAWN = 1 << 13
"""Calls to the canvas that a frame may take, of a grid with eight times as many cells."""

HOVERING = """async grid => {
  const stage = document.querySelector(`#${grid} .stage`);
  const box = stage.getBoundingClientRect();
  const frame = () => new Promise(requestAnimationFrame);
  const drawing = CanvasRenderingContext2D.prototype;
  const names = ["fillRect", "strokeRect", "fillText", "stroke", "fill", "putImageData"];
  const originals = names.map(name => drawing[name]);
  let calls = 0;
  names.forEach((name, k) => drawing[name] = function (...given) {
    calls += 1;
    return originals[k].apply(this, given);
  });
  const counts = [];
  for (let k = 0; k < 30; k++) {
    const [clientX, clientY] = [box.left + 60 + 15 * k, box.top + 40 + 12 * k];
    stage.dispatchEvent(new MouseEvent("mousemove", { clientX, clientY, bubbles: true }));
    calls = 0;
    await frame();
    await frame();
    counts.push(calls);
  }
  names.forEach((name, k) => drawing[name] = originals[k]);
  return counts;
}"""
