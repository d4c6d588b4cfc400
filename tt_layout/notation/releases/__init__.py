"""The attributes of other releases: a layout as each of them spells it."""
