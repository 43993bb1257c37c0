/** Measures the loudness of the microphone, with an audio stream of its own. */

export interface Level {
  /** The current loudness of each frequency band, low to high, 0 to 1. */
  read(bands: number): readonly number[]
  /** Releases the microphone, also while it is still being opened. */
  close(): void
}

/** Opens the microphone. If the browser refuses that, the level is silence, and the recogniser reports the reason. */
export function openMicrophoneLevel(): Level {
  let closed = false
  let opened: { analyser: AnalyserNode; end: () => void } | null = null
  void listen().catch(() => undefined)

  async function listen(): Promise<void> {
    // On an insecure origin `mediaDevices` is undefined.
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
      // Voices are in the lower half of the frequencies.
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

/** Whether the level can be measured during recognition. On a phone, only one of level and recognition can use the microphone. */
export function levelFits(): boolean {
  return matchMedia('(pointer: fine)').matches
}
