"""Conclusions from a dump: layouts, data movements and their costs.

================  ============================================================================
`modules`         a module as it is audited: layouts over types, operations read in full
`axis`, `values`  what the compiler knows of integers and addresses, and what they are
`operations`      what each kind of operation costs; accesses to `global_memory` have a room
`allocation`      shared memory as the compiler allocates it
`registers`       the registers that are live, and those that the compiler needs
`rules`           the kinds of findings, a file each
`bounds`          times that a launch cannot beat
`suggestions`     what to use instead
`measured`        what Nsight Compute counted, beside what is predicted
================  ============================================================================
"""
