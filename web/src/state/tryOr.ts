/** The result of `run`, or `otherwise` when it throws: a browser may deny access to its storage, and a storage may be full. */
export function tryOr<Result>(run: () => Result, otherwise: Result): Result {
  try {
    return run()
  } catch {
    return otherwise
  }
}
