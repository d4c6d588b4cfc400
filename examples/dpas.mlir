// tt-layout -i examples/dpas.mlir -t "tensor<16x32xf32>" --alias-names=pvc,dg2,a,block

// Data Center GPU Max and Arc B: 8 rows of 16 columns an instruction, two beside each other for a warp.
#pvc = #ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 16, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [2, 1], repCluster = [1, 2]}>

// Arc A: 8 columns; lanes 8 to 15 have the next row.
#dg2 = #ttig.dpas<{repeatCount = 8, systolicDepth = 8, executionSize = 8, opsPerChan = 2, threadsPerWarp = 16, warpsPerCTA = [2, 1], repCluster = [1, 1]}>

// An operand: a lane holds one column of A.
#a = #ttg.dot_op<{opIdx = 0, parent = #pvc, kWidth = 1}>

// Two blocks of 8 rows and 16 columns in one load.
#block = #ttig.subgroup_2d_block<{warpsPerCTA = [2, 1], instrShape = [8, 16], numBlocks=2, order=[1, 0], kWidth=2, threadsPerWarp=16}>
