"""Table of the traits of operations, for every dialect in dumps.

Operations are classified here and nowhere else: a new operation is a new row.  Their movements
between memories and the cost families are in `tt_layout.ir.data_movements`.

Source:
    ``Elementwise``, ``Pure``, ``Terminator`` and the memory effects in TritonOps.td,
    TritonGPUOps.td, TritonNvidiaGPUOps.td and TritonAMDGPUOps.td, and in MLIR's ArithOps.td,
    MathOps.td, SCFOps.td, ControlFlowOps.td, GPUOps.td, NVVMOps.td and ROCDLOps.td.
"""

from __future__ import annotations

from collections.abc import Mapping

from tt_layout.ir.names import MAX_REMEMBERED, name_today
from tt_layout.tuples import NamedTuple


class Traits(NamedTuple):
    """Traits of an operation.

    Attributes:
        unary, binary, ternary: has one, two or three operands, in every release.
        elementwise: computes each element by itself: MLIR's and Triton's ``Elementwise``.
        cast: converts its operand to another element type.
        integer_cast: between widths of integers.
        signed_cast: an integer cast that keeps the signed value.
        integer_to_float, float_to_integer: casts between the two.
        shape: rearranges the elements of tensors in registers, and computes nothing.
        repeats: a shape operation whose layout follows from its operand's, element by element.
        renames: a shape operation whose result is in the registers of its operand.
        same_elements: gives the same tensor another layout or name.
        source: computed from no tensor: constants, ranges, ids.
        constant: MLIR's ``ConstantLike``.
        by_program: differs between the programs of a grid, or with their number.
        select: MLIR's ``SelectLikeOpInterface``.
        integer_sum, pointer_sum: adds two integers, or an offset to a pointer.
        quotient, remainder: divides integers, rounding down, or gives the remainder.
        float_instruction: one instruction for each float, except for contractions.
        special_function: at least one instruction of the special function unit for each float.
        long_function: a polynomial, a table, or unknown: a dozen instructions for each float.
        pure: has no effect on memory and may be recomputed: MLIR's ``Pure``.
        reads, writes: has such an effect on memory, or on waiting for it.
        atomic: changes memory atomically, and returns the old value.
        allocates: returns a new buffer of shared memory.
        memory_view: returns a part, or another shape, of a buffer in memory.
        chooses_buffer: a view of one of the buffers of a ring.
        shared_read, shared_write: each thread of a CTA accesses shared memory by itself.
        remote: writes to the shared memory of other CTAs.
        initializes_barrier: sets up a barrier in shared memory.
        bulk_stores: copies from shared memory in the background.
        bulk_waits: waits for such copies.
        synchronizes: all threads of a CTA wait for each other.
        waits: the threads of a CTA wait, for each other or for memory.
        streams: elements pass through it one by one.
        any_layout: an access or exchange that takes operands in any layout, at a cost.
        multiplies: multiplies matrices.
        combines: its region combines elements.
        forwards: returns its operands.
        loop: its regions run repeatedly.
        counted: a loop with bounds and a step.
        branch: one of its regions runs.
        conditional: a branch on a truth value, with a region for each value.
        once: its regions run once.
        partitions: its regions run on warps of their own.
        implied_terminator: a terminator without operands is not printed.
        terminator: ends a block.
        call: runs a function of the module.
    """

    unary: bool = False
    binary: bool = False
    ternary: bool = False
    elementwise: bool = False
    cast: bool = False
    integer_cast: bool = False
    signed_cast: bool = False
    integer_to_float: bool = False
    float_to_integer: bool = False
    shape: bool = False
    repeats: bool = False
    renames: bool = False
    same_elements: bool = False
    source: bool = False
    constant: bool = False
    by_program: bool = False
    select: bool = False
    integer_sum: bool = False
    pointer_sum: bool = False
    quotient: bool = False
    remainder: bool = False
    float_instruction: bool = False
    special_function: bool = False
    long_function: bool = False
    pure: bool = False
    reads: bool = False
    writes: bool = False
    atomic: bool = False
    allocates: bool = False
    memory_view: bool = False
    chooses_buffer: bool = False
    shared_read: bool = False
    shared_write: bool = False
    remote: bool = False
    initializes_barrier: bool = False
    bulk_stores: bool = False
    bulk_waits: bool = False
    synchronizes: bool = False
    waits: bool = False
    streams: bool = False
    any_layout: bool = False
    multiplies: bool = False
    combines: bool = False
    forwards: bool = False
    loop: bool = False
    counted: bool = False
    branch: bool = False
    conditional: bool = False
    once: bool = False
    partitions: bool = False
    implied_terminator: bool = False
    terminator: bool = False
    call: bool = False

    @property
    def arity(self) -> int | None:
        """The number of its operands; None if that varies."""
        if not (self.unary or self.binary or self.ternary):
            return None
        return 1 * self.unary + 2 * self.binary + 3 * self.ternary

    @property
    def is_structured(self) -> bool:
        """Whether control enters its regions and returns to it."""
        return self.loop or self.branch or self.once

    @property
    def is_global_load(self) -> bool:
        """Whether it loads a tensor, in any layout, from global memory."""
        return self.streams and self.any_layout and self.reads

    @property
    def is_global_store(self) -> bool:
        """Whether it stores a tensor, of any layout, to global memory."""
        return self.streams and self.any_layout and self.writes

    @property
    def by_thread(self) -> bool:
        """Whether each thread computes the result from its own elements of the operands."""
        return self.elementwise or self.shape or self.source


_ROWS = """
    arith.addf                                 binary elementwise float_instruction pure
    arith.addi                                 binary elementwise pure integer_sum
    arith.addui_extended                       binary elementwise pure
    arith.andi                                 binary elementwise pure
    arith.bitcast                              unary elementwise cast pure
    arith.ceildivsi                            binary elementwise pure
    arith.ceildivui                            binary elementwise pure
    arith.cmpf                                 binary elementwise pure
    arith.cmpi                                 binary elementwise pure
    arith.constant                             source constant pure
    arith.convertf                             unary elementwise cast pure
    arith.divf                                 binary elementwise special_function pure
    arith.divsi                                binary elementwise pure quotient
    arith.divui                                binary elementwise pure quotient
    arith.extf                                 unary elementwise cast pure
    arith.extsi                                unary elementwise cast integer_cast signed_cast pure
    arith.extui                                unary elementwise cast integer_cast pure
    arith.floordivsi                           binary elementwise pure quotient
    arith.flush_denormals                      unary elementwise pure
    arith.fptosi                               unary elementwise cast float_to_integer pure
    arith.fptoui                               unary elementwise cast float_to_integer pure
    arith.index_cast                           unary elementwise cast integer_cast signed_cast pure
    arith.index_castui                         unary elementwise cast integer_cast pure
    arith.maxf                                 binary elementwise pure
    arith.maximumf                             binary elementwise float_instruction pure
    arith.maxnumf                              binary elementwise float_instruction pure
    arith.maxsi                                binary elementwise pure
    arith.maxui                                binary elementwise pure
    arith.minf                                 binary elementwise pure
    arith.minimumf                             binary elementwise pure
    arith.minnumf                              binary elementwise pure
    arith.minsi                                binary elementwise pure
    arith.minui                                binary elementwise pure
    arith.mulf                                 binary elementwise float_instruction pure
    arith.muli                                 binary elementwise pure
    arith.mulsi_extended                       binary elementwise pure
    arith.mului_extended                       binary elementwise pure
    arith.negf                                 unary elementwise pure
    arith.ori                                  binary elementwise pure
    arith.remf                                 binary elementwise pure
    arith.remsi                                binary elementwise pure remainder
    arith.remui                                binary elementwise pure remainder
    arith.scaling_extf                         elementwise cast pure
    arith.scaling_truncf                       elementwise cast pure
    arith.select                               ternary elementwise select pure
    arith.shli                                 binary elementwise pure
    arith.shrsi                                binary elementwise pure
    arith.shrui                                binary elementwise pure
    arith.sitofp                               unary elementwise cast integer_to_float pure
    arith.subf                                 binary elementwise float_instruction pure
    arith.subi                                 binary elementwise pure
    arith.subui_extended                       binary elementwise pure
    arith.truncf                               unary elementwise cast pure
    arith.trunci                               unary elementwise cast integer_cast pure
    arith.uitofp                               unary elementwise cast integer_to_float pure
    arith.xori                                 binary elementwise pure
    math.absf                                  unary elementwise pure
    math.absi                                  unary elementwise pure
    math.acos                                  unary elementwise long_function pure
    math.acosh                                 unary elementwise pure
    math.asin                                  unary elementwise long_function pure
    math.asinh                                 unary elementwise pure
    math.atan                                  unary elementwise long_function pure
    math.atan2                                 binary elementwise long_function pure
    math.atanh                                 unary elementwise pure
    math.cbrt                                  unary elementwise pure
    math.ceil                                  unary elementwise pure
    math.clampf                                ternary elementwise pure
    math.copysign                              binary elementwise pure
    math.cos                                   unary elementwise special_function long_function pure
    math.cosh                                  unary elementwise pure
    math.ctlz                                  unary elementwise pure
    math.ctpop                                 unary elementwise pure
    math.cttz                                  unary elementwise pure
    math.erf                                   unary elementwise long_function pure
    math.erfc                                  unary elementwise long_function pure
    math.exp                                   unary elementwise special_function pure
    math.exp2                                  unary elementwise special_function pure
    math.expm1                                 unary elementwise long_function pure
    math.floor                                 unary elementwise pure
    math.fma                                   ternary elementwise float_instruction pure
    math.fpowi                                 binary elementwise pure
    math.ipowi                                 binary elementwise pure
    math.isfinite                              unary elementwise pure
    math.isinf                                 unary elementwise pure
    math.isnan                                 unary elementwise pure
    math.isnormal                              unary elementwise pure
    math.log                                   unary elementwise special_function long_function pure
    math.log10                                 unary elementwise long_function pure
    math.log1p                                 unary elementwise long_function pure
    math.log2                                  unary elementwise special_function long_function pure
    math.powf                                  binary elementwise long_function pure
    math.round                                 unary elementwise pure
    math.roundeven                             unary elementwise pure
    math.rsqrt                                 unary elementwise special_function pure
    math.sin                                   unary elementwise special_function long_function pure
    math.sincos                                unary elementwise pure
    math.sinh                                  unary elementwise pure
    math.sqrt                                  unary elementwise special_function pure
    math.tan                                   unary elementwise long_function pure
    math.tanh                                  unary elementwise special_function long_function pure
    math.trunc                                 unary elementwise pure
    scf.condition                              pure terminator
    scf.execute_region                         once
    scf.for                                    loop counted implied_terminator
    scf.forall                                 loop
    scf.forall.in_parallel                     terminator
    scf.if                                     branch conditional implied_terminator
    scf.index_switch                           branch
    scf.parallel                               loop
    scf.reduce                                 terminator
    scf.reduce.return                          pure terminator
    scf.while                                  loop
    scf.yield                                  pure terminator streams
    cf.assert                                  writes
    cf.br                                      pure terminator
    cf.cond_br                                 pure terminator
    cf.switch                                  pure terminator
    ub.poison                                  source constant pure
    ub.unreachable                             terminator
    builtin.module
    builtin.unrealized_conversion_cast         cast same_elements pure
    func.call                                  reads writes call
    func.func
    func.return                                terminator
    llvm.call_intrinsic                        reads writes
    llvm.fence                                 reads writes waits
    llvm.func
    llvm.inline_asm                            reads writes
    llvm.mlir.constant                         source constant pure
    llvm.mlir.poison                           source constant pure
    llvm.mlir.undef                            source constant pure
    llvm.mlir.zero                             source constant pure
    llvm.return                                terminator
    llvm.unreachable                           terminator
    gpu.all_reduce                             pure
    gpu.ballot                                 pure
    gpu.barrier                                reads writes waits synchronizes
    gpu.block_dim                              source pure
    gpu.block_id                               source pure
    gpu.cluster_block_id                       source pure
    gpu.cluster_dim                            source pure
    gpu.cluster_dim_blocks                     source pure
    gpu.cluster_id                             source pure
    gpu.func
    gpu.global_id                              source pure
    gpu.grid_dim                               source pure
    gpu.lane_id                                source pure
    gpu.module
    gpu.printf                                 writes
    gpu.return                                 terminator
    gpu.shuffle                                pure
    gpu.subgroup_id                            source pure
    gpu.subgroup_reduce                        pure
    gpu.subgroup_size                          source pure
    gpu.terminator                             terminator
    gpu.thread_id                              source pure
    gpu.yield                                  terminator
    nvvm.bar.warp.sync                         reads writes waits
    nvvm.barrier                               reads writes waits
    nvvm.barrier.arrive                        reads writes waits
    nvvm.barrier0                              reads writes waits
    nvvm.cluster.arrive                        reads writes waits
    nvvm.cluster.arrive.relaxed                reads writes waits
    nvvm.cluster.wait                          reads writes waits
    nvvm.cp.async.bulk.commit.group            reads writes
    nvvm.cp.async.bulk.wait_group              reads writes waits
    nvvm.cp.async.commit.group                 reads writes
    nvvm.cp.async.shared.global                reads writes
    nvvm.cp.async.wait.group                   reads writes waits
    nvvm.elect.sync                            pure
    nvvm.fence.mbarrier.init                   reads writes
    nvvm.fence.proxy                           reads writes
    nvvm.griddepcontrol                        reads writes
    nvvm.griddepcontrol.launch.dependents      reads writes
    nvvm.griddepcontrol.wait                   reads writes
    nvvm.ldmatrix                              reads
    nvvm.match.sync                            pure
    nvvm.mbarrier.arrive                       reads writes
    nvvm.mbarrier.init                         reads writes
    nvvm.mbarrier.init.shared                  reads writes
    nvvm.mbarrier.try_wait.parity              reads writes waits
    nvvm.mbarrier.try_wait.parity.shared       reads writes waits
    nvvm.mma.sync                              reads writes
    nvvm.read.ptx.sreg.cluster.ctaid.x         source pure
    nvvm.read.ptx.sreg.clusterid.x             source pure
    nvvm.read.ptx.sreg.ctaid.x                 source pure
    nvvm.read.ptx.sreg.ctaid.y                 source pure
    nvvm.read.ptx.sreg.ctaid.z                 source pure
    nvvm.read.ptx.sreg.laneid                  source pure
    nvvm.read.ptx.sreg.nctaid.x                source pure
    nvvm.read.ptx.sreg.ntid.x                  source pure
    nvvm.read.ptx.sreg.tid.x                   source pure
    nvvm.read.ptx.sreg.warpid                  source pure
    nvvm.redux.sync                            pure
    nvvm.setmaxregister                        reads writes
    nvvm.shfl.sync                             pure
    nvvm.stmatrix                              writes
    nvvm.vote.ballot.sync                      pure
    nvvm.vote.sync                             pure
    nvvm.wgmma.commit.group.sync.aligned       reads writes
    nvvm.wgmma.fence.aligned                   reads writes
    nvvm.wgmma.mma_async                       reads writes
    nvvm.wgmma.wait.group.sync.aligned         reads writes
    rocdl.ballot                               pure
    rocdl.barrier                              reads writes waits
    rocdl.ds.read.tr16.b64                     reads writes
    rocdl.ds_bpermute                          pure
    rocdl.ds_swizzle                           pure
    rocdl.grid.dim.x                           source pure
    rocdl.iglp.opt                             reads writes
    rocdl.make.buffer.rsrc                     reads writes
    rocdl.mbcnt.hi                             source pure
    rocdl.mbcnt.lo                             source pure
    rocdl.raw.ptr.buffer.load                  reads writes
    rocdl.raw.ptr.buffer.store                 reads writes
    rocdl.readfirstlane                        pure
    rocdl.readlane                             pure
    rocdl.s.barrier                            reads writes waits
    rocdl.s.barrier.signal                     reads writes waits
    rocdl.s.barrier.wait                       reads writes waits
    rocdl.s.setprio                            reads writes
    rocdl.s.sleep                              reads writes
    rocdl.s.wait.asynccnt                      reads writes waits
    rocdl.s.wait.dscnt                         reads writes waits
    rocdl.s.wait.tensorcnt                     reads writes waits
    rocdl.s.waitcnt                            reads writes waits
    rocdl.sched.barrier                        reads writes
    rocdl.sched.group.barrier                  reads writes
    rocdl.update.dpp                           pure
    rocdl.wave.id                              source pure
    rocdl.workgroup.id.x                       source pure
    rocdl.workgroup.id.y                       source pure
    rocdl.workgroup.id.z                       source pure
    rocdl.workitem.id.x                        source pure
    rocdl.workitem.id.y                        source pure
    rocdl.workitem.id.z                        source pure
    gluon.set_auto_layout                      same_elements pure
    tt.addptr                                  binary elementwise pure pointer_sum
    tt.advance                                 pure
    tt.approx_divf                             binary elementwise pure
    tt.assert                                  writes
    tt.atomic_cas                              reads writes atomic
    tt.atomic_load                             reads writes
    tt.atomic_poll                             reads writes
    tt.atomic_rmw                              reads writes any_layout atomic
    tt.atomic_store                            reads writes
    tt.bitcast                                 unary elementwise cast pure
    tt.broadcast                               unary shape repeats renames pure
    tt.call                                    reads writes call
    tt.cat                                     binary shape pure
    tt.clampf                                  ternary elementwise pure
    tt.descriptor_gather                       reads
    tt.descriptor_load                         reads
    tt.descriptor_reduce                       reads writes
    tt.descriptor_scatter                      writes
    tt.descriptor_store                        writes
    tt.dot                                     pure multiplies
    tt.dot_scaled                              pure
    tt.elementwise_inline_asm                  elementwise
    tt.expand_dims                             unary shape repeats renames pure
    tt.experimental_descriptor_load            reads
    tt.experimental_descriptor_store           writes
    tt.extern_elementwise                      elementwise long_function
    tt.fp_to_fp                                unary elementwise cast pure
    tt.func
    tt.gather                                  pure
    tt.get_num_programs                        source by_program pure
    tt.get_program_id                          source by_program pure
    tt.grid_dependency_launch_dependents       reads writes
    tt.grid_dependency_wait                    reads writes waits
    tt.histogram                               pure
    tt.int_to_ptr                              unary elementwise cast pure
    tt.join                                    binary shape pure
    tt.load                                    reads streams any_layout
    tt.make_range                              source pure
    tt.make_tensor_descriptor                  pure
    tt.make_tensor_ptr                         pure
    tt.map_elementwise                         combines
    tt.map_elementwise.return                  pure terminator
    tt.mulhiui                                 binary elementwise pure
    tt.precise_divf                            binary elementwise pure
    tt.precise_sqrt                            unary elementwise pure
    tt.print                                   writes
    tt.ptr_to_int                              unary elementwise cast pure
    tt.reduce                                  pure any_layout combines
    tt.reduce.return                           pure terminator
    tt.reshape                                 unary shape renames pure
    tt.return                                  terminator
    tt.scan                                    pure any_layout combines
    tt.scan.return                             pure terminator
    tt.splat                                   unary shape repeats pure
    tt.split                                   unary shape pure
    tt.store                                   writes streams any_layout
    tt.trans                                   unary shape renames pure
    tt.unsplat                                 unary shape pure
    tt.view                                    unary shape pure
    ttg.alloc_tensor                           writes
    ttg.async_commit_group                     writes streams
    ttg.async_copy_global_to_local             reads writes shared_write
    ttg.async_remote_shmem_copy                reads writes remote
    ttg.async_remote_shmem_store               reads writes remote
    ttg.async_wait                             reads writes waits synchronizes
    ttg.barrier                                reads writes waits synchronizes
    ttg.clock64                                reads writes
    ttg.convert_layout                         unary same_elements pure
    ttg.extract_slice                          pure
    ttg.fp4_to_fp                              pure
    ttg.global_scratch_alloc                   reads writes
    ttg.inline_asm                             reads writes
    ttg.insert_slice                           reads writes
    ttg.insert_slice_async                     reads writes
    ttg.insert_slice_async_v2                  reads writes
    ttg.local_alloc                            writes allocates shared_write any_layout
    ttg.local_atomic_scatter_rmw               reads writes
    ttg.local_dealloc                          writes
    ttg.local_gather                           reads
    ttg.local_load                             reads shared_read any_layout
    ttg.local_scatter                          writes
    ttg.local_store                            writes shared_write any_layout
    ttg.mask
    ttg.mask.return                            pure terminator
    ttg.memdesc_dynamic_subslice               pure memory_view streams
    ttg.memdesc_index                          pure memory_view chooses_buffer streams
    ttg.memdesc_reinterpret                    pure memory_view streams
    ttg.memdesc_reshape                        pure memory_view streams
    ttg.memdesc_subslice                       pure memory_view streams
    ttg.memdesc_subview                        pure memory_view chooses_buffer streams
    ttg.memdesc_trans                          pure memory_view streams
    ttg.predicate_stage                        pure
    ttg.remote_shmem_store                     reads writes remote
    ttg.warp_id                                pure
    ttg.warp_return                            terminator
    ttg.warp_specialize                        once partitions
    ttg.warp_specialize.partitions             once terminator
    ttg.warp_yield                             pure terminator
    ttng.arrive_barrier                        reads writes
    ttng.arrive_barrier_named                  reads writes
    ttng.async_clc_try_cancel                  reads writes
    ttng.async_copy_mbarrier_arrive            reads writes
    ttng.async_shared_store                    reads writes
    ttng.async_store                           reads writes
    ttng.async_tma_copy_global_to_local        reads writes
    ttng.async_tma_copy_local_to_global        reads writes bulk_stores
    ttng.async_tma_gather                      reads writes
    ttng.async_tma_prefetch                    reads writes
    ttng.async_tma_reduce                      reads writes
    ttng.async_tma_scatter                     reads writes
    ttng.async_tma_store_token_wait            reads writes bulk_waits waits
    ttng.async_tma_store_wait                  reads writes waits
    ttng.barrier_expect                        reads writes
    ttng.clc_advance                           reads writes
    ttng.clc_get_program_id                    pure
    ttng.clc_is_canceled                       pure
    ttng.clc_load_result                       reads writes
    ttng.clc_query_cancel                      reads writes
    ttng.clc_read                              reads writes
    ttng.clc_try_cancel                        reads writes
    ttng.clc_try_cancel_async                  reads writes
    ttng.clc_try_cancel_sync                   reads writes
    ttng.cluster_arrive                        reads writes
    ttng.cluster_barrier                       reads writes waits
    ttng.cluster_size_1d                       pure
    ttng.cluster_wait                          reads writes waits
    ttng.fence                                 reads writes
    ttng.fence_async_shared                    reads writes
    ttng.fence_mbarrier_init_release_cluster   reads writes
    ttng.init_barrier                          reads writes initializes_barrier
    ttng.insert_slice_async_v2                 reads writes
    ttng.insert_slice_tma                      reads writes
    ttng.inval_barrier                         reads writes
    ttng.map_to_remote_buffer                  pure memory_view
    ttng.packed_arith                          elementwise pure
    ttng.prefetch                              reads writes
    ttng.prefetch_tensormap                    reads writes
    ttng.reinterpret_tensor_descriptor         pure
    ttng.store_async                           reads writes
    ttng.subtiled_region
    ttng.subtiled_region_yield                 pure terminator
    ttng.tc_gen5_commit                        reads writes
    ttng.tc_gen5_mma                           reads writes
    ttng.tc_gen5_mma_scaled                    reads writes
    ttng.tcgen5_global_alloc                   reads writes
    ttng.tensormap_create                      reads writes
    ttng.tensormap_fenceproxy_acquire          reads writes
    ttng.tma_store_token_wait                  reads writes bulk_waits waits
    ttng.tmem_alloc                            writes
    ttng.tmem_copy                             reads writes
    ttng.tmem_load                             reads
    ttng.tmem_store                            reads writes
    ttng.tmem_subslice                         pure memory_view
    ttng.tmem_wait                             reads writes waits
    ttng.two_cta_peer_gather                   reads writes
    ttng.vote_ballot_sync                      pure
    ttng.wait_barrier                          reads writes waits
    ttng.wait_barrier_named                    reads writes waits
    ttng.warp_group_dot                        reads multiplies
    ttng.warp_group_dot_wait                   pure forwards
    amdg.arrive_barrier                        reads writes
    amdg.assume_uniform                        pure
    amdg.async_copy_local_to_global            reads writes
    amdg.async_copy_mbarrier_arrive            reads writes
    amdg.async_tdm_copy_global_to_local        reads writes
    amdg.async_tdm_copy_local_to_global        reads writes
    amdg.async_tdm_fused_copy_global_to_local  reads writes
    amdg.async_tdm_gather                      reads writes
    amdg.async_tdm_intrinsic_wait              reads writes waits
    amdg.async_tdm_scatter                     reads writes
    amdg.async_tdm_wait                        reads writes waits
    amdg.async_wait                            reads writes waits
    amdg.buffer_atomic_cas                     reads writes
    amdg.buffer_atomic_rmw                     reads writes
    amdg.buffer_load                           reads streams any_layout
    amdg.buffer_load_to_local                  reads writes streams
    amdg.buffer_store                          writes streams any_layout
    amdg.cluster_barrier_arrive                reads writes
    amdg.cluster_barrier_wait                  reads writes waits
    amdg.concat                                pure
    amdg.cond_barrier                          reads writes waits
    amdg.extract_slice                         pure
    amdg.in_thread_transpose                   pure
    amdg.init_barrier                          reads writes initializes_barrier
    amdg.local_load_packed_tranposed           reads
    amdg.local_load_packed_transposed          reads
    amdg.masked_load                           reads
    amdg.masked_store                          writes
    amdg.memory_counter_wait                   reads writes waits
    amdg.mfma_commit                           reads writes
    amdg.read_barrier_phase                    reads writes
    amdg.register_handoff                      reads writes
    amdg.register_resident                     reads writes
    amdg.rematerialized_range                  source pure
    amdg.scaled_downcast_fp4                   pure
    amdg.scaled_downcast_fp8                   pure
    amdg.scaled_upcast_fp4                     pure
    amdg.scaled_upcast_fp8                     pure
    amdg.scheduled_mfma                        pure
    amdg.tdm_prefetch                          reads writes
    amdg.update_tensor_descriptor              pure
    amdg.wait_barrier                          reads writes waits
    ttig.2d_block_load                         reads
    ttig.2d_block_load_from_ptr                reads
    ttig.alloc                                 writes
    ttig.broadcast                             shape pure
    ttig.descriptor_gather                     reads
    ttig.descriptor_prefetch                   reads writes
    ttig.descriptor_scatter                    reads writes
    ttig.extract_desc                          pure
    ttig.prefetch                              reads writes
    ttig.sub_group_transpose                   reads writes
"""

_BY_DEFAULT = {"arith": "elementwise pure", "math": "elementwise pure"}
"""Dialect -> the traits of operations without a row: all of these dialects but constants."""

NO_TRAITS = Traits()


def _traits(words: str) -> Traits:
    return Traits(**dict.fromkeys(words.split(), True))


def _rows() -> dict[str, Traits]:
    rows: dict[str, Traits] = {}
    for line in _ROWS.split("\n"):
        name, _, words = line.strip().partition(" ")
        if name:
            rows[name] = _traits(words)
    return rows


TRAITS: Mapping[str, Traits] = _rows()
"""Operation, by its name today -> its traits."""

_KNOWN: dict[str, Traits] = dict(TRAITS)


def is_known(name: str) -> bool:
    """Tell whether an operation has a row, or its dialect has one for all operations.

    Example:
        >>> is_known("arith.addi"), is_known("triton_gpu.local_load"), is_known("my.op")
        (True, True, False)
    """
    return name_today(name) in TRAITS or name.partition(".")[0] in _BY_DEFAULT


def traits_of(name: str) -> Traits:
    """Return the traits of an operation; no traits if it has no row.

    Args:
        name: its name with the dialect, as of any release.

    Example:
        >>> traits_of("arith.addi").elementwise, traits_of("triton_gpu.local_load").reads
        (True, True)
        >>> traits_of("my.op") == NO_TRAITS
        True
    """
    traits = _KNOWN.get(name)
    if traits is None:
        dialect = name.partition(".")[0]
        traits = TRAITS.get(name_today(name)) or _traits(_BY_DEFAULT.get(dialect, ""))
        if len(_KNOWN) < MAX_REMEMBERED:
            _KNOWN[name] = traits
    return traits
