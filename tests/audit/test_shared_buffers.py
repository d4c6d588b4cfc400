"""Buffers of a kernel in shared memory: where they are placed, and how long they are live."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from command import Run, runner
from small_modules import PLAIN, TILE, module_of, shared_cost_of
from work import calls_of

from tt_layout import parse_ir, parse_layout
from tt_layout.analyses.shared_memory.access import AccessMap, choose_instruction
from tt_layout.analyses.shared_memory.addresses import first_instruction
from tt_layout.analyses.shared_memory.buffer_placement import Buffer, place_buffers
from tt_layout.audit.allocation.module_memory import module_memory
from tt_layout.audit.allocation.shared_memory import Allocation, AllocationKind, SharedMemory
from tt_layout.audit.audit import audit_module
from tt_layout.audit.fits import peak_allocations
from tt_layout.audit.measured.comparison import local_accesses
from tt_layout.audit.modules.audited_module import AuditedModule, SharedWork
from tt_layout.audit.operations.details import SharedDetails
from tt_layout.figures.drawing import draw
from tt_layout.figures.drawn import DrawnLayout
from tt_layout.hardware import find_target
from tt_layout.mlir.types import parse_type
from tt_layout.placement import place
from tt_layout.views.selection import EVERYTHING


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capfdbinary, monkeypatch)


def test_the_first_instruction_of_a_part_begins_where_the_part_does() -> None:
    """Lanes a word apart, a word of padding after each 8, in a part that begins at byte 72."""
    gpu = find_target("sm90")
    offsets = AccessMap((), (1, 2, 4, 8, 16), (), 4, padding=((8, 1),), start=72)
    instruction = choose_instruction(offsets, is_store=False, target=gpu)
    lanes, words = first_instruction(offsets, instruction, gpu.phase(4, is_store=False), gpu)
    expected = [lane + lane // 8 + 72 // 4 for lane in range(32)]
    assert dict(zip(lanes[0].tolist(), words[0, :, 0].tolist())) == dict(enumerate(expected))


CAPTURED = """
#s = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#smem = #ttg.shared_memory
#l = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"}} {{
  tt.func @f(%p: !tt.ptr<f32>, %n: i32) {{
    %b = ttg.local_alloc : () -> {buffer}
    ttg.warp_specialize(%p, %n)
    default {{
      ttg.warp_yield
    }}
    partition0(%r: !tt.ptr<f32>, %m: i32) num_warps(4) {{
      ttg.warp_return
    }} : (!tt.ptr<f32>, i32) -> ()
    %v = ttg.local_load %b : {buffer} -> tensor<{size}xi8, #l>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize("size", [16, 32, 64])
def test_captures_of_partitions_lie_at_multiples_of_8_bytes(size: int) -> None:
    """A pointer and a number, behind a buffer, and a byte for each warp behind them."""
    buffer = f"!ttg.memdesc<{size}xi8, #s, #smem, mutable>"
    [module] = parse_ir(CAPTURED.format(buffer=buffer, size=size))
    [memory] = audit_module(module).shared_memory
    placed = {one.kind.value: (one.offset, one.bytes) for one in memory.allocations}
    assert placed == {"buffer": (0, size), "scratch": (size, 12), "warps": (size + 12, 4)}


@pytest.mark.parametrize(
    ("buffers", "offsets"),
    [
        # the free time of all memory begins with the first operation
        ([Buffer(64, 16, (0, 3)), Buffer(128, 16, (2, 4)), Buffer(128, 16, (0, 1))], [128, 0, 0]),
        # the second stands behind the first, and the third where nothing is as yet
        ([Buffer(64, 16, (0, 6)), Buffer(128, 16, (5, 6)), Buffer(64, 16, (0, 1))], [128, 0, 0]),
        # only one of them is in a region that runs beside others
        ([Buffer(64, 16, (0, 1)), Buffer(64, 16, (2, 3), concurrent=(1, 0))], [0, 0]),
    ],
)
def test_buffers_at_different_times_share_memory(buffers: list[Buffer], offsets: list[int]) -> None:
    assert place_buffers(tuple(buffers)) == tuple(offsets)


@pytest.mark.parametrize("first", [128, 1024, 1152])
def test_pieces_of_a_tensor_lie_in_partitions_of_their_own(first: int) -> None:
    """Whatever lies before them: the second begins with the partition behind that of the first."""
    pieces_of_one = (Buffer(64, 16, (0, 9), tensor=1) for _ in range(2))
    buffers = Buffer(first, 16, (0, 9)), *pieces_of_one
    before, *pieces = place_buffers(buffers, 1024)
    assert (before, pieces) == (0, [first, (first // 1024 + 1) * 1024])


def alloc(name: str) -> str:
    return f"    {name} = ttg.local_alloc : () -> {TILE}\n"


def load(name: str, of: str) -> str:
    return f"    {name} = ttg.local_load {of} : {TILE} -> tensor<32x64xf32, #rows>\n"


def offsets_of(body: str) -> dict[str | None, int]:
    [memory] = audit_module(module_of(body)).shared_memory
    return {each.value: each.offset for each in memory.allocations if each.offset is not None}


LOOP = """    %c0 = arith.constant 0 : i32
{before}    cf.br ^loop(%c0 : i32)
  ^loop(%i: i32):
{within}    %t = arith.cmpi slt, %i, %x : i32
    cf.cond_br %t, ^loop(%i : i32), ^end
  ^end:"""


def test_a_buffer_made_in_a_block_that_branches_to_itself_ends_with_its_last_use() -> None:
    within = alloc("%a") + load("%v", "%a") + alloc("%b") + load("%w", "%b")
    assert offsets_of(LOOP.format(before="", within=within)) == {"%a": 0, "%b": 0}


def test_a_buffer_made_before_a_block_that_branches_to_itself_is_live_throughout() -> None:
    within = load("%v", "%a") + alloc("%b") + load("%w", "%b")
    found = offsets_of(LOOP.format(before=alloc("%a"), within=within))
    assert found == {"%a": 0, "%b": 32 * 64 * 4}


def test_a_buffer_is_not_live_in_a_block_from_which_its_uses_are_not_reached() -> None:
    body = (
        "    %t = arith.cmpi slt, %x, %x : i32\n"
        f"{alloc('%a')}    cf.cond_br %t, ^used, ^other\n"
        f"  ^used:\n{load('%v', '%a')}    cf.br ^end\n"
        f"  ^other:\n{alloc('%b')}{load('%w', '%b')}    cf.br ^end\n  ^end:"
    )
    assert offsets_of(body) == {"%a": 0, "%b": 0}


def test_what_is_copied_in_the_background_is_live_until_that_is_waited_for() -> None:
    body = (
        f"{alloc('%a')}    %t = ttng.async_tma_copy_local_to_global %d[%x, %x] %a : "
        f"!tt.tensordesc<tensor<32x64xf32>>, {TILE} -> !ttg.async.token\n"
        f"{alloc('%b')}    ttng.async_tma_store_token_wait %t : !ttg.async.token\n{alloc('%c')}"
    )
    assert offsets_of(body) == {"%a": 0, "%b": 32 * 64 * 4, "%c": 0}


def test_a_module_that_states_no_size_is_not_of_a_fork() -> None:
    """In which a barrier is kept to the end."""
    bar = PLAIN.replace("[1, 0]", "[0]")
    barrier = f"!ttg.memdesc<1xi64, {bar}, #ttg.shared_memory, mutable>"
    body = (
        f"    %a = ttg.local_alloc : () -> {barrier}\n    ttng.init_barrier %a, 1 : {barrier}\n"
        f"{alloc('%b')}{load('%v', '%b')}"
    )
    assert offsets_of(body) == {"%a": 0, "%b": 0}


def test_what_depends_on_a_buffer_in_many_ways_is_followed_once() -> None:
    def calls(levels: int) -> int:
        ways = "".join(
            f'    %l{n} = "my.left"(%m{n}) : (i32) -> i32\n'
            f'    %r{n} = "my.right"(%m{n}) : (i32) -> i32\n'
            f'    %m{n + 1} = "my.both"(%l{n}, %r{n}) : (i32, i32) -> i32\n'
            for n in range(levels)
        )
        body = f'{alloc("%a")}    %m0 = "my.first"(%a) : ({TILE}) -> i32\n{ways}'
        store = f"    ttg.remote_shmem_store %v, %a : tensor<32x64xf32, #rows> -> {TILE}\n"
        module = module_of(body + load("%v", "%a") + store)
        return calls_of(lambda: audit_module(module).shared_memory)

    assert calls(14) < 3 * calls(7)


SWIZZLED = "#ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = {}, order = [1, 0]}}>"


def test_only_the_kernel_may_take_what_the_module_states() -> None:
    head = '"ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", ttg.shared = 8192 : i32'
    functions = (
        f"  tt.func @kernel() {{\n    tt.call @helper() : () -> ()\n"
        f"{alloc('%a')}    tt.return\n  }}\n"
        "  tt.func private @helper() {\n    tt.return\n  }\n"
    )
    [module] = parse_ir(f"module attributes {{{head}}} {{\n{functions}}}")
    found = {memory.function: memory.stated for memory in audit_module(module).shared_memory}
    assert found["kernel"] == 8192
    assert found.get("helper") is None


def test_allocations_of_the_peak_are_live_with_the_last_byte() -> None:
    def allocation(offset: int, live: tuple[int, int]) -> Allocation:
        return Allocation(AllocationKind.BUFFER, None, "%a", 1, 64, 16, live, 1, 1, offset)

    first, second, third = (
        allocation(offset, live) for offset, live in ((0, (0, 2)), (64, (3, 5)), (0, (4, 6)))
    )
    memory = SharedMemory("f", (first, second, third), 128, False, 1)
    assert peak_allocations(memory) == (second, third)


def test_all_warps_count_the_wavefronts_of_an_access() -> None:
    details = shared_cost_of(4).details
    assert isinstance(details, SharedDetails)
    details = replace(details, instructions=2, wavefronts_per_instruction=3)
    [found] = local_accesses("load", details, 4) or []
    assert (found.instructions, found.wavefronts) == (8, 24)


def test_partitions_of_a_buffer_are_named() -> None:
    piece = SWIZZLED.format(1)
    text = "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 1, "
    placed = place(
        parse_layout(f"{text}partitionLayout = {piece}}}>"), parse_type("!ttg.memdesc<4x8xf32>")
    )
    figure = draw(DrawnLayout(placed, EVERYTHING), view="banks")
    assert [grid.title for grid in figure.grids] == ["partition 0", "partition 1"]


CALLING = (
    'module attributes {"ttg.num-warps" = 8 : i32, ttg.target = "cuda:90"} {\n'
    "  tt.func @kernel() {\n    tt.call @helper() : () -> ()\n    tt.return\n  }\n"
    f"  tt.func private @helper() {{\n{alloc('%a')}    tt.return\n  }}\n}}"
)
"""A kernel that calls a function which stands behind it, as the compiler prints them."""


def test_the_shared_memory_of_what_is_called_is_its_callers(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.ttgir"
    path.write_text(CALLING)
    assert (
        run("audit", str(path), "--all").out.count("8192 bytes, which its callers set aside") == 1
    )


def test_a_function_behind_its_caller_takes_the_callers_shared_memory() -> None:
    [module] = parse_ir(CALLING)
    memories = module_memory(AuditedModule(module, SharedWork()))
    assert [(one.function, one.bytes) for one in memories] == [("kernel", 8192), ("helper", 8192)]


def test_when_buffers_are_live_is_found_once_for_functions_that_differ_in_names() -> None:
    path = Path(__file__).parents[2] / "examples" / "kernels" / "attention-sm90.ttgir"
    shared, text = SharedWork(), path.read_text()
    [first] = parse_ir(text)
    [second] = parse_ir("\n" + re.sub(r"%([\w-]+)", r"%other_\g<1>", text))
    known, audited = AuditedModule(first, shared), AuditedModule(second, shared)
    alone = [replace(function, alike=None) for function in audited.functions]
    found = module_memory(known), module_memory(audited)
    assert found[1] == module_memory(audited, alone)
    assert [x.live for x in found[0][0].allocations] == [x.live for x in found[1][0].allocations]
    assert found[0][0].allocations[0].first_line + 1 == found[1][0].allocations[0].first_line
    again, anew = (lambda: module_memory(audited)), (lambda: module_memory(audited, alone))
    assert calls_of(again) < 0.8 * calls_of(anew)
