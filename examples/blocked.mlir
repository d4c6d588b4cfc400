// tt-layout -i examples/blocked.mlir -t "tensor<16x16xf16>" --alias-names=rows,columns,exact

// Each thread has four neighbours of a row; lanes 4 to 7 wrap around and hold copies.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

// The same along columns: see how T0 goes down.
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>

// No copies: 128 threads share 256 elements, two each.
#exact = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @relayout(%a: tensor<16x16xf16, #rows>) -> tensor<16x16xf16, #columns> {
    %0 = ttg.convert_layout %a : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #exact>
    %1 = ttg.convert_layout %0 : tensor<16x16xf16, #exact> -> tensor<16x16xf16, #columns>
    tt.return %1 : tensor<16x16xf16, #columns>
  }
}
