// tt-layout -i examples/nvmma_shared.mlir -t "!ttg.memdesc<8x64xf16, #ttg.shared_memory, mutable>" --alias-names=wide,narrow,plain

// 128 bytes: eight rows of 64 elements, eight phases of eight elements.
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>

// 32 bytes: four core matrices side by side, each stored before the next begins.
#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>

// No swizzling: plain rows.
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
