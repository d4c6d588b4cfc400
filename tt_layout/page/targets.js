// The GPUs that the page knows.

/**
 * Return the GPU of a name, if the page knows it.
 *
 * @param {string} name
 */
function targetNamed(name) {
  return DATA.targets.find((target) => target.name === name);
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
