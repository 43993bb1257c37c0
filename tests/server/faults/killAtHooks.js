/** Gives the product the killing driver instead of the real driver, and the killing driver the real one. */

const killing = new URL('killingSqlite.js', import.meta.url).href

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, next) {
  return specifier === '@photostructure/sqlite' && context.parentURL !== killing
    ? { url: killing, shortCircuit: true }
    : next(specifier, context)
}
