/** A value that the test has set up and that therefore exists. Throws if it is missing. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The test expects something to be there.')
  return value
}
