// The multiplication that a layout is the result of, over one instruction's K, worked out from its
// attribute as tt_layout.analyses.multiplications.instruction_operands does; its rules are data, DATA.multiplying.

/**
 * Return the multiplication that a layout is the result of, as dumps embed theirs; null for none.
 *
 * @param operand the element type of A and B; null for the usual one
 */
function multiplicationOf({ attribute, type, release, outs }, operand) {
  try {
    const result = readEncoding(readAttribute(attribute), release);
    const shape = outs.map(([, size]) => size);
    return multiplied(result, shape, parseType(type), operand);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    return null;
  }
}

/** Return the multiplication over the M and N of a result, or of an operand that names its width. */
function multiplied(encoding, shape, { element, bits }, operandElement) {
  const { elements, maxCells, names, strongLines } = DATA.multiplying;
  if (shape.length !== 2 || product(shape) > maxCells) throw new TextError("not one to draw");
  const { parent = encoding, kWidth } = encoding.mnemonic === "dot_op" ? encoding.values : {};
  const ofOperands = elementBits(operandElement ?? elements[element] ?? element);
  const [k, usual] = depthOf(parent, ofOperands);
  const [m, n] = shape;
  const operand = (opIdx, size) => {
    const isInMemory = !(kWidth || usual) || (opIdx && isWgmma(parent));
    return isInMemory ? null : layOperand(opIdx, parent, kWidth || usual, size, ofOperands);
  };
  const parts = [
    matrixPart("A", [m, k], operand(0, [m, k])),
    matrixPart("B", [k, n], operand(1, [k, n])),
    matrixPart("D", shape, placed(parent, { shape, bits }, parent.memory !== REGISTERS)),
  ];
  return {
    title: [parent.text, `${instructionTitle(parent, element, k)}: D = A x B + D of M = ${m}, N = ${n}, K = ${k}`],
    about: [parts.some(isHeld) && names, parts.some(({ step }) => step) && strongLines]
      .filter(Boolean)
      .join("; "),
    colour: hasSeveralWarps(parts[2].layout, shape) ? "warp" : "lane",
    parts,
  };
}

/** Return the name of the instruction with a result, without what follows its shape. */
function instructionTitle({ mnemonic, values, release }, element, k) {
  if (mnemonic === "tensor_memory_encoding") return "tcgen05.mma";
  if (mnemonic === "dpas")
    return `dpas.${values.systolicDepth}x${values.repeatCount}, ${counted(values.executionSize, "column")}`;
  const isHopper = values.versionMajor === 3;
  const shape = mnemonic === "nvidia_mma" ? mmaShape(values, release) : values.instrShape;
  const [m, n] = isHopper || mnemonic !== "nvidia_mma" ? shape : shape.slice(-2);
  if (isHopper) return `wgmma.mma_async.m${4 * m}n${n}k${k}`;
  if (mnemonic === "nvidia_mma") return `mma.sync.m${m}n${n}k${k}`;
  return `${mnemonic === "amd_mfma" ? "v_mfma" : "v_wmma"}_${element}_${m}x${n}x${k}`;
}

function isWgmma({ mnemonic, values }) {
  return mnemonic === "nvidia_mma" && values.versionMajor === 3;
}

/** Return the layout of an operand over its matrix. */
function layOperand(opIdx, parent, kWidth, shape, bits) {
  const values = { opIdx, parent, kWidth };
  const release = DATA.releases.at(-1);
  checkDot(values, release);
  const encoding = { mnemonic: "dot_op", name: "dot_op", memory: REGISTERS, values, release };
  return placed(encoding, { shape, bits });
}

/** Return K of an instruction, and how much of it a lane holds without a gap; 0 for none. */
function depthOf({ mnemonic, values }, bits) {
  const { kBits, registerBits } = DATA.multiplying;
  const { versionMajor, instrShape } = values;
  const inRegister = Math.max(1, Math.floor(registerBits / bits));
  if (mnemonic === "tensor_memory_encoding") return [kBits / bits, 0];
  if (mnemonic === "amd_wmma") return [instrShape[2], wmmaWidth(values, bits)];
  if (mnemonic === "amd_mfma" && instrShape.length > 2) return mfmaDepth(instrShape, bits);
  if (mnemonic === "dpas") return [values.systolicDepth * values.opsPerChan, values.opsPerChan];
  if (versionMajor === 2) return [kBits / bits, inRegister];
  if (versionMajor === 3) return [instrShape[2], inRegister];
  throw new TextError("not the result of a matrix instruction, or its K is not known");
}

function mfmaDepth([m, n, k], bits) {
  const { lanes, widestBits } = DATA.multiplying;
  const blocks = lanes / Math.min(m, n); // that lanes spread K over
  if (k < blocks) throw new TextError("K is less than the blocks that lanes spread it over");
  return [k, Math.min(k / blocks, widestBits / bits)];
}

function wmmaWidth({ version, instrShape: [m, , k] }, bits) {
  const { widestBits, width, scaledWidth } = DATA.multiplying;
  if (version === 1) return k;
  if (version === 3) return Math.min(k / 2, m === 32 ? scaledWidth : width);
  return Math.min(k / 2, widestBits / bits);
}

/** Return a matrix as the file embeds it, as it is drawn; its layout is null where no lane holds it. */
function matrixPart(name, [rows, columns], layout) {
  const { axes, place } = DATA.multiplying.matrices[name];
  const where = layout ? "" : ", in shared memory";
  const title = `${name} (${rows} x ${columns})${where}`;
  const step = isHeld({ layout }) && name !== "D" ? stepAlongK(layout, axes.indexOf("k")) : 0;
  return { name, title, size: [columns, rows], axes, place, isTurned: false, step, layout };
}

function isHeld({ layout }) {
  return layout?.memory === REGISTERS;
}

/** Return the elements along K of which lanes in a row hold all; 0 where that is all of K. */
function stepAlongK({ ins, outs }, across) {
  const at = 1 - across; // the last dimension lies across
  const lanes = vectorsOf({ ins }, "lane").map((vector) => vector[at]);
  const end = lanes.indexOf(0);
  const neighbours = end < 0 ? lanes : lanes.slice(0, end);
  const step = neighbours.length ? 2 * Math.max(...neighbours) : Math.min(...lanes.filter(Boolean));
  return step > 1 && step < outs[at][1] ? step : 0;
}

/** Tell whether some elements are of another warp than the first. */
function hasSeveralWarps(layout, shape) {
  const warps = new Model(layout, usualTarget()).groups.find(({ id }) => id === "warp");
  const first = shape.map(() => 0);
  const ofFirst = show(warps.keysOf(first));
  return shape.some((size, d) => {
    const steps = Array.from({ length: log2(size) }, (_, bit) => 2 ** bit);
    return steps.some((step) => show(warps.keysOf(first.with(d, step))) !== ofFirst);
  });
}
