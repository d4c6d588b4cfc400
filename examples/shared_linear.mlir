// tt-layout -i examples/shared_linear.mlir -t "!ttg.memdesc<8x8xf16, #ttg.shared_memory, mutable>" --alias-names=swizzle,tiled,morton

// Row bit k also moves along the row by 2^k: a swizzle, spelled as bases.
#swizzle = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 1], [2, 2], [4, 4]]}, alignment = 16>

// 4x4 tiles, one after the other.
#tiled = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 4], [4, 0]]}, alignment = 16>

// Bits of both dimensions by turns: Morton order.
#morton = #ttg.shared_linear<{offset = [[0, 1], [1, 0], [0, 2], [2, 0], [0, 4], [4, 0]]}, alignment = 16>
