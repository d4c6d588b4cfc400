"""Whether the tests notice when the package is broken: mutants, and who kills them."""
