"""Analyses of layouts: costs, properties, and better choices.

==================  ==========================================================================
`layouts`           properties, point queries, differences, the compiler's defaults
`shared_memory`     accesses and bank conflicts, swizzles, where buffers are placed
`global_memory`     requests and sectors, messages of the copy engines
`tensor_memory`     its messages, its copies, the register layouts that fit them
`conversion`        what moves between threads: conversions, reductions, scans, gathers
`multiplications`   matrix instructions, their operands and descriptors
==================  ==========================================================================
"""
