/** Gathers what comes in a rush and hands it on once a frame. */

/** A hidden page draws no frames; it is told at least this often, in milliseconds. */
const atLeastMs = 100

export interface Frames {
  /** `flush` runs in the next frame, once, however often it is asked for. */
  ask(): void
  stop(): void
}

export function createFrames(flush: () => void): Frames {
  let frame: number | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const clear = () => {
    if (frame !== null) cancelAnimationFrame(frame)
    clearTimeout(timer)
    frame = null
  }
  const run = () => {
    clear()
    flush()
  }
  return {
    ask() {
      if (frame !== null) return
      frame = requestAnimationFrame(run)
      timer = setTimeout(run, atLeastMs)
    },
    stop: clear,
  }
}
