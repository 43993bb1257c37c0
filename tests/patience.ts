/** How long tests wait for what must come. It ends what hangs; how busy the machine is decides nothing. Milliseconds. */
export const patienceMs = 60_000
/** A test waits several times. Milliseconds. */
export const testTimeoutMs = 300_000
