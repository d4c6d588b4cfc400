"""Lowers conversions and accesses, and builds layouts; runs where Triton is, as `inside` does.

usage: lowering.py QUESTIONS

A question has ``allocate``, ``convert``, ``assemble`` (source and destination), ``assembly``,
``combine``, ``llvm``, ``load``, ``messages``, ``multiply``, ``descriptors``, ``registers``,
``kernel``, ``tma``, ``tdm``, ``coalesce``, ``operand``, ``blocked`` or ``nvmma``, and what the
module needs: ``shape, elem, target, warps, threads, ctas``.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compiler import assembling, inside, kernels
else:
    import assembling  # these lie in the same folder, and this is run as a script
    import inside
    import kernels

Question = dict[str, Any]
Answer = dict[str, Any]

PTX = 80  # a version of PTX that knows every instruction asked for


class Lowering(inside.Compiler):
    """The wheel's passes."""

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        library = importlib.import_module("triton._C.libtriton")
        self.passes, self.nvidia, self.amd = library.passes, library.nvidia, library.amd
        prefix = "answer_"
        names = [name for name in dir(self) if name.startswith(prefix)]
        self.answers = {name.removeprefix(prefix): getattr(self, name) for name in names}

    def answer(self, question: Question, partial: inside.Partial) -> Answer:
        for name, answered in self.answers.items():
            if name in question:
                answer: Answer = answered(question)
                return answer
        raise ValueError(f"no such question: {question}")

    def parsed(self, question: Question, function: str) -> Any:
        target = question["target"]
        name = f"cuda:{target[2:]}" if target.startswith("sm") else f"hip:{target}"
        numbers = {
            "num-warps": question["warps"],
            "num-ctas": question.get("ctas", 1),
            "threads-per-warp": question["threads"],
        }
        if "maxnreg" in question:
            numbers["maxnreg"] = question["maxnreg"]
        attributes = [f'"ttg.{key}" = {value} : i32' for key, value in numbers.items()]
        head = ", ".join([*attributes, f'ttg.target = "{name}"'])
        with open(self.path, "w") as file:
            file.write(f"module attributes {{{head}}} {{\n{function}\n}}\n")
        context = self.context()
        module = self.ir.parse_mlir_module(self.path, context)
        module.context = context
        return module

    def lowered(self, question: Question, function: str) -> str:
        """Return the LLVM dialect of a function."""
        module, target = self.parsed(question, function), question["target"]
        manager = self.ir.pass_manager(module.context)
        if target.startswith("sm"):
            passes, capability = self.nvidia.passes.ttgpuir, int(target[2:])
            passes.add_allocate_shared_memory_nv(manager, capability, PTX)
            passes.add_to_llvmir(manager, capability, PTX)
        else:
            self.amd.passes.ttgpuir.add_allocate_shared_memory(manager, target)
            self.amd.passes.ttgpuir.add_to_llvmir(manager, target, True)
        manager.run(module, "lower")
        return str(module.str_nodebug())

    def answer_allocate(self, question: Question) -> Answer:
        """Return the offsets in shared memory of a function, in the order of the text."""
        module, target = self.parsed(question, question["allocate"]), question["target"]
        manager = self.ir.pass_manager(module.context)
        if target.startswith("sm"):
            passes = self.nvidia.passes.ttgpuir
            passes.add_allocate_shared_memory_nv(manager, int(target[2:]), PTX)
        else:
            self.amd.passes.ttgpuir.add_allocate_shared_memory(manager, target)
        manager.run(module, "allocate")
        text = module.str_nodebug()
        found = [int(n) for n in re.findall(r"allocation\.offset = (\d+)", text)]
        return {"offsets": found, "bytes": int(re.findall(r"ttg\.shared = (\d+)", text)[0])}

    def answer_convert(self, question: Question) -> Answer:
        """Return what a conversion becomes: instructions counted, and bytes of scratch."""
        src, dst = (typed(question, attr) for attr in question["convert"])
        text = self.lowered(
            question,
            f"tt.func private @f(%a: {src}) -> {dst} {{\n"
            f"  %0 = ttg.convert_layout %a : {src} -> {dst}\n  tt.return %0 : {dst} }}",
        )
        counts = {name: len(re.findall(pattern, text)) for name, pattern in COUNTED.items()}
        scratch = re.search(r"ttg\.shared = (\d+)", text)
        argument = re.search(r"llvm\.func [^\n]*?%arg0: !llvm\.struct<\(([^)]*)\)>", text)
        held = argument[1].count(",") + 1 if argument else None
        return {**counts, "scratch": int(scratch[1]) if scratch else 0, "held": held}

    def answer_assemble(self, question: Question) -> Answer:
        """Return the operations on shared memory in the PTX of a conversion, by name."""
        src, dst = question["assemble"]
        numbers = {key: question[key] for key in ("target", "warps", "threads", "ctas")}
        text = kernels.conversion_kernel(src, dst, question["shape"], question["elem"], **numbers)
        outputs, metadata = assembling.assembled(text, "ptx")
        found = Counter(re.findall(SHARED_OPERATION, outputs["ptx"]))
        return {"operations": dict(found), "scratch": metadata["shared"]}

    def answer_combine(self, question: Question) -> Answer:
        """Return shuffles and accesses to shared memory of a reduction, scan or atomic, by name."""
        numbers = {key: question[key] for key in ("target", "warps", "threads", "ctas")}
        name, *rest = question["combine"]
        writers: dict[str, Callable[..., str]] = {
            "add": kernels.atomic_kernel,
            "cas": kernels.atomic_kernel,
            "gather": kernels.gather_kernel,
            "histogram": kernels.gather_kernel,
        }
        text = writers.get(name, kernels.combining_kernel)(name, *rest, **numbers)
        outputs, metadata = assembling.assembled(text, "ptx" if "cuda:" in text else "llir")
        found = Counter(re.findall(SHARED_OPERATION, outputs.get("ptx", "")))
        return {"operations": dict(found), "scratch": metadata["shared"], "text": text}

    def answer_llvm(self, question: Question) -> Answer:
        """Return the LLVM IR of a whole module, as its optimizer leaves it."""
        return {"llvm": str(assembling.assembled(question["llvm"], "llir")[0]["llir"])}

    def answer_assembly(self, question: Question) -> Answer:
        """Return the assembly of a whole module: PTX or AMDGCN."""
        last = "ptx" if "cuda:" in question["assembly"] else "amdgcn"
        return {"assembly": str(assembling.assembled(question["assembly"], last)[0][last])}

    def answer_through(self, question: Question) -> Answer:
        """Return the instructions that store a tensor to shared memory, and load it, by name."""
        keys = ("shape", "element", "target", "warps", "threads", "whole", "at")
        own = {key: question[key] for key in keys if key in question}
        text = kernels.shared_kernel(*question["through"], **own)
        last = "ptx" if "cuda:" in text else "amdgcn"
        assembly = assembling.assembled(text, last)[0][last]
        pattern = SHARED_OPERATION if last == "ptx" else LDS_OPERATION
        found = Counter(re.findall(pattern, assembly))
        return {"operations": dict(found)}

    def answer_multiply(self, question: Question) -> Answer:
        """Return the matrix instructions in the assembly of a ``tt.dot``, by name."""
        numbers = {key: question[key] for key in ("target", "warps", "threads")}
        text = kernels.dot_kernel(question["multiply"], **numbers)
        outputs, _ = assembling.assembled(text, "ptx" if "cuda:" in text else "amdgcn")
        assembly = outputs.get("ptx") or outputs["amdgcn"]
        return {"operations": dict(Counter(re.findall(MATRIX_OPERATION, assembly)))}

    def answer_kernel(self, question: Question) -> Answer:
        """Return the instructions in the assembly of a whole module, by name.

        They are those on matrices and shared memory, and between lanes, without those by which
        all lanes agree on the number of their warp, and on where their tensor memory begins.
        """
        text = assembling.without_unrolling(question["kernel"])
        last = "ptx" if "cuda:" in text else "amdgcn"
        assembly = assembling.assembled(text, last)[0][last]
        assembly = re.sub(COLLECTOR, "", re.sub(WARP_NUMBER, "", assembly))
        assembly = re.sub(ALLOCATED, "", assembly)
        shared = SHARED_OPERATION if last == "ptx" else LDS_OPERATION
        found = Counter(re.findall(f"{TENSOR_OPERATION}|{shared}", assembly))
        return {"operations": {"".join(groups): count for groups, count in found.items()}}

    def answer_descriptors(self, question: Question) -> Answer:
        """Return how often a multiplication in memory is done, and its descriptors of A and B.

        A descriptor is its low and its high word, without the address.
        """
        a, b, d = question["descriptors"]
        values = [f"%{name}: {text}" for name, text in zip("abd", (a, b, d))]
        multiply = f"ttng.tc_gen5_mma %a, %b, %d, %u, %p : {a}, {b}, {d}\n  tt.return"
        if d.startswith("tensor"):
            multiply = (
                "%0 = ttng.warp_group_dot %a, %b, %d {maxNumImpreciseAcc = 1073741824 : i32} : "
                f"{a} * {b} -> {d}\n  tt.return %0 : {d}"
            )
        result = f"-> {d} " * d.startswith("tensor")
        text = self.lowered(
            question,
            f"tt.func private @f({', '.join(values)}, %u: i1, %p: i1) {result}{{\n  {multiply} }}",
        )
        found = [[int(low), int(high)] for low, high in re.findall(DESCRIPTOR, text)]
        return {"count": len(re.findall(r"tcgen05\.mma|= nvg\.wgmma ", text)), "words": found}

    def answer_load(self, question: Question) -> Answer:
        """Return the widths in bits of the loads that a tensor of pointers becomes."""
        shape, attr = question["shape"], question["load"]
        pointers = typed({**question, "elem": f"!tt.ptr<{question['elem']}>"}, attr)
        values = typed(question, attr)
        rank, hints = len(shape), question["hints"]
        told = ", ".join(f"tt.{k} = dense<{v}> : tensor<{rank}xi32>" for k, v in hints.items())
        text = self.lowered(
            question,
            f"tt.func private @f(%p: {pointers} {{{told}}}) -> {values} {{\n"
            f"  %0 = tt.load %p : {pointers}\n  tt.return %0 : {values} }}",
        )
        found = re.findall(r"ld\.global(?:\.[a-z_:0-9]*)*?(?:\.v(\d))?\.b(\d+)", text)
        return {"widths": sorted(int(vector or 1) * int(bits) for vector, bits in found)}

    def answer_messages(self, question: Question) -> Answer:
        """Return the messages by which tensor memory is loaded and stored, one text each."""
        register, memory = question["messages"]
        values = typed(question, register)
        dims = "x".join(map(str, (*question["shape"], question["elem"])))
        buffer = f"!ttg.memdesc<{dims}, {memory}, #ttng.tensor_memory, mutable>"
        is_scales = "scales" in memory  # which are stored only
        load = f"ub.poison : {values}" if is_scales else f"ttng.tmem_load %m : {buffer} -> {values}"
        text = self.lowered(
            question,
            f"tt.func private @f(%m: {buffer}, %v: {values}) -> {values} {{\n"
            f"  %true = arith.constant true\n"
            f"  ttng.tmem_store %v, %m, %true : {values} -> {buffer}\n"
            f"  %0 = {load}\n"
            f"  tt.return %0 : {values} }}",
        )
        messages = re.findall(r"(tcgen05\.(?:ld|st)\S*) .*?\[\$\d+ \+ (\d+)\](?:, (\d+))?", text)
        return {"messages": [[name, int(at), half and int(half)] for name, at, half in messages]}

    def answer_registers(self, question: Question) -> Answer:
        """Return the bases of the layouts that Gluon offers for tensor memory, by variant."""
        gluon = importlib.import_module("triton.experimental.gluon.language._semantic")
        blackwell = importlib.import_module("triton.experimental.gluon.language.nvidia.blackwell")
        element = getattr(importlib.import_module("triton.language"), question["elem"])
        tiles, shape = question["registers"], question["shape"]
        memory = (
            blackwell.TensorMemoryLayout(tiles["block"], tiles["stride"])
            if tiles
            else blackwell.TensorMemoryScalesLayout()
        )
        found: Answer = {}
        for variant in ("32x32b", "16x64b", "16x128b", "16x256b", "32x32b_splitn"):
            try:
                layout = gluon._compute_tmem_reg_layout(
                    element, shape, shape, memory, question["warps"], variant
                )
            except Exception as error:  # which it raises where it has none
                found[variant] = str(error).splitlines()[0]
            else:
                names = ("reg", "lane", "warp", "block")
                found[variant] = [getattr(layout, f"{name}_bases") for name in names]
        return found

    def answer_tma(self, question: Question) -> Answer:
        """Return how many messages of the tensor memory accelerator stand in the code."""
        operation, memory = question["tma"], question["memory"]
        dims = [str(size) for size in question["shape"]]
        buffer = f"!ttg.memdesc<{'x'.join([*dims, question['elem']])}, {memory}, #ttg.shared_memory"
        buffer += ", mutable>"
        rows = [*dims] if "indices" not in question else ["1", *dims[1:]]
        kind = "!ttng.tensordesc_im2col" if operation == "im2col" else "!tt.tensordesc"
        descriptor = f"{kind}<{'x'.join([*rows, question['elem']])}, {memory}>"
        indices = f"tensor<{dims[0]}xi32, {question.get('indices')}>"
        barrier = f"!ttg.memdesc<1xi64, {BARRIER}, #ttg.shared_memory, mutable>"
        at = ", ".join(["%i"] * (4 if operation == "im2col" else len(dims)))
        offsets = "offsets = [%o, %o] " if operation == "im2col" else ""
        into = f"ttng.async_tma_copy_global_to_local %d[{at}] {offsets}%m, %b, %p : {descriptor}, "
        into += f"{barrier} -> {buffer}"
        moved = {
            "copy in": into,
            "im2col": into,
            "copy out": f"ttng.async_tma_copy_local_to_global %d[{at}] %m : {descriptor}, {buffer}",
            "reduce": f"ttng.async_tma_reduce add, %d[{at}] %m : {descriptor}, {buffer}",
            "gather": f"ttng.async_tma_gather %d[%x, %i] %m, %b, %p : {descriptor}, {indices}, "
            f"i32, {barrier}, {buffer}, i1",
            "scatter": f"ttng.async_tma_scatter %d[%x, %i] %m : {descriptor}, {indices}, i32, "
            f"{buffer}",
        }[operation]
        given = f", %x: {indices}" if "indices" in question else ""
        text = self.lowered(
            question,
            f"tt.func private @f(%d: {descriptor}, %m: {buffer}, %b: {barrier}, %i: i32, %o: i16, "
            f"%p: i1{given}) {{\n  {moved}\n  tt.return }}",
        )
        return {"count": len(re.findall(r"cp\.(?:reduce\.)?async\.bulk\.tensor", text))}

    def answer_tdm(self, question: Question) -> Answer:
        """Return how many instructions of the tensor data mover stand in the code."""
        operation, memory = question["tdm"], question["memory"]
        dims = "x".join(map(str, (*question["shape"], question["elem"])))
        buffer = f"!ttg.memdesc<{dims}, {memory}, #ttg.shared_memory, mutable>"
        descriptor = f"!tt.tensordesc<{dims}, {memory}>"
        indices = f"tensor<{question['shape'][0]}x{question.get('index')}, "
        indices += f"{question.get('indices')}>"
        moved = {
            "copy in": f"%t = amdg.async_tdm_copy_global_to_local %d into %m : {descriptor} -> "
            f"{buffer}",
            "copy out": f"amdg.async_tdm_copy_local_to_global %d from %m : {buffer} -> "
            f"{descriptor}",
            "gather": f"%t = amdg.async_tdm_gather %d[%x] to %m : {indices}, {buffer} -> "
            f"{descriptor}",
            "scatter": f"%t = amdg.async_tdm_scatter %d[%x] from %m : {indices}, {buffer} -> "
            f"{descriptor}",
        }[operation]
        given = f", %x: {indices}" if "indices" in question else ""
        text = self.lowered(
            question,
            f"tt.func private @f(%d: {descriptor}, %m: {buffer}{given}) {{\n  {moved}\n"
            "  tt.return }",
        )
        found = re.findall(r"amdgcn\.tensor\.(?:load\.to|store\.from)\.lds", text)
        return {"count": len(found)}

    def answer_coalesce(self, question: Question) -> Answer:
        """Return the layout that coalescing gives a load."""
        shape, attr = question["shape"], question["coalesce"]
        pointers = typed({**question, "elem": f"!tt.ptr<{question['elem']}>"}, attr)
        values = typed(question, attr)
        rank, hints = len(shape), question["hints"]
        told = ", ".join(f"tt.{k} = dense<{v}> : tensor<{rank}xi32>" for k, v in hints.items())
        module = self.parsed(
            question,
            f"tt.func private @f(%p: {pointers} {{{told}}}) -> {values} {{\n"
            f"  %0 = tt.load %p : {pointers}\n  tt.return %0 : {values} }}",
        )
        manager = self.ir.pass_manager(module.context)
        self.passes.ttgpuir.add_coalesce(manager)
        manager.run(module, "coalesce")
        text = module.str_nodebug()
        aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
        load = next(line for line in text.splitlines() if "tt.load" in line)
        name = re.findall(r"(#\w+)>", load)[-1]
        return {"text": aliases[name]}

    def answer_operand(self, question: Question) -> Answer:
        """Return the shared layout through which a dot operand goes."""
        src, dst = (typed(question, attr) for attr in question["operand"])
        module = self.parsed(
            question,
            f"tt.func private @f(%a: {src}) -> {dst} {{\n"
            f"  %0 = ttg.convert_layout %a : {src} -> {dst}\n  tt.return %0 : {dst} }}",
        )
        manager = self.ir.pass_manager(module.context)
        self.passes.ttgpuir.add_reduce_data_duplication(manager)
        manager.run(module, "share")
        text = module.str_nodebug()
        found = re.search(r"^#\w+ = (#ttg\.swizzled_shared.*)$", text, re.M)
        return {"text": found[1]} if found else {}

    def answer_blocked(self, question: Question) -> Answer:
        """Return the layout that a tensor gets when the first layouts are dealt out."""
        dims = "x".join(map(str, (*question["shape"], question["elem"])))
        with open(self.path, "w") as file:
            file.write(f"module {{ tt.func @f(%a: tensor<{dims}>) -> tensor<{dims}> {{\n")
            file.write(f"  tt.return %a : tensor<{dims}> }} }}\n")
        module = self.ir.parse_mlir_module(self.path, self.context())
        module.context = self.current
        manager = self.ir.pass_manager(module.context)
        numbers = [question[key] for key in ("warps", "threads", "ctas")]
        self.passes.ttir.add_convert_to_ttgpuir(manager, "cuda:90", *numbers)
        manager.run(module, "convert")
        return {"text": re.findall(r"^#\w+ = (.*)$", module.str_nodebug(), re.M)[0]}

    def answer_nvmma(self, question: Question) -> Answer:
        """Return Gluon's default, in the spelling of Gluon's class."""
        layouts = importlib.import_module("triton.experimental.gluon.language._layouts")
        language = importlib.import_module("triton.language")
        layout = layouts.NVMMASharedLayout.get_default_for(
            question["shape"],
            getattr(language, question["elem"]),
            transposed=question["nvmma"]["transposed"],
            fp4_padded=question["nvmma"]["fp4"],
        )
        return {"width": layout.swizzle_byte_width, "bits": layout.element_bitwidth}


BARRIER = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"

SHARED_OPERATION = r"\b((?:ld|st)(?:\.async)?\.shared[\w.:]*|(?:ld|st)matrix[\w.]*|shfl[\w.]*"
SHARED_OPERATION += r"|redux[\w.]*|atom\.[\w.]*shared[\w.:]*)"

LDS_OPERATION = r"\b(ds_\w+)"

MATRIX_OPERATION = r"\b(mma\.sync[\w.]*|wgmma\.mma_async[\w.]*|v_[s]?(?:mfma|wmma)[\w]*)"

TENSOR_OPERATION = (
    r"\b(tcgen05\.(?:ld|st|cp|mma)[\w.:]*|wgmma\.mma_async[\w.]*|mma\.sync[\w.]*"
    r"|cp\.(?:reduce\.)?async\.bulk\.tensor\.\dd(?:\.tile::\w+4)?|v_s?(?:mfma|wmma)\w*)"
)

WARP_NUMBER = r"shfl\.sync\.idx\.b32[^\n]*, 0, 31, -1;"

ALLOCATED = r"tcgen05\.alloc[\s\S]*?ld\.shared\.b32"

COLLECTOR = r"\.collector::\w+::\w+"
"""How an instruction says that the next one takes A again."""

DESCRIPTOR = (
    r"constant\((-?\d+) : i32\) : i32\n\s+%\d+ = llvm\.add %\d+, %\d+ : i32\n"
    r"\s+%\d+ = llvm\.mlir\.constant\((-?\d+) : i32\) : i32\n"
    r"\s+%\d+ = llvm\.mlir\.undef : vector<2xi32>"
)

COUNTED = {
    "shuffles": r"nvvm\.shfl|ds_bpermute|permlane|ds_swizzle|update\.dpp|ds_permute|mov\.dpp",
    "stores": r"st\.(?:async\.)?shared|llvm\.store [^\n]*ptr<3>|stmatrix",
    "loads": r"ld\.shared|llvm\.load [^\n]*ptr<[37]>|ldmatrix",
    "clusters": r"mapa|shared::cluster|cluster\.arrive",
    "matrix stores": "stmatrix",
    "matrix loads": "ldmatrix",
}


def typed(question: Question, attr: str) -> str:
    return f"tensor<{'x'.join(map(str, (*question['shape'], question['elem'])))}, {attr}>"


if __name__ == "__main__":
    inside.Compiler = Lowering  # type: ignore[misc]
    inside.main()
