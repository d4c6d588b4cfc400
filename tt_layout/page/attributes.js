// Attribute texts as layouts: what can be edited in the page.

const REGISTERS = "registers";
const SHARED = "shared memory";
const TENSOR_MEMORY = "tensor memory";

/**
 * What each encoding is, by mnemonic.
 *
 *   check  throws where its values break a rule of a release that is not data
 *   rank   the number of dimensions that it is for; null for any
 *   fit    throws where it cannot be placed over a shape, for another reason than its rank
 *   lay    its layout over a shape
 */
const KINDS = {
  blocked: { check: checkBlocked, rank: ({ order }) => order.length, lay: layBlocked },
  linear: { check: checkLinear, rank: linearRank, lay: layLinear },
  generic_linear: { check: checkGenericLinear, rank: linearRank, lay: layLinear },
  slice: { check: checkSlice, rank: ({ parent }) => rankOf(parent) - 1, lay: laySlice },
  nvidia_mma: { check: checkMma, rank: mmaRank, lay: layMma },
  amd_mfma: { check: checkMfma, rank: mmaRank, lay: layMfma },
  amd_wmma: { check: checkWmma, rank: wmmaRank, lay: layWmma },
  dpas: { check: checkDpas, rank: ({ repCluster }) => repCluster.length, lay: layDpas },
  subgroup_2d_block: {
    check: (values, release) => checkCga(values, 2, release),
    rank: () => 2,
    lay: layBlockLoad,
  },
  dot_op: { check: checkDot, rank: ({ parent }) => rankOf(parent), lay: layDot },
  swizzled_shared: {
    check: checkSwizzled,
    rank: ({ order }) => order.length,
    fit: fitSwizzled,
    lay: laySwizzled,
  },
  amd_rotating_shared: {
    check: (values, release) => checkSwizzled(values, release, null),
    rank: ({ order }) => order.length,
    lay: (values, shape, release, bits) => laySwizzled(values, shape, release, bits, true),
  },
  padded_shared: { check: checkPadded, rank: paddedRank, fit: fitPadded, lay: layPadded },
  shared_linear: {
    check: checkSharedLinear,
    rank: sharedLinearRank,
    fit: (values, shape) =>
      checkOwnShape("these bases are", sizesOf(sharedLinearLayout(values)), shape),
    lay: sharedLinearLayout,
  },
  nvmma_shared: { check: checkNvmma, rank: nvmmaRank, fit: fitNvmma, lay: layNvmma },
  partitioned_shared: {
    check: checkPartitioned,
    rank: ({ partitionLayout }) => rankOf(partitionLayout),
    fit: fitPartitioned,
    lay: layPartitioned,
  },
  tensor_memory_encoding: {
    check: checkTensorMemory,
    rank: () => 2,
    fit: fitTensorMemory,
    lay: layTensorMemory,
  },
  tensor_memory_scales_encoding: {
    check: (values, release) => checkCga(values, 2, release),
    rank: () => 2,
    lay: layScales,
  },
};

/** Return the rank that an encoding is for; null for any. */
function rankOf({ mnemonic, values, release }) {
  return KINDS[mnemonic].rank(values, release);
}

/** Return the layout of an encoding over a shape that fits. */
function lay({ mnemonic, values, release }, shape, bits) {
  return KINDS[mnemonic].lay(values, shape, release, bits);
}

/** Check that an encoding can be placed over a shape. */
function fit(encoding, shape) {
  const { mnemonic, name, values, release } = encoding;
  const rank = rankOf(encoding);
  if (rank !== null && rank !== shape.length) {
    const dimensions = counted(rank, "dimension");
    throw new TextError(`this ${name} is for ${dimensions}, but the shape is ${show(shape)}`);
  }
  if (!shape.every(isPowerOfTwo))
    throw new TextError(`every dimension must be a power of two, got ${show(shape)}`);
  KINDS[mnemonic].fit?.(values, shape, release);
}

/** Tell whether an attribute can be read here. */
function isReadable(attribute) {
  const name = /^\s*(#[\w.]+)/.exec(attribute)?.[1] ?? "";
  const isLaid = ({ mnemonic }) => Object.hasOwn(KINDS, mnemonic);
  const named = DATA.encodings.filter(isNamed(name));
  return (named.length > 0 && named.every(isLaid)) || DATA.wrappers.includes(name.slice(1));
}

/** Return the layout that an attribute has over a type, with its memory and element width. */
function readLayout(attribute, type, release) {
  const encoding = readEncoding(readAttribute(attribute), release);
  return inItsNames(encoding.form, () => placed(encoding, parseType(type), type.includes("memdesc")));
}

/** Return the layout of an encoding over a type, over one buffer of several. */
function placed(encoding, { shape, bits }, isMemdesc) {
  const { memory, name, mnemonic, values, release } = encoding;
  if (isMemdesc && memory === REGISTERS)
    throw new TextError(`${name} is for tensors in registers; write tensor<...>`);
  if (isMemdesc && bits !== null) checkElement(encoding, bits);
  const hasBuffers = isMultiBuffered(encoding, shape) && (isMemdesc || isOldBuffer(encoding));
  const sizes = hasBuffers ? shape.slice(1) : shape;
  fit(encoding, sizes);
  let layout = lay(encoding, sizes, bits);
  if (mnemonic === "blocked" && !isSince(release, "2.1")) layout = wrapped(layout, values, sizes);
  const padding = values.paddings ?? values.partitionLayout?.values.paddings ?? [];
  return { ...layout, memory, bits, padding };
}

/** Tell whether a shape has one dimension more, an index of buffers of one layout. */
function isMultiBuffered(encoding, shape) {
  const isScales = encoding.mnemonic === "tensor_memory_scales_encoding";
  const rank = isScales && isSince(encoding.release, "3.5") ? null : rankOf(encoding);
  return rank !== null && shape.length === rank + 1;
}

/** Tell whether a tensor may be a buffer in shared memory: until 3.2. */
function isOldBuffer({ memory, release }) {
  return memory === SHARED && !isSince(release, "3.3");
}

/** Check that elements of this many bits can be held. */
function checkElement({ memory, mnemonic, values, release }, bits) {
  if (memory === SHARED && bits % 8 && isSince(release, "3.9"))
    throw new TextError(`elements in memory must be whole bytes, got ${counted(bits, "bit")}`);
  if (mnemonic === "tensor_memory_encoding") checkCells(values, release, bits);
  if (mnemonic === "tensor_memory_scales_encoding" && bits !== 8 && isSince(release, "3.5"))
    throw new TextError(`scales have elements of 8 bits, got ${bits}`);
}

/** Return basis vectors read from a text such as [[0, 1], [0, 2]]. */
function parseBases(key, text, sizes) {
  const reader = new Reader(text.trim() || "[]");
  const bases = reader.list();
  reader.end();
  checkBases(key, bases, sizes.length);
  for (const vector of bases) {
    if (vector.some((step, d) => step >= sizes[d])) {
      throw new TextError(`${show(vector)} lies outside the shape ${show(sizes)}`);
    }
  }
  if (bases.length > 53) throw new TextError("the page shows at most 53 bits");
  return bases;
}

/** Return the attribute that expresses these bases; an empty text if none does. */
function attributeOf(memory, ins) {
  const of = Object.fromEntries(ins);
  const lists = (names) => names.map((name) => `${name} = ${show(of[name] ?? [])}`).join(", ");
  if (memory === REGISTERS) {
    const isPlain = Object.values(of)
      .flat()
      .every((v) => v.filter(Boolean).length <= 1 && v.every((s) => !s || isPowerOfTwo(s)));
    return `#ttg.${isPlain ? "linear" : "generic_linear"}<{${lists(DISTRIBUTED)}}>`;
  }
  if (memory !== SHARED || of.partition) return "";
  const names = of.block?.length ? ["offset", "block"] : ["offset"];
  return `#ttg.shared_linear<{${lists(names)}}, alignment = 16>`;
}
