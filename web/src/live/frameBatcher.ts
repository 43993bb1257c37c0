/** Batches work per frame: the first request after a pause runs at once, further ones run once per frame. */

/** A hidden page gets no frames, so the work runs at least this often, in milliseconds. */
const maxIntervalMs = 100

export interface FrameBatcher {
  /** Runs `flush` now or, if it has already run in this frame, once in the next frame. */
  request(): void
  stop(): void
}

export function createFrameBatcher(flush: () => void): FrameBatcher {
  let frame: number | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let requested = false
  const clear = () => {
    if (frame !== null) cancelAnimationFrame(frame)
    clearTimeout(timer)
    frame = null
    requested = false
  }
  const run = () => {
    clear()
    frame = requestAnimationFrame(frameCame)
    timer = setTimeout(frameCame, maxIntervalMs)
    flush()
  }
  const frameCame = () => {
    if (requested) run()
    else clear()
  }
  return {
    request() {
      if (frame === null) run()
      else requested = true
    },
    stop: clear,
  }
}
