// tt-layout -i examples/amd_rotating_shared.mlir -t "!ttg.memdesc<8x4xf16, #ttg.shared_memory, mutable>" --alias-names=rotating,swizzled,longer

// Each block of two rows begins with the next phase: rows 0 and 3 are plain, 1 and 2 swapped.
#rotating = #ttg.amd_rotating_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>

// Without rotation, rows 0 and 2 are plain: the pattern starts anew with each block.
#swizzled = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 2, order = [1, 0]}>

// Four phases: blocks of four rows.
#longer = #ttg.amd_rotating_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>
