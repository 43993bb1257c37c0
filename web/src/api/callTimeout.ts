/** The time-out of every call (contract, section 9), in milliseconds. */
export const callTimeoutMs = 30_000
