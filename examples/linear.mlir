// tt-layout -i examples/linear.mlir -t "tensor<16x16xf16>" --alias-names=rows,copies,swizzled

// Bases spelled out: register bit 0 moves along dim 1 by one, lane bit 0 by two, and so on.
#rows = #ttg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>

// A basis of zeros is a copy: warps 2 and 3 have what warps 0 and 1 have.
#copies = #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [0, 0]], block = []}>

// Swizzled warps, which only generic_linear may have: warp bit 1 moves along both dimensions.
#swizzled = #ttg.generic_linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [8, 8]], block = []}>
