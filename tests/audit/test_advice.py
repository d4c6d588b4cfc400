"""What is advised against narrow accesses is true of the program, and has an effect.

Each case is an expression of offsets or of a mask; `test_hints` draws such at random.
"""

from __future__ import annotations

import re

import pytest

from tt_layout import parse_ir
from tt_layout.audit.audit import audit_module
from tt_layout.audit.kernel import kernels_of
from tt_layout.audit.values.given import GivenValues

INTS = "tensor<1024xi32, #l>"
FLOATS = "tensor<1024xf32, #l>"
BITS = "tensor<1024xi1, #l>"
POINTERS = "tensor<1024x!tt.ptr<f16>, #l>"


def module(
    lines: str,
    access: str = "%x = tt.load %p : {pointers}",
    *,
    layout: str = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], "
    "warpsPerCTA = [4], order = [0]}>",
    stride: str = "",
) -> str:
    """Return a kernel whose offsets are ``%o``, and its mask ``%m`` where the access has one.

    Its values are ``%r`` (a range), ``%b`` (the number of the program times 1024), ``%n`` (an
    argument) and ``%s`` (another, with ``stride`` as attributes).
    """
    text = lines.replace("INTS", INTS).replace("FLOATS", FLOATS).replace("BITS", BITS)
    used = access.format(pointers=POINTERS)
    return f"""
#l = {layout}
module attributes {{"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"}} {{
tt.func @f(%x0: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %n: i32, %s: i32 {stride},
           %i: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}) {{
  %pid = tt.get_program_id x : i32
  %k = arith.constant 1024 : i32
  %b = arith.muli %pid, %k : i32
  %r = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : {INTS}
  %bs = tt.splat %b : i32 -> {INTS}
  %ns = tt.splat %n : i32 -> {INTS}
  %ss = tt.splat %s : i32 -> {INTS}
  %q = arith.addi %bs, %r : {INTS}
  {text}
  %xs = tt.splat %x0 : !tt.ptr<f16> -> {POINTERS}
  %p = tt.addptr %xs, %o : {POINTERS}, {INTS}
  {used}
  tt.return
}}
}}
"""


def constant(name: str, number: int) -> str:
    return f"{name} = arith.constant dense<{number}> : INTS\n"


def advised(text: str, **values: int) -> str:
    """Return the advice on the access of a kernel."""
    [one] = parse_ir(text)
    given = GivenValues(values) if values else None
    limits = [
        row.cost.details.data(1)["limited_by"]
        for row in audit_module(one, given=given).movements
        if row.cost is not None and row.cost.details.data(1).get("limited_by")
    ]
    return str(limits[-1]["advice"])


HELD = "#ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
HINT = "tl.max_contiguous"
CONSTANT = "tl.max_constancy"


@pytest.mark.parametrize(
    ("lines", "says", "never"),
    [
        (constant("%c", 128) + "%o = arith.divsi %q, %c : INTS",
         "groups of 128 neighbours have one address each: load them once", HINT),
        (constant("%c", 128) + "%d = arith.divsi %r, %c : INTS\n%o = arith.addi %d, %bs : INTS",
         "groups of 128 neighbours have one address each", HINT),
        (constant("%c", 1) + "%o = arith.xori %q, %c : INTS",
         "^ leaves neighbours apart: none, because no hint is true of them", HINT),
        (constant("%c", 32) + "%o = arith.xori %q, %c : INTS",
         "8 neighbours are contiguous: add tl.max_contiguous(tl.multiple_of(offsets, 8), 8) "
         "(then 16 bytes per instruction)", "only if"),
        (constant("%c", 16) + "%o = arith.muli %q, %c : INTS",
         "neighbours are 16 elements apart", HINT),
        (constant("%c", 63) + "%o = arith.andi %q, %c : INTS",
         "8 neighbours are contiguous: add tl.max_contiguous(tl.multiple_of(offsets, 8), 8)",
         "only if"),
        ('%o = "tt.scan"(%r) <{axis = 0 : i32, reverse = false}> ({\n'
         "^bb0(%u: i32, %v: i32):\n%w = arith.addi %u, %v : i32\ntt.scan.return %w : i32\n"
         "}) : (INTS) -> INTS", "on the data (tt.scan): none, because no hint is true", HINT),
        ("%f = arith.sitofp %q : INTS to FLOATS\n%h = arith.mulf %f, %f : FLOATS\n"
         "%o = arith.fptosi %h : FLOATS to INTS",
         "the offsets are computed from floats (arith.fptosi): none, because no hint", "data"),
        ("%fs = tt.splat %i : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #l>\n"
         "%fp = tt.addptr %fs, %r : tensor<1024x!tt.ptr<i32>, #l>, INTS\n"
         "%f = tt.load %fp : tensor<1024x!tt.ptr<i32>, #l>\n"
         "%h = arith.sitofp %f : INTS to FLOATS\n%o = arith.fptosi %h : FLOATS to INTS",
         "the offsets depend on the data (arith.fptosi)", HINT),
        ("%is = tt.splat %i : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #l>\n"
         "%ip = tt.addptr %is, %r : tensor<1024x!tt.ptr<i32>, #l>, INTS\n"
         "%o = tt.load %ip : tensor<1024x!tt.ptr<i32>, #l>",
         "the offsets are loaded, and depend on the data: only if 8 neighbours are contiguous, the "
         "first a multiple of 8 always, add tl.max_contiguous", "tl.max_constancy"),
        (constant("%c", -8) + "%d = arith.andi %r, %c : INTS\n%o = arith.addi %q, %d : INTS",
         "8 neighbours are equal: add tl.max_constancy(offsets, 8); and the compiler does not see "
         "through &, but the offset is a multiple of 8: add tl.multiple_of(offset, 8) (then 16 "
         "bytes per instruction)", HINT),
        (constant("%c", 2) + "%d = arith.muli %r, %c : INTS\n%o = arith.addi %d, %r : INTS",
         "neighbours are 3 elements apart: store what belongs together side by side", "tl."),
        ("%o = arith.addi %r, %r : INTS",
         "neighbours are 2 elements apart: access all between them, too, and take it apart", HINT),
        ("%o = arith.subi %bs, %q : INTS", "neighbours are in reverse order: none", "tl."),
        (constant("%z", 0) + "%m = arith.cmpi slt, %q, %ns : INTS\n"
         "%o = arith.select %m, %q, %z : tensor<1024xi1, #l>, INTS",
         "tl.where leaves neighbours apart: none, because no hint is true of them", "constant"),
        ("%o = arith.minsi %q, %ns : INTS",
         "tl.minimum leaves neighbours apart: none, because no hint is true of them", "argument"),
        (constant("%z", 0) + constant("%c", 512)
         + "%is = tt.splat %i : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #l>\n"
         "%ip = tt.addptr %is, %q : tensor<1024x!tt.ptr<i32>, #l>, INTS\n"
         "%k = tt.load %ip : tensor<1024x!tt.ptr<i32>, #l>\n"
         "%m = arith.cmpi sle, %k, %c : INTS\n"
         "%w = arith.select %m, %c, %z : tensor<1024xi1, #l>, INTS\n%o = arith.addi %w, %c : INTS",
         "the offsets depend on the data (tl.where)", "arith.constant"),
        (constant("%c", 3) + "%m = arith.cmpi slt, %n, %n : i32\n%v = arith.muli %q, %c : INTS\n"
         "%o = arith.select %m, %v, %q : INTS",
         "* leaves neighbours apart: none", "tl.where"),
        ("%o = arith.muli %r, %ns : INTS",
         "neighbours are n elements apart: pass n as 1", HINT),
        ("%o = arith.addi %bs, %ss : INTS", "all elements along dimension 0 have one address",
         HINT),
        ("%o = arith.remsi %q, %ns : INTS", "% breaks the run unless n is a multiple of 16", "??"),
    ],
)  # fmt: skip
def test_a_hint_is_true_of_the_offsets(lines: str, says: str, never: str) -> None:
    text = advised(module(lines))
    assert says in text
    assert never not in text


def test_what_the_compiler_sees_is_not_hinted() -> None:
    text = module(constant("%c", 2) + "%o = arith.remsi %q, %c : INTS", layout=HELD)
    assert advised(text) == "% leaves neighbours apart: none, because no hint is true of them"
    told = "%m = arith.cmpi slt, %q, %c {tt.constancy = dense<2> : tensor<1xi32>} : INTS\n"
    lines = constant("%c", 2) + told + constant("%z", 0) + "%o = arith.addi %q, %z : INTS"
    text = module(lines, "%x = tt.load %p, %m : {pointers}", layout=HELD)
    assert advised(text).startswith("the bound is constant, and not a multiple of 8: pad it")


def test_one_address_is_said_of_one_address_only() -> None:
    range_ = "%o = arith.divsi %r, %c : INTS"
    assert "one address:" not in advised(module(constant("%c", 128) + range_))
    lines = (
        constant("%c", 2) + constant("%e", 16) + constant("%f", 4)
        + "%d = arith.muli %r, %c : INTS\n%g = arith.addi %d, %f : INTS\n"
        + "%o = arith.muli %g, %e : INTS"
    )  # fmt: skip
    assert "neighbours are 32 elements apart" in advised(module(lines))


def test_a_stride_that_is_a_multiple_of_16_cannot_be_1() -> None:
    lines = "%o = arith.muli %r, %ss : INTS"
    text = advised(module(lines, stride="{tt.divisibility = 16 : i32}"))
    assert "as 1" not in text
    assert "neighbours are s elements apart" in text


def test_a_stride_of_1_leaves_the_first_address_where_it_is() -> None:
    """The offsets begin at 4, of which a stride of 1 makes no multiple of 8."""
    lines = constant("%c", 4) + "%d = arith.addi %r, %c : INTS\n%o = arith.muli %d, %ss : INTS"
    assert "as 1" in (text := advised(module(lines)))
    assert "16 bytes" not in text


def test_a_stride_that_is_given_decides() -> None:
    lines = "%o = arith.muli %r, %ss : INTS"
    assert "as 1" in advised(module(lines))
    assert "as 1" not in advised(module(lines), s=64)


def test_a_vector_in_the_layout_of_others_stays_narrow() -> None:
    parent = (
        "#ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 1], "
        "threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>}>"
    )
    text = advised(module("%o = arith.muli %r, %ns : INTS", layout=parent))
    assert text == "a thread holds 1 neighbour: none, because other operations decide the layout"


SHIFTED = "%o = arith.addi %r, %ns : INTS"


@pytest.mark.parametrize(
    ("least", "name"),
    [
        ("%o = arith.minsi %r, %ns : INTS", "tl.minimum"),
        (
            "%m = arith.cmpi slt, %r, %ns : INTS\n%o = arith.select %m, %r, %ns : BITS, INTS",
            "tl.where",
        ),
    ],
)
def test_a_bound_that_all_elements_share_breaks_the_run_of_the_others(
    least: str, name: str
) -> None:
    assert advised(module(least)) == (
        f"{name} leaves neighbours apart: none, because no hint is true of them"
    )


def test_what_holds_for_one_multiple_of_16_is_not_said_of_all() -> None:
    """16 // 20 is 0, but 32 // 20 is 1."""
    text = advised(
        module(
            "%c20 = arith.constant 20 : i32\n"
            "%part = arith.divsi %n, %c20 : i32\n"
            "%parts = tt.splat %part : i32 -> INTS\n"
            "%sum = arith.addi %q, %ns : INTS\n"
            "%o = arith.addi %sum, %parts : INTS"
        )
    )
    assert text == (
        "make n a multiple of 16, padding what it measures, or, only if n always is, "
        "add tl.multiple_of(the sum, 8); and the offset that // gives is not always a multiple of "
        "8: only if it is for your arguments, add tl.multiple_of(offset, 8) (then 16 bytes per "
        "instruction)"
    )


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (constant("%c", 3) + "%d = arith.divsi %q, %c : INTS\n"
         "%e = arith.muli %d, %ns : INTS\n%z = arith.constant 8 : i32\n"
         "%h = arith.divsi %b, %k : i32\n%t = arith.divsi %h, %z : i32\n"
         "%ts = tt.splat %t : i32 -> INTS\n%o = arith.addi %r, %ts : INTS",
         "the offset that // gives is not always a multiple of 8: none"),
        ("%c = arith.constant 3 : i32\n%d = arith.divsi %n, %c : i32\n"
         "%ds = tt.splat %d : i32 -> INTS\n%o = arith.addi %q, %ds : INTS",
         "the offset that // gives is not always a multiple of 8: only if it is for your "
         "arguments, add tl.multiple_of(offset, 8) (then 16 bytes per instruction)"),
        ("%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n"
         "%t = scf.for %at = %zero to %n step %one iter_args(%a = %zero) -> (i32) : i32 {\n"
         "%e = arith.addi %a, %at : i32\nscf.yield %e : i32\n}\n"
         "%ts = tt.splat %t : i32 -> INTS\n%o = arith.addi %r, %ts : INTS",
         "the offset of some iterations or branches is not a multiple of 8: none"),
    ],
    ids=["a quotient of the program", "a quotient of an argument", "a sum of a loop"],
)  # fmt: skip
def test_no_offset_is_padded_that_is_computed(lines: str, says: str) -> None:
    assert advised(module(lines, layout=HELD)) == says


def test_a_loop_of_unknown_length_has_no_result_that_always_divides() -> None:
    """Three iterations end at 8, others do not."""
    lines = """%zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %five = arith.constant 5 : i32
      %t = scf.for %at = %zero to %n step %one iter_args(%a = %five) -> (i32) : i32 {
        %e = arith.addi %a, %one : i32
        scf.yield %e : i32
      }
      %w = arith.andi %t, %k : i32
      %u = arith.ori %t, %w : i32
      %ts = tt.splat %u : i32 -> INTS
      %o = arith.addi %r, %ts : INTS"""
    assert "is a multiple of 8" not in advised(module(lines, layout=HELD))


@pytest.mark.parametrize(
    ("shift", "says"),
    [
        (-1, "an offset is -1, which is no multiple of 8: none"),
        (60, "an offset is constant, and not a multiple of 8: pad it to one"),
    ],
)
def test_no_neighbour_is_padded(shift: int, says: str) -> None:
    """The window of a convolution begins one element before the block."""
    lines = constant("%c", shift) + "%o = arith.addi %q, %c : INTS"
    assert advised(module(lines, layout=HELD)) == says


def test_offsets_of_a_search_depend_on_the_data() -> None:
    """They begin as zeros, which are all equal."""
    lines = """%zeros = arith.constant dense<0> : INTS
      %ones = arith.constant dense<1> : INTS
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %is = tt.splat %i : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #l>
      %o = scf.for %at = %zero to %k step %one iter_args(%a = %zeros) -> (INTS) : i32 {
        %ap = tt.addptr %is, %a : tensor<1024x!tt.ptr<i32>, #l>, INTS
        %t = tt.load %ap : tensor<1024x!tt.ptr<i32>, #l>
        %less = arith.cmpi slt, %t, %q : INTS
        %next = arith.addi %a, %ones : INTS
        %e = arith.select %less, %next, %a : BITS, INTS
        scf.yield %e : INTS
      }"""
    assert advised(module(lines)).startswith("the offsets depend on the data (")


@pytest.mark.parametrize("operation", ["divsi", "remsi", "shli", "minsi"])
def test_neighbours_are_apart_where_they_differ(operation: str) -> None:
    """All elements of what is divided are equal: the range that divides it makes the difference."""
    lines = (
        constant("%c", 1) + f"%i = arith.addi %r, %c : INTS\n%o = arith.{operation} %ns, %i : INTS"
    )
    assert re.match(r"(//|%|<<|tl\.minimum) leaves neighbours apart", advised(module(lines)))


def test_a_distance_that_is_computed_is_one() -> None:
    """Scales of blocks are K // 128 elements apart."""
    lines = (
        "%c = arith.constant 128 : i32\n%d = arith.divsi %n, %c : i32\n"
        "%ds = tt.splat %d : i32 -> INTS\n%o = arith.muli %q, %ds : INTS"
    )
    assert advised(module(lines)) == (
        "neighbours are some elements apart: store what belongs together side by side"
    )


def test_a_tensor_of_one_dimension_has_no_fastest() -> None:
    text = advised(module("%o = arith.muli %q, %ns : INTS"))
    assert "n elements apart: pass n as 1" in text
    assert "dimension" not in text


SLICED = """
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1],
                   order = [1, 0]}>
#l = #ttg.slice<{dim = 1, parent = #b}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
tt.func @f(%x: !tt.ptr<i64> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = SIZE : i32, start = 0 : i32} : tensor<SIZExi32, #l>
  %xs = tt.splat %x : !tt.ptr<i64> -> tensor<SIZEx!tt.ptr<i64>, #l>
  %p = tt.addptr %xs, %r : tensor<SIZEx!tt.ptr<i64>, #l>, tensor<SIZExi32, #l>
  %v = tt.load %p : tensor<SIZEx!tt.ptr<i64>, #l>
  tt.return
}
}
"""


def test_a_larger_block_gives_a_slice_no_more_neighbours() -> None:
    """Each thread holds one row of its parent at a time, however many there are."""
    said = "a thread holds 1 neighbour: none, because other operations decide the layout"
    assert advised(SLICED.replace("SIZE", "64")) == said
    assert advised(SLICED.replace("SIZE", "1024")) == said


STORED = """%y = tt.load %p, %m : {pointers}
  %w = tt.addptr %p, %bs : {pointers}, INTS
  tt.store %w, %y, %m : {pointers}"""


def test_one_change_of_two_accesses_is_counted_once() -> None:
    lines = "%m = arith.cmpi slt, %q, %ns : INTS\n%o = arith.addi %bs, %r : INTS"
    text = module(lines, STORED.replace("INTS", INTS), layout=HELD)
    [kernel] = kernels_of(audit_module(parse_ir(text)[0]))
    assert [finding.change_subjects for finding in kernel.findings] == [("%n",), ("%n",)]
    assert "; 1 change of the program to try" in kernel.verdict


def test_a_hint_about_an_argument_is_lost() -> None:
    """``tl.multiple_of(n, 16)`` has no operation to be kept at: the sum has."""
    text = advised(module(SHIFTED))
    assert "make n a multiple of 16" in text
    assert "only if n always is, add tl.multiple_of(the sum, 8)" in text


def test_an_argument_that_is_a_multiple_is_not_specialized() -> None:
    text = advised(module(SHIFTED), n=4096)
    assert "n is 4096, a multiple of 16, but the kernel was not compiled for that" in text
    assert "take n out of do_not_specialize" in text
    assert "padding" not in text
    assert "padding" in advised(module(SHIFTED), n=1000)


MASKED = "%y = tt.load %p, %m : {pointers}"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("%m = arith.cmpi slt, %q, %ns : INTS", "add tl.max_constancy(mask, 8)"),
        ("%m = arith.cmpi sge, %q, %ns : INTS", "make n a multiple of 16"),
        ("%m = arith.cmpi sle, %r, %ns : INTS", "keep only the bounds in the mask of the load"),
        ("%m = arith.cmpi eq, %r, %ns : INTS", "choose with tl.where"),
        (constant("%c", -8) + "%d = arith.andi %q, %c : INTS\n"
         "%m = arith.cmpi eq, %d, %ns : INTS", "8 neighbours always have one mask"),
    ],
)  # fmt: skip
def test_a_hint_is_true_of_the_mask(lines: str, says: str) -> None:
    text = advised(module(lines + "\n%o = arith.addi %bs, %r : INTS", MASKED))
    assert says in text
    assert "compare the offsets" not in text


def test_no_mask_is_equal_that_an_argument_decides() -> None:
    """No number that was tried for n makes a product 32, but others do."""
    lines = (
        constant("%two", 2)
        + "%half = arith.divsi %q, %two : INTS\n"
        + "%of = arith.muli %half, %ns : INTS\n"
        + constant("%c", 32)
        + "%m = arith.cmpi eq, %of, %c : INTS\n"
        + constant("%z", 0)
        + "%o = arith.addi %q, %z : INTS"
    )
    found = advised(module(lines, "%x = tt.load %p, %m : {pointers}", layout=HELD))
    assert "8 neighbours always have one mask" not in found


def test_a_triangle_belongs_into_where() -> None:
    """Rows against columns: the comparison is one that the compiler follows, and differs."""
    lines = "%m = arith.cmpi sge, %ns, %q : INTS\n%o = arith.addi %bs, %r : INTS"
    text = advised(module(lines, MASKED))
    assert text == (
        "neighbours differ in the mask: keep only the bounds in the mask of the load, and choose "
        "with tl.where (then 16 bytes per instruction)"
    )
    stored = advised(module(lines, "tt.store %p, %v, %m : {pointers}").replace(
        "%xs =", "%v = arith.constant dense<1.0> : tensor<1024xf16, #l>\n  %xs ="))  # fmt: skip
    assert "tl.where" not in stored


def test_a_layout_is_advised_whole() -> None:
    """``sizePerThread[0] = 8`` alone would repeat lanes."""
    layout = (
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    )
    text = advised(module("%o = arith.addi %bs, %r : INTS", layout=layout))
    [found] = re.findall(r"#ttg\.blocked<\{.*\}>", text)
    assert found == layout.replace("sizePerThread = [1]", "sizePerThread = [8]")


@pytest.mark.parametrize("warps", [4, 8])
def test_a_tensor_has_to_have_as_many_elements_as_the_threads_could_move(warps: int) -> None:
    layout = HELD.replace("[8]", "[1]").replace("[4]", f"[{warps}]")
    text = module("%o = arith.addi %bs, %r : INTS", layout=layout)
    found = advised(text.replace('num-warps" = 4', f'num-warps" = {warps}'))
    is_small = found.startswith("1024 elements for 256 threads: use a larger block")
    assert is_small == (warps == 8)


@pytest.mark.parametrize(
    ("lines", "access", "begin", "end"),
    [
        (
            "%o = arith.muli %q, %ss : INTS",
            "%x = tt.load %p : {pointers}",
            "1024 elements for 1024 threads: use a larger block, or fewer warps (num_warps); and ",
            "neighbours are s elements apart: pass s as 1, or as a tl.constexpr that is 1, "
            "or store what belongs together side by side",
        ),
        (
            "%m = arith.cmpi slt, %q, %ns : INTS\n%o = arith.addi %bs, %r : INTS",
            MASKED,
            "1024 elements for 1024 threads: use a larger block, or fewer warps (num_warps); and ",
            "make n a multiple of 16, padding what it measures, so that 8 neighbours have one "
            "mask, or, only if it always is, add tl.max_constancy(mask, 8)",
        ),
        (
            constant("%last", 1023) + "%o = arith.subi %last, %r : INTS",
            "%x = tt.load %p : {pointers}",
            "neighbours are in reverse order: none, because ",
            "an instruction moves them in the order of memory",
        ),
    ],
    ids=["apart", "masked", "backwards"],
)
def test_few_elements_are_not_all_that_keeps_an_access_narrow(
    lines: str, access: str, begin: str, end: str
) -> None:
    """A larger block alone leaves such neighbours apart, and does not help where nothing does."""
    layout = HELD.replace("[8]", "[1]").replace("[4]", "[32]")
    text = module(lines, access, layout=layout).replace('num-warps" = 4', 'num-warps" = 32')
    assert advised(text) == begin + end
