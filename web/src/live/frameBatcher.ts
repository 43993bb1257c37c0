/** Batches work by frames: what comes after a pause runs at once, what comes in a rush runs once a frame. */

/** A hidden page draws no frames; it is told at least this often, in milliseconds. */
const atLeastMs = 100

export interface FrameBatcher {
  /** `flush` runs now, unless it has run in this frame already: then in the next one, once, however often it is asked for. */
  request(): void
  stop(): void
}

export function createFrameBatcher(flush: () => void): FrameBatcher {
  let frame: number | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let asked = false
  const clear = () => {
    if (frame !== null) cancelAnimationFrame(frame)
    clearTimeout(timer)
    frame = null
    asked = false
  }
  const run = () => {
    clear()
    frame = requestAnimationFrame(frameCame)
    timer = setTimeout(frameCame, atLeastMs)
    flush()
  }
  const frameCame = () => {
    if (asked) run()
    else clear()
  }
  return {
    request() {
      if (frame === null) run()
      else asked = true
    },
    stop: clear,
  }
}
