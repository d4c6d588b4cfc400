"""A dump to edit, and edits as people make them: lines and characters that come, go and change."""

from __future__ import annotations

from random import Random

ALIASES = """\
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], \
order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], \
order = [1, 0]}>
"""
CONVERTED = f"""{ALIASES}\
module attributes {{ttg.target = "cuda:90", "ttg.num-warps" = 4 : i32}} {{
  tt.func @f() {{
    %0 = arith.constant dense<1.0> : tensor<64x64xf16, #a>
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #a> -> tensor<64x64xf16, #b>
    tt.return
  }}
}}
"""
"""A conversion that a suggestion saves."""

JUNK = ("}", "{", "<", '"', "#blocked", "%0", "x", "// -----", " ", "\n", "tensor<4xf32, #nothing>")


def edited(text: str, random: Random) -> str:
    """Return a text with one edit."""
    lines = text.split("\n")
    at = random.randrange(len(lines))
    kind = random.randrange(6)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[random.randrange(len(lines))] if lines else "")
    elif kind == 2:
        lines.insert(at, "")
    elif kind == 3:
        lines[at] = _other_number(lines[at], random)
    else:
        place = random.randrange(len(lines[at]) + 1)
        line = lines[at]
        lines[at] = line[:place] + random.choice(JUNK) + line[place + (kind == 5) :]
    return "\n".join(lines)


def _other_number(line: str, random: Random) -> str:
    digits = [at for at, character in enumerate(line) if character.isdigit()]
    if not digits:
        return line
    at = random.choice(digits)
    return line[:at] + random.choice("0124863") + line[at + 1 :]
