// RUN: tt-layout -i %s --alias-names=row -t "tensor<4x8xf16>" | FileCheck %s --check-prefix=ROW
// RUN: tt-layout -i %s -alias-names="row" -t "tensor<4x8xf16>" -use-hw-view | FileCheck %s --check-prefix=HW
// RUN: tt-layout -l "#ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>}>" -t "tensor<8xf32>" | FileCheck %s --check-prefix=SLICE
// RUN: tt-layout -i %s --alias-names row,swizzled -t "tensor<4x8xf16>" | FileCheck %s --check-prefix=BOTH
// RUN: tt-layout -i %s --alias-names=column -t "tensor<4x8xf16>" -o %t && FileCheck %s --check-prefix=COLUMN --input-file=%t
// RUN: tt-layout -i %s -t "tensor<4x8xf16>" | FileCheck %s --check-prefix=ALL
// RUN: not tt-layout -i %s --alias-names=missing -t "tensor<4x8xf16>" 2>&1 | FileCheck %s --check-prefix=MISSING

#row = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#dim = {order = [0, 1], sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 2]}
#column = #ttg.blocked<#dim>
#swizzled = #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32} {
  tt.func @copy(%x: tensor<4x8xf16, #row>) {
    %0 = ttg.local_alloc %x : (tensor<4x8xf16, #row>) -> !ttg.memdesc<4x8xf16, #swizzled, #smem>
    tt.return
  }
}

// ROW: Print layout attribute: #row = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
// ROW-NEXT: {{^\[\[}} T0:0, T0:1, T1:0, T1:1, T2:0, T2:1, T3:0, T3:1]{{$}}
// ROW-NEXT: {{^\[}} T4:0, T4:1,
// ROW-NEXT: {{^\[}} T8:0,
// ROW-NEXT: {{^\[}} T12:0, T12:1, T13:0, T13:1, T14:0, T14:1, T15:0, T15:1]]{{$}}

// HW: Warp0:
// HW-NEXT: {{^}}(0,0), (0,2), (0,4), (0,6), (1,0), {{.*}}, (3,6){{$}}
// HW-NEXT: {{^}}(0,1), (0,3),
// HW-NOT: Warp1

// SLICE: [ T0:0| T4:0| T8:0|T12:0, T0:1| T4:1| T8:1|T12:1,
// SLICE-SAME: T3:1| T7:1|T11:1|T15:1]

// BOTH: #row = #ttg.blocked
// BOTH: #swizzled = #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>
// BOTH-NEXT: {{^\[\[}}(0:0),(0:1),(0:2),
// BOTH-NEXT: {{^\[}} (1:2),(1:3),(1:0),(1:1),(1:6),(1:7),(1:4),(1:5)]{{$}}

// COLUMN: #column = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 2], order = [0, 1]}>
// COLUMN-NEXT: {{^\[\[}} T0:0|T32:0, T4:0|T36:0,

// ALL-DAG: #row =
// ALL-DAG: #column =
// ALL-DAG: #swizzled =
// ALL-NOT: #smem =

// MISSING: there is no alias #missing
