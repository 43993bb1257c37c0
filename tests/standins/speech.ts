/**
 * Speech recognition and a microphone for a browser that has neither: a test decides what is recognised. The functions below run in the page, so they
 * use nothing outside of it.
 */
import type { Page } from 'playwright'
import { note } from '../report/notes.ts'

export interface Speech {
  /** Recognises words; words that are not final may still change. */
  says(words: string, isFinal: boolean): Promise<void>
  fails(code: string): Promise<void>
  /** Ends the recognition, as after a silence. */
  ends(): Promise<void>
  /** How often the recognition was started. */
  begun(): Promise<number>
  /** Whether a microphone is open. */
  listens(): Promise<boolean>
}

/** Adds both to every page that is opened from now on. */
export async function withSpeech(page: Page): Promise<Speech> {
  note('speech recognition', 'a stand-in for webkitSpeechRecognition and the microphone')
  await page.addInitScript(install)
  const tell = (type: string, detail: object = {}) =>
    page.evaluate(
      ([type, detail]) => window.dispatchEvent(new CustomEvent('speech', { detail: { type, ...detail } })),
      [type, detail] as const,
    )
  const ask = (what: string) => page.evaluate((what) => Number(Reflect.get(window, what) ?? 0), what)
  return {
    says: async (words, isFinal) => void (await tell('result', { words, isFinal })),
    fails: async (error) => void (await tell('error', { error })),
    ends: async () => void (await tell('end')),
    begun: () => ask('speechBegun'),
    listens: async () => (await ask('microphonesOpen')) > 0,
  }
}

function install(): void {
  const count = (name: string, by: number) =>
    Reflect.set(window, name, Number(Reflect.get(window, name) ?? 0) + by)

  class Recognition extends EventTarget {
    heard: (event: Event) => void = () => undefined
    start(): void {
      count('speechBegun', 1)
      this.heard = (event) => {
        if (!(event instanceof CustomEvent)) return
        const { type, words, isFinal, error } = event.detail
        const results = [Object.assign([{ transcript: words }], { isFinal })]
        this.dispatchEvent(Object.assign(new Event(type), { resultIndex: 0, results, error }))
        if (type === 'error') this.end()
        if (type === 'end') window.removeEventListener('speech', this.heard)
      }
      window.addEventListener('speech', this.heard)
      setTimeout(() => this.dispatchEvent(new Event('start')))
    }
    stop(): void {
      setTimeout(() => this.end())
    }
    abort(): void {
      this.end()
    }
    end(): void {
      window.removeEventListener('speech', this.heard)
      this.dispatchEvent(new Event('end'))
    }
  }
  Reflect.set(window, 'webkitSpeechRecognition', Recognition)
  Reflect.deleteProperty(window, 'SpeechRecognition')

  Object.defineProperty(navigator, 'mediaDevices', {
    value: {
      getUserMedia: async () => {
        const context = new AudioContext()
        const voice = context.createOscillator()
        const to = context.createMediaStreamDestination()
        voice.type = 'sawtooth'
        voice.connect(to)
        voice.start()
        count('microphonesOpen', 1)
        for (const track of to.stream.getTracks()) {
          const stop = track.stop.bind(track)
          track.stop = () => {
            if (track.readyState === 'live') count('microphonesOpen', -1)
            stop()
          }
        }
        return to.stream
      },
    },
  })
}
