/** What a test has set up, so that it cannot be missing. Throws if it is. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The test expects something to be there.')
  return value
}
