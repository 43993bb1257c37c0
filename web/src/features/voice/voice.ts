/** One voice recording after another: does what the machine says, with the recogniser, the microphone and the clock. */
import type { Level } from './microphoneLevel.ts'
import { idle, voiceAfter, type VoiceEffect, type VoiceEvent, type VoiceState } from './voiceMachine.ts'
import type { Recognise, Recogniser } from './recogniser.ts'
import { texts } from './texts.ts'

/** A recogniser is begun anew after so many milliseconds (section 9). */
const renewalMs = 50_000
/** A recogniser that was asked to end has ended after so many milliseconds. */
const endMs = 3_000

interface Collaborators {
  /** `null` where the browser cannot. */
  readonly recognise: Recognise | null
  readonly openMicrophoneLevel: () => Level | null
  readonly now: () => number
}

/** Who is given what was heard, and told how it went. */
export interface VoiceListener {
  /** Words that are final. */
  readonly onWords: (words: string) => void
  readonly onSaid: (kind: 'success' | 'error', text: string) => void
}

export interface VoiceView {
  readonly state: VoiceState
  /** When the recording began, in milliseconds since 1970; `null` while there is none. */
  readonly since: number | null
  readonly level: Level | null
}

export interface Voice {
  /** The same object until something changes. */
  read(): VoiceView
  subscribe(listener: () => void): () => void
  /** From now on words are for this listener. */
  speakTo(listener: VoiceListener): void
  toggle(): void
  stop(): void
  /** Ends at once, says nothing, and keeps what was heard. */
  dispose(): void
}

const nothing: VoiceView = { state: idle, since: null, level: null }

export function createVoice({ recognise, openMicrophoneLevel, now }: Collaborators): Voice {
  let view = nothing
  let listener: VoiceListener = { onWords: () => undefined, onSaid: () => undefined }
  let recogniser: Recogniser | null = null
  let renewal: ReturnType<typeof setTimeout> | undefined
  let ending: ReturnType<typeof setTimeout> | undefined
  const viewers = new Set<() => void>()

  function change(next: VoiceView): void {
    view = next
    for (const changed of viewers) changed()
  }

  function happen(event: VoiceEvent): void {
    const { state, effects } = voiceAfter(view.state, event)
    const recording = state.kind === 'recording'
    if (event.type === 'began' && recording) {
      clearTimeout(renewal)
      renewal = setTimeout(() => happen({ type: 'renewalDue' }), renewalMs)
    }
    change({
      state,
      since: recording ? (view.since ?? now()) : null,
      level: recording ? (view.level ?? openMicrophoneLevel()) : view.level,
    })
    for (const effect of effects) perform(effect)
  }

  function perform(effect: VoiceEffect): void {
    switch (effect.do) {
      case 'listen':
        return listen()
      case 'finish':
        clearTimeout(ending)
        ending = setTimeout(() => ended(recogniser), endMs)
        return recogniser?.finish()
      case 'write':
        return listener.onWords(effect.words)
      case 'release':
        return release()
      case 'say':
        return listener.onSaid(effect.kind, effect.text)
    }
  }

  function listen(): void {
    clearTimeout(ending)
    recogniser?.drop()
    recogniser = null
    if (recognise === null) return
    // A recogniser that was dropped says nothing more.
    let mine: Recogniser | null = null
    const heardOf = (event: VoiceEvent) => {
      if (mine === null || mine === recogniser) happen(event)
    }
    try {
      mine = recognise({
        onBegan: () => heardOf({ type: 'began' }),
        onHeard: (words, interim) => heardOf({ type: 'heard', words, interim }),
        onFailed: (code) => heardOf({ type: 'failed', code }),
        onEnded: () => ended(mine),
      })
      recogniser = mine
    } catch (fault) {
      happen({ type: 'failed', code: fault instanceof Error ? fault.name : 'unknown' })
    }
  }

  function ended(which: Recogniser | null): void {
    if (which !== recogniser) return
    clearTimeout(ending)
    clearTimeout(renewal)
    happen({ type: 'ended' })
  }

  function release(): void {
    clearTimeout(ending)
    clearTimeout(renewal)
    recogniser?.drop()
    recogniser = null
    view.level?.close()
    change(nothing)
  }

  return {
    read: () => view,
    subscribe(changed) {
      viewers.add(changed)
      return () => viewers.delete(changed)
    },
    speakTo(next) {
      listener = next
    },
    toggle() {
      if (recognise === null) return listener.onSaid('error', texts.unsupported)
      happen({ type: 'toggled' })
    },
    stop: () => happen({ type: 'stopped' }),
    dispose() {
      const { state } = view
      if (state.kind === 'idle') return
      if ('interim' in state && state.interim.trim() !== '') listener.onWords(state.interim)
      release()
    },
  }
}
