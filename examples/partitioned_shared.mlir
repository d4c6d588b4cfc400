// tt-layout -i examples/partitioned_shared.mlir -t "!ttg.memdesc<8x4xf16, #ttg.shared_memory, mutable>" --alias-names=striped,halves,padded --use-hw-view

// Pieces of two rows go to the two buffers by turns.
#striped = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>}>

// One group: the upper half in one buffer, the lower half in the other.
#halves = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 0, partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>}>

// Padded pieces: the padding goes on through all pieces of a buffer.
#padded = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = #ttg.padded_shared<[4:+2] {order = [1, 0], shape = [2, 4]}>}>
