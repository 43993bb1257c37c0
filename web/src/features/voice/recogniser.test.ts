import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { browserRecognition } from './recogniser.ts'

/** A stand-in for the browser's recognition, with the members that are used. */
class Recognition extends EventTarget {
  static made: Recognition[] = []
  lang = ''
  continuous = false
  interimResults = false
  start = vi.fn<() => void>()
  stop = vi.fn<() => void>()
  abort = vi.fn<() => void>()
  constructor() {
    super()
    Recognition.made.push(this)
  }
}
const result = (transcript: string, isFinal: boolean) => Object.assign([{ transcript }], { isFinal })

beforeEach(() => {
  Recognition.made = []
  vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0' })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

// Holds contract 9.20a.
test('a browser listens in English, continuously, with interim results, and tells final words from others', () => {
  const recognise = browserRecognition({ webkitSpeechRecognition: Recognition })
  const heard: string[] = []
  const recogniser = recognise?.({
    onBegan: () => void heard.push('began'),
    onHeard: (words, interim) => void heard.push(`${words}|${interim}`),
    onFailed: (code) => void heard.push(code),
    onEnded: () => void heard.push('ended'),
  })
  const [native] = Recognition.made
  expect(native).toMatchObject({ lang: 'en-US', continuous: true, interimResults: true })
  expect(native?.start).toHaveBeenCalledOnce()
  native?.dispatchEvent(new Event('start'))
  const results = [result('before', true), result('fix', true), result(' the', false), result(' log', false)]
  native?.dispatchEvent(Object.assign(new Event('result'), { resultIndex: 1, results }))
  native?.dispatchEvent(Object.assign(new Event('error'), { error: 'network' }))
  native?.dispatchEvent(new Event('end'))
  expect(heard).toEqual(['began', 'fix| the log', 'network', 'ended'])
  recogniser?.finish()
  expect(native?.stop).toHaveBeenCalledOnce()
  recogniser?.drop()
  native?.dispatchEvent(new Event('end'))
  expect(native?.abort).toHaveBeenCalledOnce()
  expect(heard).toHaveLength(4)
})

test('on Android, words of which the browser is not sure are not final, and a result that comes twice at once is heard once', () => {
  vi.useFakeTimers()
  vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0 Mobile' })
  const heard: string[] = []
  browserRecognition({ webkitSpeechRecognition: Recognition })?.({
    onBegan: () => undefined,
    onHeard: (words, interim) => void heard.push(`${words}|${interim}`),
    onFailed: () => undefined,
    onEnded: () => undefined,
  })
  const results: unknown[] = []
  const hear = (transcript: string, confidence: number) => {
    results.push(Object.assign([{ transcript, confidence }], { isFinal: true }))
    const event = Object.assign(new Event('result'), { resultIndex: results.length - 1, results })
    Recognition.made[0]?.dispatchEvent(event)
  }
  hear('fix', 0)
  hear('fix the', 0)
  hear('fix the log', 0.9)
  hear('fix the log', 0.9)
  hear(' and test it', 0.8)
  vi.advanceTimersByTime(2_000)
  hear(' and test it', 0.8)
  expect(heard).toEqual(['|fix', '|fix the', 'fix the log|', '|', ' and test it|', ' and test it|'])
})

test('a browser without speech recognition has none', () => {
  expect(browserRecognition({})).toBeNull()
  expect(browserRecognition({ SpeechRecognition: undefined })).toBeNull()
})
