/** Voice recording: performs the effects of the state machine with the recogniser, the microphone and timers. */
import type { Level } from './microphoneLevel.ts'
import { idle, voiceAfter, type VoiceEffect, type VoiceEvent, type VoiceState } from './voiceMachine.ts'
import type { Recognise, Recogniser } from './recogniser.ts'
import { texts } from './texts.ts'

/** A recogniser is restarted after this time, in milliseconds (contract, section 9). */
const renewalMs = 50_000
/** A recogniser that does not finish within this time counts as ended, in milliseconds. */
const finishTimeoutMs = 3_000

interface Collaborators {
  /** `null` if the browser has no speech recognition. */
  readonly recognise: Recognise | null
  readonly openMicrophoneLevel: () => Level | null
  readonly now: () => number
}

/** Receives the recognised words, and messages for the person. */
interface VoiceListener {
  /** Called with recognised words that no longer change. */
  readonly onWords: (words: string) => void
  readonly onNotice: (kind: 'success' | 'error', text: string) => void
}

export interface VoiceView {
  readonly state: VoiceState
  /** When the recording started, in milliseconds since 1970; `null` without a recording. */
  readonly since: number | null
  readonly level: Level | null
}

export interface Voice {
  /** The current state; the same object until the next event. */
  read(): VoiceView
  subscribe(listener: () => void): () => void
  speakTo(listener: VoiceListener): void
  toggle(): void
  stop(): void
  /** Ends the recording at once and without a message, and keeps the recognised words. */
  dispose(): void
}

const nothing: VoiceView = { state: idle, since: null, level: null }

export function createVoice(collaborators: Collaborators): Voice {
  const recording: Recording = {
    ...collaborators,
    view: nothing,
    listener: { onWords: () => undefined, onNotice: () => undefined },
    recogniser: null,
    renewal: undefined,
    ending: undefined,
    viewers: new Set(),
  }
  return {
    read: () => recording.view,
    subscribe(changed) {
      recording.viewers.add(changed)
      return () => recording.viewers.delete(changed)
    },
    speakTo(next) {
      recording.listener = next
    },
    toggle() {
      if (recording.recognise === null) return recording.listener.onNotice('error', texts.unsupported)
      happen(recording, { type: 'toggled' })
    },
    stop: () => happen(recording, { type: 'stopped' }),
    dispose() {
      const { state } = recording.view
      if (state.kind === 'idle') return
      if ('interim' in state && state.interim.trim() !== '') recording.listener.onWords(state.interim)
      release(recording)
    },
  }
}

interface Recording extends Collaborators {
  view: VoiceView
  listener: VoiceListener
  recogniser: Recogniser | null
  renewal: ReturnType<typeof setTimeout> | undefined
  ending: ReturnType<typeof setTimeout> | undefined
  readonly viewers: Set<() => void>
}

function change(recording: Recording, next: VoiceView): void {
  recording.view = next
  for (const changed of recording.viewers) changed()
}

function happen(recording: Recording, event: VoiceEvent): void {
  const { view } = recording
  const { state, effects } = voiceAfter(view.state, event)
  const isRecording = state.kind === 'recording'
  if (event.type === 'began' && isRecording) {
    clearTimeout(recording.renewal)
    recording.renewal = setTimeout(() => happen(recording, { type: 'renewalDue' }), renewalMs)
  }
  change(recording, {
    state,
    since: isRecording ? (view.since ?? recording.now()) : null,
    level: isRecording ? (view.level ?? recording.openMicrophoneLevel()) : view.level,
  })
  for (const effect of effects) perform(recording, effect)
}

function perform(recording: Recording, effect: VoiceEffect): void {
  switch (effect.do) {
    case 'listen':
      return listen(recording)
    case 'finish':
      clearTimeout(recording.ending)
      recording.ending = setTimeout(() => ended(recording, recording.recogniser), finishTimeoutMs)
      return recording.recogniser?.finish()
    case 'write':
      return recording.listener.onWords(effect.words)
    case 'release':
      return release(recording)
    case 'say':
      return recording.listener.onNotice(effect.kind, effect.text)
  }
}

function listen(recording: Recording): void {
  clearTimeout(recording.ending)
  recording.recogniser?.drop()
  recording.recogniser = null
  if (recording.recognise === null) return
  // Events of a dropped recogniser are ignored.
  let mine: Recogniser | null = null
  const heardOf = (event: VoiceEvent) => {
    if (mine === null || mine === recording.recogniser) happen(recording, event)
  }
  try {
    mine = recording.recognise({
      onBegan: () => heardOf({ type: 'began' }),
      onHeard: (words, interim) => heardOf({ type: 'heard', words, interim }),
      onFailed: (code) => heardOf({ type: 'failed', code }),
      onEnded: () => ended(recording, mine),
    })
    recording.recogniser = mine
  } catch (fault) {
    happen(recording, { type: 'failed', code: fault instanceof Error ? fault.name : 'unknown' })
  }
}

function ended(recording: Recording, which: Recogniser | null): void {
  if (which !== recording.recogniser) return
  clearTimeout(recording.ending)
  clearTimeout(recording.renewal)
  happen(recording, { type: 'ended' })
}

function release(recording: Recording): void {
  clearTimeout(recording.ending)
  clearTimeout(recording.renewal)
  recording.recogniser?.drop()
  recording.recogniser = null
  recording.view.level?.close()
  change(recording, nothing)
}
