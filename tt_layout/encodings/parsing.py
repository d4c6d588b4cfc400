"""Text to encoding in one step."""

from __future__ import annotations

from tt_layout.arguments import checks_arguments
from tt_layout.encodings import Encoding, read_encoding
from tt_layout.mlir.source import Source
from tt_layout.mlir.syntax import Aliases, Parser
from tt_layout.releases import Release


@checks_arguments
def parse_layout(
    text: str, *, release: str | Release | None = None, name: str = "<layout>"
) -> Encoding:
    """Parse a layout attribute.

    Args:
        text: an attribute such as ``#ttg.blocked<{...}>``, in the spelling of any release since
            2022.
        release: whose rules hold, such as ``"3.5"``.  By default the newest release that
            knows every key of the text; and then a missing key is an error even where
            that release would read its absence as 0.
        name: name of the text in messages.

    Raises:
        LayoutError: the text is not a layout attribute, or breaks a rule; ``str`` of the
            error shows where.

    Example:
        >>> print(parse_layout("#ttg.swizzled_shared<{order=[0], vec=8, perPhase=1, maxPhase=8}>"))
        #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0]}>
    """
    parser = Parser(Source(text, name))
    node = Aliases({}).expand(parser.parse_attribute())
    if parser.accept(":"):
        parser.advance()  # a type after an attribute is accepted and means nothing
    parser.expect_end("attribute")
    rules = Release.parse(release) if isinstance(release, str) else release
    return read_encoding(node, rules)
