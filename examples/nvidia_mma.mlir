// tt-layout -i examples/nvidia_mma.mlir -t "tensor<64x16xf32>" --alias-names=ampere,hopper,double,volta

// Ampere's mma.m16n8: each thread has two neighbours of a row, and two more 8 rows below.
#ampere = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>

// Hopper's wgmma: the four warps of a group lie one below the other.
#hopper = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>

// Double precision: the instruction is 8x8, so a warp ends after eight rows.
#double = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [8, 8]}>

// Volta, which the newest Triton refuses; see T0 to T3 in the corner of 4x4, and again in row 0, column 8.
#volta = #ttg.nvidia_mma<{versionMajor = 1, versionMinor = 1, warpsPerCTA = [4, 1], instrShape = [16, 16]}>
