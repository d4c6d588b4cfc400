// Layouts in tensor memory; the tiles are data, DATA.tiles.

const CELL_BITS = 32; // of one column in one row

function checkTensorMemory(values, release) {
  const { CGALayout: cga, twoCTAs, ctaMode } = values;
  checkCga(values, 2, release);
  const mayLackCga = ctaMode !== "default" && !cga.length;
  if (twoCTAs && show(cga[0] ?? []) !== "[1, 0]" && !mayLackCga)
    throw new TextError("twoCTAs = true needs [1, 0] as the first entry of CGALayout");
}

/** Check that an element and its stride fit into a cell. */
function checkCells({ colStride }, release, bits) {
  if (isSince(release, "3.6") && bits * (colStride ?? 1) > CELL_BITS)
    throw new TextError(`an element times colStride must fit ${CELL_BITS} bits`);
  if (release !== "3.5") return;
  if (bits > 16 && colStride === 1)
    throw new TextError(`unpacked = false is for 16 bits at most, got ${counted(bits, "bit")}`);
  if (![16, 32].includes(bits) && colStride === null)
    throw new TextError(`unpacked = true is for 16 or 32 bits, got ${counted(bits, "bit")}`);
}

function fitTensorMemory({ blockM, blockN, CGALayout: cga }, shape, release) {
  const [rows, columns] = shapePerCta(cga, shape);
  if (rows < blockM)
    throw new TextError(`a CTA must hold at least blockM = ${blockM} rows, got ${rows}`);
  if ((cga.some((basis) => basis[1]) || !isSince(release, "3.8")) && columns < blockN)
    throw new TextError(`a CTA must hold at least blockN = ${blockN} columns, got ${columns}`);
}

/** Return a tile, repeated along the columns over the CTA's part of the tensor. */
function layTensorMemory(values, shape, release, bits) {
  const perCta = shapePerCta(values.CGALayout, shape);
  const twoCTAs = values.twoCTAs && isSince(release, "3.8"); // without effect on one until 3.7
  const tile = withOuts(memoryTile({ ...values, twoCTAs }, perCta, bits), dimNames(2));
  const repeats = perCta.map((size, d) => identity(Math.floor(size / tile.outs[d][1]), "col", `dim${d}`));
  const layout = [tile, ...repeats, cgaLayout(values.CGALayout, 2)].reduce(times);
  return withIns(withOuts(layout, dimNames(2)), ["row", "col", "block"]);
}

/** Return the tile of an instruction in a CTA's part of the tensor. */
function memoryTile({ blockM, blockN, colStride, twoCTAs, fp4Padded, ctaMode }, [rows, columns], bits) {
  if (colStride === null && bits === null)
    throw new TextError("unpacked = true needs the element type to know the column stride");
  const tiles = DATA.tiles.tensorMemory;
  const width = Math.min(blockN, columns);
  const sizes = {
    m: blockM,
    n: width,
    half: Math.max(1, width / 2),
    stride: colStride ?? Math.max(1, Math.floor(CELL_BITS / bits)),
    gap: fp4Padded ? 2 : 1,
  };
  const axes = { m: 0, n: 1 };
  if (ctaMode !== "default") return tileLayout(tiles[ctaMode], axes, sizes);
  if (blockM === 128) return tileLayout(tiles.whole, axes, sizes);
  if (twoCTAs) return withLastColumnAsRow(tileLayout(tiles.whole, axes, sizes));
  if (rows > blockM) axes.next = 0;
  else if (columns > width) axes.next = 1;
  return tileLayout(tiles.halved, axes, sizes);
}

function withLastColumnAsRow(tile) {
  const columns = vectorsOf(tile, "col");
  if (!columns.length)
    throw new TextError("blockM = 64 with twoCTAs needs at least 2 columns, got 1");
  const rows = [...vectorsOf(tile, "row"), columns.at(-1)];
  return withVectors(withVectors(tile, "col", columns.slice(0, -1)), "row", rows);
}

/** Return blocks of scales, each stored in all slices. */
function layScales({ CGALayout: cga, blockRepOrder }, shape) {
  const perCta = shapePerCta(cga, shape);
  const tile = tileLayout(DATA.tiles.scales, { m: 0, k: 1 }, {});
  const [blocks, depth] = perCta.map((size, d) => Math.ceil(size / tile.outs[d][1]));
  const pair = Math.min(blocks, 2);
  const repeats = [identity(blocks / pair, "col", "dim0"), identity(depth, "col", "dim1")];
  if (blockRepOrder) repeats.reverse();
  const grown = [tile, identity(pair, "col", "dim0"), ...repeats].reduce(times);
  const clipped = clip(grown, (name) => perCta[Number(name.slice(3))], false);
  const layout = times(clipped, cgaLayout(cga, 2));
  return withIns(withOuts(layout, dimNames(2)), ["row", "col", "block"]);
}
