/** How long tests wait for something to happen, in milliseconds. This ends what hangs; no result depends on how busy the machine is. */
export const patienceMs = 60_000
/** The time limit of a test, which may wait several times, in milliseconds. */
export const testTimeoutMs = 300_000
