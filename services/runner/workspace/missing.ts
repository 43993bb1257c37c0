/** Tells what is missing from what could not be read: only the first counts as nothing. */

/** For `catch`: `undefined` where there is no such file or folder. Throws every other error again. */
export function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
