"""``python -m tt_layout.watch program.py ..``, for a release the alias of ``tt_layout.watching``.

Whoever imports it gets the function `tt_layout.watch`, so that the name stays the function's.
"""

from __future__ import annotations

import sys
from typing import Any, cast

if __name__ == "__main__":
    from tt_layout.watching.__main__ import main

    sys.exit(main(sys.argv[1:]))

from tt_layout.watching.session import watch

sys.modules[__name__] = cast(Any, watch)
