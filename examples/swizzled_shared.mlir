// tt-layout -i examples/swizzled_shared.mlir -t "!ttg.memdesc<8x8xf16, #ttg.shared_memory, mutable>" --alias-names=plain,every_row,pairs

#smem = #ttg.shared_memory

// Not swizzled: a column lies below itself, in few banks.
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>

// Row r is xor'ed with r: a column is spread over all places.
#every_row = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 8, order = [1, 0]}>

// Pairs stay together (vec), and two rows share a phase (perPhase).
#pairs = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @write(%a: tensor<8x8xf16>) {
    %0 = ttg.local_alloc %a : (tensor<8x8xf16>) -> !ttg.memdesc<8x8xf16, #every_row, #smem>
    tt.return
  }
}
