// tt-layout -i examples/padded_shared.mlir -t "!ttg.memdesc<4x8xf16, #ttg.shared_memory, mutable>" --alias-names=rows,tiers,reordered --use-hw-view

// Two elements of padding after each row of eight: a row begins at 0, 10, 20, 30.
#rows = #ttg.padded_shared<[8:+2] {order = [1, 0], shape = [4, 8]}>

// Paddings add up: one after each 8 elements, four more after each 16.
#tiers = #ttg.padded_shared<[8:+1, 16:+4] {order = [1, 0], shape = [4, 8]}>

// Elements in an order of one's own: rows 0 and 2, then a pad, then rows 1 and 3.
#reordered = #ttg.padded_shared<[16:+4] {offset = [[0, 1], [0, 2], [0, 4], [2, 0], [1, 0]], block = []}>
