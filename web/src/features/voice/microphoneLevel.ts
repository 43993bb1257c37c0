/** How loud the microphone is, from a stream of its own. */

export interface Level {
  /** Loudness of each band now, low to high, 0 to 1. */
  read(bands: number): readonly number[]
  /** Gives the microphone back, also one that is only on its way. */
  close(): void
}

/** Opens the microphone; where that is refused the level is silence, and the recogniser says why. */
export function openMicrophoneLevel(): Level {
  let closed = false
  let opened: { analyser: AnalyserNode; end: () => void } | null = null
  void listen().catch(() => undefined)

  async function listen(): Promise<void> {
    // A page that is not served securely has none.
    const stream = await navigator.mediaDevices?.getUserMedia({ audio: true })
    if (stream === undefined) return
    const stop = () => stream.getTracks().forEach((track) => track.stop())
    if (closed) return stop()
    try {
      const context = new AudioContext()
      const analyser = context.createAnalyser()
      analyser.fftSize = 64
      context.createMediaStreamSource(stream).connect(analyser)
      opened = {
        analyser,
        end: () => {
          stop()
          void context.close()
        },
      }
    } catch (fault) {
      stop()
      throw fault
    }
  }

  return {
    read(bands) {
      if (opened === null) return Array<number>(bands).fill(0)
      const bins = new Uint8Array(opened.analyser.frequencyBinCount)
      opened.analyser.getByteFrequencyData(bins)
      // A voice is in the lower half of what a microphone hears.
      const each = Math.floor(bins.length / 2 / bands)
      return Array.from({ length: bands }, (_, band) => {
        const part = bins.slice(band * each, (band + 1) * each)
        return part.reduce((sum, value) => sum + value, 0) / (each * 255)
      })
    },
    close() {
      closed = true
      opened?.end()
      opened = null
    },
  }
}

/** Whether a level can be had beside the recogniser: a phone gives its microphone to one of the two. */
export function levelFits(): boolean {
  return matchMedia('(pointer: fine)').matches
}
