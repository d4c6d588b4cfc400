// tt-layout -i examples/amd_wmma.mlir -t "tensor<32x32xf32>" --alias-names=rdna3,rdna4,tiles,before

// RDNA 3: even rows are in lanes 0 to 15, odd rows in lanes 16 to 31.
#rdna3 = #ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>

// RDNA 4: rows 0 to 7 are in lanes 0 to 15, rows 8 to 15 in lanes 16 to 31.
#rdna4 = #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>

// Bases of ctaLayout count tiles: here one warp has two tiles side by side.
#tiles = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {register = [[0, 1]], warp = [[1, 0]]}, instrShape = [16, 16, 32]}>

// Up to 3.6 warpsPerCTA said what ctaLayout says; this is #rdna4 again.
#before = #ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [2, 2]}>
