// tt-layout -i examples/eras.mlir -t "tensor<16x16xf16>" --alias-names=mma_2022,blocked_20,shared_22,mfma_30

// 2022: the version had no parts, and there was no instruction shape; warp 1 begins at column 8.
#mma_2022 = #triton_gpu.mma<{version = 2, warpsPerCTA = [1, 2]}>

// 2.0: blocked has looked like this ever since, but for the dialect's name.
#blocked_20 = #triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

// 2.2 and 2.3 always printed the CTA keys.
#shared_22 = #triton_gpu.shared<{vec = 2, perPhase = 1, maxPhase = 8, order = [1, 0], CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0], hasLeadingOffset = false}>

// 3.0 to 3.2: mfma, with two parts of the version and an instruction shape without K.
#mfma_30 = #triton_gpu.amd_mfma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 16], isTransposed = false}>
