"""The values of a kernel: numbers for given arguments, and facts without them.

==============  ============================================================================
`given`         what the user and the dump state about the arguments
`arithmetic`    integers of MLIR on arrays
`rules`         the table from operation to what it computes
`structure`     regions, block arguments, loops
`evaluator`     from the name of a value to the array
`expressions`   numbers as text over the arguments
`executions`    how often an operation runs
==============  ============================================================================
"""
