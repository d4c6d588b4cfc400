// tt-layout -i examples/amd_mfma.mlir -t "tensor<32x32xf32>" --alias-names=mfma32,transposed,mfma16,tiles

// 64 lanes: a lane has four rows of a column, then skips the four rows of its partner.
#mfma32 = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = false}>

// Transposed, a lane has four neighbours of a row: ready to be stored, or to be the next operand.
#transposed = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true}>

// The smaller instruction with two warps: warp 1 has the right half.
#mfma16 = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 2], instrShape = [16, 16, 16], isTransposed = false}>

// Two neighbouring tiles a warp: warp 1 has the lower half.
#tiles = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 1], instrShape = [16, 16, 32], isTransposed = false, tilesPerWarp = [1, 2]}>
