"""The same layout in another spelling: exact, or refused with the reason.

Every target is a function to text and one back.  What is returned has been read back and
found to be the same layout, on all bases; nothing else is ever returned.

Stored:      nothing; a target is a line in TARGETS, a release needs none.
Read next:   `targets`, `eras`, then `linear`, `gluon`, `cute`, `as_json`.
"""

from __future__ import annotations

from tt_layout.translation.refusal import RefusedError
from tt_layout.translation.result import TensorSpec, Translation
from tt_layout.translation.targets import TARGETS, translate

__all__ = ["TARGETS", "RefusedError", "TensorSpec", "Translation", "translate"]
