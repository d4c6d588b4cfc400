// tt-layout -i examples/clusters.mlir -t "tensor<16x16xf16>" --alias-names=quarters,quarters_35,multicast

// Four CTAs, a quarter each: B0 and B1 above, B2 and B3 below.
#quarters = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0], CGALayout = [[0, 1], [1, 0]]}>

// The same in the spelling up to 3.5.
#quarters_35 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0], CTAsPerCGA = [2, 2], CTASplitNum = [2, 2], CTAOrder = [1, 0]}>

// Multicast: a basis of zeros, so B0 and B1 have the same upper half.
#multicast = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0], CGALayout = [[0, 0], [1, 0]]}>
