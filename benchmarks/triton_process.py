"""What a whole process costs with Triton's own Python: import, format, write.

usage: triton_process.py SIDE FILE
"""

import sys
from pathlib import Path

# Not installed where this file is type-checked.
from triton.experimental.gluon.language import BlockedLayout  # type: ignore[import-not-found]

side, path = int(sys.argv[1]), Path(sys.argv[2])
layout = BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
path.write_text(layout.format_tensor_view([side, side]))
