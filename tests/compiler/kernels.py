"""Kernels of one operation as text, for any layouts: load, convert or multiply, store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Body:
    """Operations of a function, with names for their results."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, operation: str) -> str:
        """Append an operation and return the name of its result."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {operation}")
        return name


def tensor(shape: Sequence[int], element: str, layout: str) -> str:
    return f"tensor<{'x'.join(map(str, (*shape, element)))}, {layout}>"


def coordinate(body: Body, shape: Sequence[int], layout: str, dim: int) -> str:
    """Append the coordinate along a dimension of every element of a tensor."""
    layouts = [layout]
    others = [d for d in range(len(shape)) if d != dim]
    for other in reversed(others):
        layouts.append(f"#ttg.slice<{{dim = {other}, parent = {layouts[-1]}}}>")
    sizes = [shape[dim]]
    own = tensor(sizes, "i32", layouts.pop())
    found = body.add(f"tt.make_range {{end = {shape[dim]} : i32, start = 0 : i32}} : {own}")
    for other in others:
        sizes.insert(other, 1)
        wider = tensor(sizes, "i32", layouts.pop())
        found = body.add(f"tt.expand_dims {found} {{axis = {other} : i32}} : {own} -> {wider}")
        own = wider
    whole = tensor(shape, "i32", layout)
    return found if own == whole else body.add(f"tt.broadcast {found} : {own} -> {whole}")


def pointers(body: Body, shape: Sequence[int], layout: str, base: str, element: str) -> str:
    """Append pointers to the elements of a dense tensor, the last dimension the fastest."""
    offsets, places = tensor(shape, "i32", layout), tensor(shape, f"!tt.ptr<{element}>", layout)
    found, stride = body.add(f"arith.constant dense<0> : {offsets}"), 1
    for dim in reversed(range(len(shape))):
        along = coordinate(body, shape, layout, dim)
        step = body.add(f"arith.constant dense<{stride}> : {offsets}")
        scaled = body.add(f"arith.muli {along}, {step} : {offsets}")
        found = body.add(f"arith.addi {found}, {scaled} : {offsets}")
        stride *= shape[dim]
    splat = body.add(f"tt.splat {base} : !tt.ptr<{element}> -> {places}")
    return body.add(f"tt.addptr {splat}, {found} : {places}, {offsets}")


def conversion_kernel(
    src: str,
    dst: str,
    shape: Sequence[int],
    element: str,
    *,
    target: str,
    warps: int,
    threads: int = 32,
    ctas: int = 1,
) -> str:
    """Return a module whose kernel ``convert`` takes a tensor from one layout to another.

    Args:
        src, dst: attributes.
        shape: sizes of the tensor.
        element: its element type; i1 lies in memory as i8.
        target: such as ``sm90`` or ``gfx942``.
        warps, threads, ctas: of the kernel: warps of a CTA, threads of a warp.
    """
    body, stored = Body(), "i8" if element == "i1" else element
    sources = tensor(shape, f"!tt.ptr<{stored}>", src)
    value = body.add(f"tt.load {pointers(body, shape, src, '%in', stored)} : {sources}")
    if element == "i1":
        types = tensor(shape, "i8", src), tensor(shape, "i1", src)
        value = body.add(f"arith.trunci {value} : {types[0]} to {types[1]}")
    types = tensor(shape, element, src), tensor(shape, element, dst)
    value = body.add(f"ttg.convert_layout {value} : {types[0]} -> {types[1]}")
    if element == "i1":
        types = tensor(shape, "i1", dst), tensor(shape, "i8", dst)
        value = body.add(f"arith.extui {value} : {types[0]} to {types[1]}")
    places = pointers(body, shape, dst, "%out", stored)
    body.lines.append(f"tt.store {places}, {value} : {tensor(shape, f'!tt.ptr<{stored}>', dst)}")
    arguments = {"in": stored, "out": stored}
    numbers = {"num-warps": warps, "num-ctas": ctas, "threads-per-warp": threads}
    return kernel("convert", arguments, body, target, numbers)


def combining_kernel(
    operation: str,
    layout: str,
    shape: Sequence[int],
    axis: int,
    elements: Sequence[str],
    combiner: str,
    *,
    target: str,
    warps: int,
    threads: int = 32,
    ctas: int = 1,
) -> str:
    """Return a module whose kernel ``combine`` reduces or scans tensors along an axis.

    Args:
        operation: ``reduce``, ``scan`` or ``reversed scan``.
        layout: the attribute of the tensors.
        shape: their sizes.
        axis: the dimension.
        elements: element type of each tensor.
        combiner: an operation of the dialect ``arith``; its last letter fits the elements.
        target: such as ``sm90`` or ``gfx942``.
        warps, threads, ctas: of the kernel: warps of a CTA, threads of a warp.
    """
    body = Body()
    bases = [f"%in{k}" for k in range(len(elements))]
    values = [
        body.add(
            f"tt.load {pointers(body, shape, layout, base, element)} : "
            f"{tensor(shape, f'!tt.ptr<{element}>', layout)}"
        )
        for base, element in zip(bases, elements)
    ]
    name, left = operation.rpartition(" ")[2], [*shape]
    result_layout = layout
    if name == "reduce":
        del left[axis]
        result_layout = f"#ttg.slice<{{dim = {axis}, parent = {layout}}}>"
    results = [tensor(left, element, result_layout) if left else element for element in elements]
    arguments = [f"%{side}{k}: {e}" for side in "xy" for k, e in enumerate(elements)]
    combined = "; ".join(
        f"%z{k} = arith.{combiner} %x{k}, %y{k} : {e}" for k, e in enumerate(elements)
    ).replace("; ", "\n      ")
    returned = ", ".join(f"%z{k}" for k in range(len(elements)))
    attributes = f"axis = {axis} : i32"
    if name == "scan":
        attributes += f", reverse = {'true' if operation.startswith('reversed') else 'false'}"
    sources = ", ".join(tensor(shape, element, layout) for element in elements)
    body.lines.append(
        f'%r:{len(elements)} = "tt.{name}"({", ".join(values)}) <{{{attributes}}}> ({{\n'
        f"    ^bb0({', '.join(arguments)}):\n      {combined}\n"
        f"      tt.{name}.return {returned} : {', '.join(elements)}\n"
        f"    }}) : ({sources}) -> ({', '.join(results)})"
    )
    for k, element in enumerate(elements):
        places, type_ = f"%out{k}", f"!tt.ptr<{element}>"
        if left:
            places = pointers(body, left, result_layout, places, element)
            type_ = tensor(left, type_, result_layout)
        body.lines.append(f"tt.store {places}, %r#{k} : {type_}")
    given = {f"{side}{k}": e for side in ("in", "out") for k, e in enumerate(elements)}
    numbers = {"num-warps": warps, "num-ctas": ctas, "threads-per-warp": threads}
    return kernel("combine", given, body, target, numbers)


def atomic_kernel(
    operation: str,
    layout: str,
    shape: Sequence[int],
    element: str,
    *,
    target: str,
    warps: int,
    threads: int = 32,
    ctas: int = 1,
) -> str:
    """Return a module whose kernel ``change`` changes memory and stores what stood there.

    Args:
        operation: ``add`` or ``cas``.
        layout: the attribute of the tensor.
        shape: its sizes; none for a single number.
        element: its element type.
        target: such as ``sm90`` or ``gfx942``.
        warps, threads, ctas: of the kernel: warps of a CTA, threads of a warp.
    """
    body, pointer = Body(), f"!tt.ptr<{element}>"
    value, places, out = element, "%memory", "%out"
    source = "%in"
    if shape:
        value, pointer = tensor(shape, element, layout), tensor(shape, pointer, layout)
        source, places, out = (
            pointers(body, shape, layout, base, element) for base in ("%in", "%memory", "%out")
        )
    loaded = body.add(f"tt.load {source} : {pointer}")
    operands, types = [places, loaded], [pointer, value]
    if operation == "cas":
        name, operands, types = "tt.atomic_cas", [*operands, loaded], [*types, value]
    else:
        name = f"tt.atomic_rmw {'f' * element.startswith('f')}add,"
    found = body.add(
        f"{name} acq_rel, gpu, {', '.join(operands)} : ({', '.join(types)}) -> {value}"
    )
    body.lines.append(f"tt.store {out}, {found} : {pointer}")
    numbers = {"num-warps": warps, "num-ctas": ctas, "threads-per-warp": threads}
    arguments = dict.fromkeys(("in", "memory", "out"), element)
    return kernel("change", arguments, body, target, numbers)


def gather_kernel(
    operation: str,
    layout: str,
    shape: Sequence[int],
    axis: int,
    element: str,
    result: tuple[str, Sequence[int]],
    *,
    target: str,
    warps: int,
    threads: int = 32,
    ctas: int = 1,
) -> str:
    """Return a module whose kernel ``collect`` gathers elements of a tensor, or counts them.

    Args:
        operation: ``gather`` or ``histogram``.
        layout: the attribute of the tensor.
        shape: its sizes.
        axis: the dimension that the indices are along.
        element: its element type; i32 of what is counted.
        result: attribute and sizes of the indices, or of the counts.
        target: such as ``sm90`` or ``gfx942``.
        warps, threads, ctas: of the kernel: warps of a CTA, threads of a warp.
    """
    body, (attr, sizes) = Body(), result
    source, found = tensor(shape, element, layout), tensor(sizes, element, attr)
    places = pointers(body, shape, layout, "%in", element)
    value = body.add(f"tt.load {places} : {tensor(shape, f'!tt.ptr<{element}>', layout)}")
    if operation == "gather":
        places = pointers(body, sizes, attr, "%at", "i32")
        at = body.add(f"tt.load {places} : {tensor(sizes, '!tt.ptr<i32>', attr)}")
        types = f"({source}, {tensor(sizes, 'i32', attr)}) -> {found}"
        made = body.add(f"tt.gather {value}[{at}] {{axis = {axis} : i32}} : {types}")
    else:
        made = body.add(f"tt.histogram {value} : {source} -> {found}")
    places = pointers(body, sizes, attr, "%out", element)
    body.lines.append(f"tt.store {places}, {made} : {tensor(sizes, f'!tt.ptr<{element}>', attr)}")
    numbers = {"num-warps": warps, "num-ctas": ctas, "threads-per-warp": threads}
    arguments = {"in": element, "at": "i32", "out": element}
    return kernel("collect", arguments, body, target, numbers)


def dot_kernel(
    operands: Sequence[tuple[str, Sequence[int], str]],
    *,
    target: str,
    warps: int,
    threads: int = 32,
) -> str:
    """Return a module whose kernel ``multiply`` multiplies two matrices in registers.

    Args:
        operands: attribute, shape and element type of A, B and the result.
        target: such as ``sm80`` or ``gfx942``.
        warps, threads: of the kernel: warps of a CTA, threads of a warp.
    """
    body, values, types = Body(), [], []
    for base, (attr, shape, element) in zip(("%a", "%b"), operands):
        places = tensor(shape, f"!tt.ptr<{element}>", attr)
        values.append(body.add(f"tt.load {pointers(body, shape, attr, base, element)} : {places}"))
        types.append(tensor(shape, element, attr))
    attr, shape, element = operands[2]
    whole = tensor(shape, element, attr)
    zero = "0" if element.startswith("i") else "0.0"
    values.append(body.add(f"arith.constant dense<{zero}> : {whole}"))
    precision = ", inputPrecision = tf32" * (operands[0][2] == "f32" and target.startswith("sm"))
    found = body.add(f"tt.dot {', '.join(values)}{precision} : {' * '.join(types)} -> {whole}")
    places = pointers(body, shape, attr, "%d", element)
    body.lines.append(f"tt.store {places}, {found} : {tensor(shape, f'!tt.ptr<{element}>', attr)}")
    arguments = dict(zip("abd", (element for _, _, element in operands)))
    numbers = {"num-warps": warps, "num-ctas": 1, "threads-per-warp": threads}
    return kernel("multiply", arguments, body, target, numbers)


def shared_kernel(
    stored: str,
    loaded: str,
    memory: str,
    *,
    shape: Sequence[int],
    element: str,
    target: str,
    warps: int,
    threads: int = 32,
    whole: Sequence[int] | None = None,
    at: Sequence[int] = (),
) -> str:
    """Return a module whose kernel ``through`` stores a tensor to shared memory and loads it.

    Args:
        stored, loaded: attributes of the registers that are stored, and that are loaded.
        memory: attribute of the buffer.
        shape: sizes of the tensor.
        element: its element type.
        target: such as ``sm90`` or ``gfx942``.
        warps, threads: of the kernel: warps of a CTA, threads of a warp.
        whole: sizes of the buffer where the tensor is a part of it.
        at: where the part begins.
    """
    body = Body()
    places = tensor(shape, f"!tt.ptr<{element}>", stored)
    value = body.add(f"tt.load {pointers(body, shape, stored, '%in', element)} : {places}")
    buffer = memdesc(whole or shape, element, memory)
    part, found = buffer, body.add(f"ttg.local_alloc : () -> {buffer}")
    if whole is not None:
        part = memdesc(shape, element, memory, whole)
        offsets = ", ".join(map(str, at))
        found = body.add(f"ttg.memdesc_subslice {found} [{offsets}] : {buffer} -> {part}")
    registers = tensor(shape, element, stored)
    body.lines.append(f"ttg.local_store {value}, {found} : {registers} -> {part}")
    value = body.add(f"ttg.local_load {found} : {part} -> {tensor(shape, element, loaded)}")
    places = pointers(body, shape, loaded, "%out", element)
    pointed = tensor(shape, f"!tt.ptr<{element}>", loaded)
    body.lines.append(f"tt.store {places}, {value} : {pointed}")
    numbers = {"num-warps": warps, "num-ctas": 1, "threads-per-warp": threads}
    return kernel("through", {"in": element, "out": element}, body, target, numbers)


def memdesc(
    shape: Sequence[int], element: str, layout: str, whole: Sequence[int] | None = None
) -> str:
    sizes = "x".join(map(str, (*shape, element)))
    allocation = f", {'x'.join(map(str, whole))}" if whole is not None else ""
    return f"!ttg.memdesc<{sizes}, {layout}, #ttg.shared_memory, mutable{allocation}>"


def kernel(
    name: str, arguments: Mapping[str, str], body: Body, target: str, numbers: Mapping[str, int]
) -> str:
    """Return a module of one kernel, whose arguments are pointers."""
    chip = f"cuda:{target[2:]}" if target.startswith("sm") else f"hip:{target}"
    attributes = ", ".join(f'"ttg.{key}" = {count} : i32' for key, count in numbers.items())
    pointers = ", ".join(
        f"%{argument}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}"
        for argument, element in arguments.items()
    )
    lines = "\n    ".join([*body.lines, "tt.return"])
    return f"""module attributes {{{attributes}, ttg.target = "{chip}"}} {{
  tt.func public @{name}({pointers}) {{
    {lines}
  }}
}}
"""
