// tt-layout -i examples/tensor_memory.mlir -t "!ttg.memdesc<128x8xf16, #ttng.tensor_memory, mutable>" --alias-names=full,halves,strided --use-hw-view

// A row of the tensor is a row of tensor memory.
#full = #ttng.tensor_memory_encoding<blockM = 128, blockN = 8, colStride = 1>

// Blocks of 64 rows: rows 64 to 79 of the tensor lie in rows 16 to 31.
#halves = #ttng.tensor_memory_encoding<blockM = 64, blockN = 8, colStride = 1>

// One 16-bit element in each 32-bit cell: every second column is empty.
#strided = #ttng.tensor_memory_encoding<blockM = 128, blockN = 8, colStride = 2>
