"""Functions of one text in a module: what is concluded of one holds for all, where they stand."""

from __future__ import annotations

from typing import Any

import pytest
from work import calls_of

from tt_layout.audit.audit import Audit, audit_module
from tt_layout.audit.kernel import kernels_of
from tt_layout.ir import parse_ir
from tt_layout.reports.audit_data import audit_data

HEAD = """#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4],
                    order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
"""

BEGIN = """    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
    %p = tt.splat %a : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
    %q = tt.addptr %p, %r : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    %v = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
"""

STORE = "    tt.store %q, %v : tensor<128x!tt.ptr<f32>, #b>\n"

ON_DATA = """    %s = tt.splat %g : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b>
    %t = tt.addptr %s, %r : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>
    %i = tt.load %t : tensor<128x!tt.ptr<i32>, #b>
    %u = tt.addptr %p, %i : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    tt.store %u, %v : tensor<128x!tt.ptr<f32>, #b>
"""

LOOP = """    %z = arith.constant 0 : i32
    %o = arith.constant 1 : i32
    scf.for %k = %z to %n step %o : i32 {
      tt.store %q, %v : tensor<128x!tt.ptr<f32>, #b>
    }
"""

TWICE = """    scf.if %c {
      %w = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
      tt.store %q, %w : tensor<128x!tt.ptr<f32>, #b>
    } else {
      %w = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
      tt.store %q, %w : tensor<128x!tt.ptr<f32>, #b>
    }
"""

ARGUMENTS = "%a: !tt.ptr<f32>, %g: !tt.ptr<i32>, %n: i32, %c: i1"
TYPES = "(!tt.ptr<f32>, !tt.ptr<i32>, i32, i1) -> ()"


def chain(length: int, body: str, *, are_equal: bool = True) -> str:
    """Return functions of one body, each of which calls the next."""
    functions = []
    for number in range(length):
        unlike = "" if are_equal else " " * number
        functions.append(
            f"  tt.func private @f{number}({ARGUMENTS}) {{\n{BEGIN}{body}"
            f"    tt.call @f{number + 1}(%a, %g, %n, %c) : {TYPES}\n    tt.return{unlike}\n  }}\n"
        )
    return f"{HEAD}{''.join(functions)}}}\n"


def audit(text: str) -> Audit:
    """Return the audit of the only module of a text."""
    [module] = parse_ir(text)
    return audit_module(module)


def concluded(text: str) -> list[Any]:
    """Return what is said of a module, and the bounds and registers of its kernels."""
    found = audit(text)
    kernels = [
        (kernel.name, kernel.bounds, kernel.registers, kernel.verdict, kernel.findings)
        for kernel in kernels_of(found)
    ]
    return [audit_data(found), kernels]


@pytest.mark.parametrize("body", [STORE, ON_DATA, LOOP, TWICE], ids=["plain", "data", "loop", "if"])
def test_each_function_has_its_own_lines(body: str) -> None:
    assert concluded(chain(4, body)) == concluded(chain(4, body, are_equal=False))


def test_functions_differ_by_what_is_passed_to_them() -> None:
    head = HEAD.replace("sizePerThread = [1]", "sizePerThread = [4]")
    body = f"{BEGIN}{STORE}".replace("128", "512")
    aligned = ARGUMENTS.replace("f32>", "f32> {tt.divisibility = 16 : i32}")
    functions = [
        f"  tt.func public @{name}({arguments}) {{\n"
        f"    tt.call @of_{name}(%a, %g, %n, %c) : {TYPES}\n    tt.return\n  }}\n"
        f"  tt.func private @of_{name}({ARGUMENTS}) {{\n{body}    tt.return\n  }}\n"
        for name, arguments in (("known", aligned), ("unknown", ARGUMENTS))
    ]
    found = audit(f"{head}{''.join(functions)}}}\n")
    loads = [found.movements_of(name)[0].cost for name in ("of_known", "of_unknown")]
    findings = [load.finding for load in loads if load is not None]
    assert findings == [None, "loads 4 bytes per instruction instead of 16"]


def test_advice_is_on_the_arguments_of_each_function() -> None:
    head = HEAD.replace("sizePerThread = [1]", "sizePerThread = [4]")
    body = f"{BEGIN}{STORE}".replace("128", "512")
    functions = [
        f"  tt.func public @{name}({ARGUMENTS}) {{\n{body}    tt.return\n  }}\n".replace(
            "%a", f"%{name}"
        )
        for name in ("first", "second")
    ]
    found = audit(f"{head}{''.join(functions)}}}\n")
    advised = [found.findings_of(name)[0].program_change for name in ("first", "second")]
    assert [change.partition(" (")[0] for change in advised] == [
        "pass first aligned to 16 bytes",
        "pass second aligned to 16 bytes",
    ]


def test_equal_functions_are_concluded_once() -> None:
    def apiece(*, are_equal: bool) -> float:
        def work(length: int) -> int:
            [module] = parse_ir(chain(length, STORE, are_equal=are_equal))

            def conclude() -> None:
                for kernel in kernels_of(audit_module(module)):
                    assert kernel.bounds is not None
                    assert kernel.registers is not None

            return calls_of(conclude)

        return (work(30) - work(10)) / 20

    assert apiece(are_equal=True) < 0.4 * apiece(are_equal=False)
