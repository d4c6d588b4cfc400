// tt-layout -i examples/slice.mlir -t "tensor<16xf32>" --alias-names=row_sums,column_sums

// 16x16 elements over four warps; eight lanes share a row.
#parent = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>

// What a sum along rows leaves: each row sum is in the eight lanes that had the row.
#row_sums = #ttg.slice<{dim = 1, parent = #parent}>

// What a sum along columns leaves: each lane has two sums, and every warp all of them.
#column_sums = #ttg.slice<{dim = 0, parent = #parent}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @sums(%a: tensor<16x16xf32, #parent>) -> tensor<16xf32, #row_sums> {
    %0 = "tt.reduce"(%a) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %sum = arith.addf %x, %y : f32
      tt.reduce.return %sum : f32
    }) : (tensor<16x16xf32, #parent>) -> tensor<16xf32, #row_sums>
    tt.return %0 : tensor<16xf32, #row_sums>
  }
}
