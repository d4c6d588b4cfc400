"""Text in MLIR: sources and spans, syntax trees, types, alias definitions."""
