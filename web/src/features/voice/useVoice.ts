/** Voice recording for one text field. It ends, and releases the microphone, when the field is unmounted. */
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useDispatch } from 'react-redux'
import { useAction } from '../../actions/ActionsContext.tsx'
import { notified } from '../notifications/notifications.ts'
import { levelFits, openMicrophoneLevel } from './microphoneLevel.ts'
import { browserRecognition } from './recogniser.ts'
import { createVoice, type VoiceView } from './voiceRecording.ts'

export interface VoiceControl extends VoiceView {
  /** Recognised words that may still change. */
  readonly interim: string
  readonly toggle: () => void
  /** Ends the recording at once and keeps the recognised words. */
  readonly end: () => void
}

/** `onWords` receives words that no longer change, the last ones possibly while the field is being unmounted. */
export function useVoice(onWords: (words: string) => void): VoiceControl {
  const dispatch = useDispatch()
  const [voice] = useState(() =>
    createVoice({
      recognise: browserRecognition(),
      openMicrophoneLevel: () => (levelFits() ? openMicrophoneLevel() : null),
      now: () => Date.now(),
    }),
  )
  useEffect(() => {
    voice.speakTo({ onWords, onNotice: (kind, text) => void dispatch(notified(kind, text)) })
  })
  useEffect(() => () => voice.dispose(), [voice])
  const view = useSyncExternalStore(voice.subscribe, voice.read)
  const { kind } = view.state
  useAction('toggleVoice', voice.toggle)
  useAction('stopVoice', voice.stop, kind === 'recording' || kind === 'initialising')
  return {
    ...view,
    interim: 'interim' in view.state ? view.state.interim : '',
    toggle: voice.toggle,
    end: voice.dispose,
  }
}

/** Adds dictated words to a text, with a space between them where a person would type one. */
export function appendWords(text: string, words: string): string {
  const spoken = words.trim()
  if (spoken === '') return text
  const isAdjacent = text === '' || /[\s([{"'“‘/-]$/.test(text) || /^[.,!?;:)\]}…]/.test(spoken)
  return `${text}${isAdjacent ? '' : ' '}${spoken}`
}
