/**
 * What a voice recording does on what happens to it: the next state, and what is to be done. Pure; `voice.ts` does it.
 * A browser's recogniser ends by itself, after a silence or a minute: it is started again until the person stops it.
 */
import { errorText, texts } from './texts.ts'

export type VoiceState =
  | { readonly kind: 'idle' }
  /** The microphone is asked for. */
  | { readonly kind: 'initialising' }
  | {
      readonly kind: 'recording'
      /** What was heard and may still change. */
      readonly interim: string
      /** Whether words came since the last silence. */
      readonly heard: boolean
      /** How often it ended since words came last. */
      readonly ends: number
    }
  | {
      readonly kind: 'stopping'
      readonly interim: string
      /** Whether there was a recording that is now saved. */
      readonly began: boolean
    }

export type VoiceEvent =
  | { readonly type: 'toggled' }
  | { readonly type: 'stopped' }
  | { readonly type: 'began' }
  | { readonly type: 'heard'; readonly words: string; readonly interim: string }
  /** A recogniser listens for so long at most. */
  | { readonly type: 'renewalDue' }
  /** With the recogniser's own code. */
  | { readonly type: 'failed'; readonly code: string }
  | { readonly type: 'ended' }

export type VoiceEffect =
  /** Begins to recognise. */
  | { readonly do: 'listen' }
  /** Has the recogniser say what it still has, and end. */
  | { readonly do: 'finish' }
  /** Adds words to the text. */
  | { readonly do: 'write'; readonly words: string }
  /** Gives microphone and recogniser back. */
  | { readonly do: 'release' }
  | { readonly do: 'say'; readonly kind: 'success' | 'error'; readonly text: string }

export interface VoiceStep {
  readonly state: VoiceState
  readonly effects: readonly VoiceEffect[]
}

export const idle: VoiceState = { kind: 'idle' }

/** Ends in a row without a word, after which nobody is taken to be speaking. */
const endsAtMost = 5

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
      return step({ kind: 'recording', interim: '', heard: false, ends: 0 })
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
  const { interim, heard, ends } = state
  switch (event.type) {
    case 'heard':
      return step(
        { kind: 'recording', interim: event.interim, heard: true, ends: 0 },
        ...written(event.words),
      )
    case 'renewalDue':
      return step(state, { do: 'finish' })
    case 'toggled':
    case 'stopped':
      return step({ kind: 'stopping', interim, began: true }, { do: 'finish' })
    case 'failed':
      // Whoever has spoken may think for a while: the recogniser ends, and is started again.
      if (event.code === 'no-speech' && heard) return step({ ...state, heard: false })
      return failed(interim, event.code)
    case 'ended':
      if (ends + 1 >= endsAtMost) return failed(interim, 'no-speech')
      // What was not final will not become so any more.
      return step({ ...state, interim: '', ends: ends + 1 }, ...written(interim), { do: 'listen' })
    case 'began':
      return step(state)
  }
}

function stopping(state: VoiceState & { kind: 'stopping' }, event: VoiceEvent): VoiceStep {
  const { interim, began } = state
  switch (event.type) {
    case 'heard':
      return step({ ...state, interim: event.interim }, ...written(event.words))
    case 'began':
      // It was stopped before it had begun: what has begun now must end.
      return step(state, { do: 'finish' })
    case 'failed':
      return event.code === 'no-speech' || event.code === 'aborted'
        ? step(state)
        : failed(interim, event.code)
    case 'ended':
      return step(idle, ...written(interim), { do: 'release' }, ...(began ? [saved] : []))
    default:
      return step(state)
  }
}

const saved = { do: 'say', kind: 'success', text: texts.saved } as const

/** The end of a recording that failed: what was heard stays. */
function failed(interim: string, code: string): VoiceStep {
  return step(
    idle,
    ...written(interim),
    { do: 'release' },
    { do: 'say', kind: 'error', text: errorText(code) },
  )
}

function written(words: string): readonly VoiceEffect[] {
  return words.trim() === '' ? [] : [{ do: 'write', words }]
}

function step(state: VoiceState, ...effects: readonly VoiceEffect[]): VoiceStep {
  return { state, effects }
}
