/**
 * Replaces the class of the SQLite driver, before the driver is loaded. Hooks of the module loader do not reach the bundle, which loads the driver
 * with `require`; this works there, and in each thread that loads the preload.
 */

/** @typedef {import('@photostructure/sqlite').DatabaseSync} DatabaseSync */
/** @typedef {new (...given: any[]) => DatabaseSync} Driver */

/** @param {(driver: Driver) => Driver} patched gives the class that takes the place of the driver's */
export function patchSqlite(patched) {
  const { dlopen } = process
  /** @param {{ exports: Record<string, unknown> }} loaded @param {unknown[]} rest */
  process.dlopen = (loaded, ...rest) => {
    Reflect.apply(dlopen, process, [loaded, ...rest])
    const { DatabaseSync } = loaded.exports
    if (typeof DatabaseSync !== 'function') return
    loaded.exports = { ...loaded.exports, DatabaseSync: patched(/** @type {Driver} */ (DatabaseSync)) }
  }
}
