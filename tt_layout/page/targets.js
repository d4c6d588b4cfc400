// The GPUs that the page knows; of one like another the page has only what it is called.

for (const target of DATA.targets) {
  Object.assign(target, { ...DATA.targets.find(({ name }) => name === target.like), ...target });
}

/**
 * Return the GPU of a name, if the page knows it.
 *
 * @param {string} name
 */
function targetNamed(name) {
  const exact = DATA.targets.find((target) => target.name === name);
  const isPart = (chip) => (chip.startsWith("sm") ? name === chip : name?.startsWith(chip));
  const row = exact ?? DATA.targets.find(({ chips }) => chips.some(isPart));
  return row && (exact ?? { ...row, name });
}

/**
 * Return a GPU for warps of a size that it may have; as it is for any other.
 *
 * @param {Target} target
 * @param {number} lanes
 */
function ofLanes(target, lanes) {
  return target.otherLanes?.includes(lanes) ? { ...target, lanes } : target;
}

/**
 * Return the target that is meant where none is chosen: the first that has these lanes.
 *
 * @param {Model} [register]
 */
function usualTarget(register) {
  const usual = DATA.usualTargets.map(targetNamed);
  return usual.find(({ lanes }) => lanes === register?.size("lane")) ?? usual[0];
}

/** Return the numbers of banks that GPUs have. */
function bankCounts() {
  return [...new Set(DATA.targets.map(({ banks }) => banks))].sort((a, b) => a - b);
}
