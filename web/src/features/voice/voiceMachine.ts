/**
 * The state machine of a voice recording: the next state and the effects of each event. Pure; `voiceRecording.ts` performs the effects. A browser's
 * recogniser ends by itself after a silence or a minute, and is restarted until the person stops the recording.
 */
import { errorText, texts } from './texts.ts'

export type VoiceState =
  | { readonly kind: 'idle' }
  /** The browser is opening the microphone. */
  | { readonly kind: 'initialising' }
  | {
      readonly kind: 'recording'
      /** Recognised words that may still change. */
      readonly interim: string
      /** Whether words were recognised since the last silence. */
      readonly hasSpoken: boolean
      /** How many times the recogniser has ended since the last words. */
      readonly ends: number
    }
  | {
      readonly kind: 'stopping'
      readonly interim: string
      /** Whether the recording had started before it was stopped. */
      readonly began: boolean
    }

export type VoiceEvent =
  | { readonly type: 'toggled' }
  | { readonly type: 'stopped' }
  | { readonly type: 'began' }
  | { readonly type: 'heard'; readonly words: string; readonly interim: string }
  /** The recogniser must be restarted before it ends by itself. */
  | { readonly type: 'renewalDue' }
  /** The recogniser failed with this code. */
  | { readonly type: 'failed'; readonly code: string }
  | { readonly type: 'ended' }

export type VoiceEffect =
  /** Starts a recogniser. */
  | { readonly do: 'listen' }
  /** Has the recogniser report the remaining words, and end. */
  | { readonly do: 'finish' }
  /** Adds words to the text. */
  | { readonly do: 'write'; readonly words: string }
  /** Releases the microphone and the recogniser. */
  | { readonly do: 'release' }
  | { readonly do: 'say'; readonly kind: 'success' | 'error'; readonly text: string }

interface VoiceStep {
  readonly state: VoiceState
  readonly effects: readonly VoiceEffect[]
}

export const idle: VoiceState = { kind: 'idle' }

/** After this many ends in a row without a word, the recording fails. */
const maxEnds = 5

export function voiceAfter(state: VoiceState, event: VoiceEvent): VoiceStep {
  switch (state.kind) {
    case 'idle':
      return event.type === 'toggled' ? step({ kind: 'initialising' }, { do: 'listen' }) : step(state)
    case 'initialising':
      return initialising(state, event)
    case 'recording':
      return recording(state, event)
    case 'stopping':
      return stopping(state, event)
  }
}

function initialising(state: VoiceState, event: VoiceEvent): VoiceStep {
  switch (event.type) {
    case 'began':
      return step({ kind: 'recording', interim: '', hasSpoken: false, ends: 0 })
    case 'toggled':
    case 'stopped':
      return step({ kind: 'stopping', interim: '', began: false }, { do: 'finish' })
    case 'failed':
      return failed('', event.code)
    case 'ended':
      return failed('', 'no-speech')
    default:
      return step(state)
  }
}

function recording(state: VoiceState & { kind: 'recording' }, event: VoiceEvent): VoiceStep {
  const { interim, hasSpoken, ends } = state
  switch (event.type) {
    case 'heard':
      return step(
        { kind: 'recording', interim: event.interim, hasSpoken: true, ends: 0 },
        ...wordsEffect(event.words),
      )
    case 'renewalDue':
      return step(state, { do: 'finish' })
    case 'toggled':
    case 'stopped':
      return step({ kind: 'stopping', interim, began: true }, { do: 'finish' })
    case 'failed':
      // A silence while the person may be thinking is no failure: the recogniser ends, and is restarted.
      if (event.code === 'no-speech' && hasSpoken) return step({ ...state, hasSpoken: false })
      return failed(interim, event.code)
    case 'ended':
      if (ends + 1 >= maxEnds) return failed(interim, 'no-speech')
      // The recogniser has ended, so its interim words will not become final any more: they are written as they are.
      return step({ ...state, interim: '', ends: ends + 1 }, ...wordsEffect(interim), { do: 'listen' })
    case 'began':
      return step(state)
  }
}

function stopping(state: VoiceState & { kind: 'stopping' }, event: VoiceEvent): VoiceStep {
  const { interim, began } = state
  switch (event.type) {
    case 'heard':
      return step({ ...state, interim: event.interim }, ...wordsEffect(event.words))
    case 'began':
      // The person stopped the recording before it had started, so it must end now.
      return step(state, { do: 'finish' })
    case 'failed':
      return event.code === 'no-speech' || event.code === 'aborted'
        ? step(state)
        : failed(interim, event.code)
    case 'ended':
      return step(idle, ...wordsEffect(interim), { do: 'release' }, ...(began ? [saved] : []))
    default:
      return step(state)
  }
}

const saved = { do: 'say', kind: 'success', text: texts.saved } as const

/** Ends a recording that failed, and keeps the recognised words. */
function failed(interim: string, code: string): VoiceStep {
  const message = { do: 'say', kind: 'error', text: errorText(code) } as const
  return step(idle, ...wordsEffect(interim), { do: 'release' }, message)
}

function wordsEffect(words: string): readonly VoiceEffect[] {
  return words.trim() === '' ? [] : [{ do: 'write', words }]
}

function step(state: VoiceState, ...effects: readonly VoiceEffect[]): VoiceStep {
  return { state, effects }
}
