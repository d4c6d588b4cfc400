"""Accesses to global memory: the width of their instructions, and limits of it.

==============  ============================================================================
`operands`      which operand is the address, the mask, the value
`width`         elements per instruction, and how many instructions there are
`instructions`  their names in PTX and AMD's assembly
`limits`        what keeps an access narrow, and what would let the compiler know more
`origins`       where in the function that begins, over the sources of its values
`advice`        the way out, in the terms of the language
`cost`          what it costs as the audit has it: instructions, requests, sectors, lines
==============  ============================================================================
"""
