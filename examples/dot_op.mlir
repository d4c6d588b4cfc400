// tt-layout -i examples/dot_op.mlir -t "tensor<16x16xf16>" --alias-names=a,b,a_fma

// Layouts of the two products.
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 2], instrShape = [16, 8]}>
#fma = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>

// Operand A: the warps stand side by side along N, so each has all of A.
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>

// Operand B: kWidth elements of a column lie together, and each warp has its columns only.
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

// Without tensor cores, a thread has all of K for its rows: registers run along dim 1.
#a_fma = #ttg.dot_op<{opIdx = 0, parent = #fma}>

module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @dot(%a: tensor<16x16xf16, #a>, %b: tensor<16x16xf16, #b>, %c: tensor<16x16xf32, #mma>) {
    %d = tt.dot %a, %b, %c : tensor<16x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<16x16xf32, #mma>
    tt.return
  }
}
