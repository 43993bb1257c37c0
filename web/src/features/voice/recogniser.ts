/** The browser's speech recognition, behind a smaller interface. */

export interface RecogniserEvents {
  readonly onBegan: () => void
  /** `words` are final; `interim` may still change. */
  readonly onHeard: (words: string, interim: string) => void
  readonly onFailed: (code: string) => void
  /** The recogniser has ended; it sends no further event. */
  readonly onEnded: () => void
}

export interface Recogniser {
  /** Reports the remaining words, and ends. */
  finish(): void
  /** Ends at once; no further event is reported. */
  drop(): void
}

/** A person takes longer than this to say the same again. */
const repeatedWithinMs = 1_000

/** Starts recognition: English, continuous, with interim results (contract, section 9). Throws what the browser throws. */
export type Recognise = (events: RecogniserEvents) => Recogniser

/** The recognition of this browser; `null` if it has none. */
export function browserRecognition(scope: object = window): Recognise | null {
  const Recognition = read(scope, 'SpeechRecognition') ?? read(scope, 'webkitSpeechRecognition')
  if (!isRecognition(Recognition)) return null
  return ({ onBegan, onHeard, onFailed, onEnded }) => {
    const native = new Recognition()
    native.lang = 'en-US'
    native.continuous = true
    native.interimResults = true
    const dropped = new AbortController()
    const until = { signal: dropped.signal }
    native.addEventListener('start', onBegan, until)
    native.addEventListener('end', onEnded, until)
    native.addEventListener('error', ({ error }) => onFailed(error), until)
    // Chrome on Android marks interim results as final, with a confidence of 0, and reports each final result twice at once.
    const isAndroid = navigator.userAgent.includes('Android')
    let last = { text: '', at: 0 }
    const onResult = ({ resultIndex, results }: HeardEvent) => {
      let [words, interim] = ['', '']
      for (const result of [...results].slice(resultIndex)) {
        const text = result[0]?.transcript ?? ''
        if (!result.isFinal || (isAndroid && result[0]?.confidence === 0)) interim += text
        else if (!isAndroid || text.trim() !== last.text || Date.now() - last.at > repeatedWithinMs) {
          words += text
          last = { text: text.trim(), at: Date.now() }
        }
      }
      onHeard(words, interim)
    }
    native.addEventListener('result', onResult, until)
    native.start()
    return {
      finish: () => native.stop(),
      drop: () => {
        dropped.abort()
        native.abort()
      },
    }
  }
}

type HeardResult = ArrayLike<{ readonly transcript: string; readonly confidence: number }> & {
  readonly isFinal: boolean
}

interface HeardEvent {
  readonly resultIndex: number
  readonly results: ArrayLike<HeardResult> & Iterable<HeardResult>
}

interface Until {
  readonly signal: AbortSignal
}

/** The used members of `SpeechRecognition`, which TypeScript's library does not declare. */
interface NativeRecognition {
  lang: string
  continuous: boolean
  interimResults: boolean
  addEventListener(type: 'start' | 'end', listener: () => void, options: Until): void
  addEventListener(type: 'result', listener: (event: HeardEvent) => void, options: Until): void
  addEventListener(type: 'error', listener: (event: { readonly error: string }) => void, options: Until): void
  start(): void
  stop(): void
  abort(): void
}

function isRecognition(value: unknown): value is new () => NativeRecognition {
  return typeof value === 'function'
}

function read(scope: object, name: string): unknown {
  return name in scope ? Reflect.get(scope, name) : undefined
}
