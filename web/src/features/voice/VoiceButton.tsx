/** A button that starts and stops a voice recording, and shows its loudness and its duration. */
import { Mic } from 'lucide-react'
import { Suspense } from 'react'
import { shortcutOf } from '../../actions/Keys.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { useNow } from '../../ui/hooks.ts'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { texts } from './texts.ts'
import type { VoiceControl } from './useVoice.ts'

const LevelBars = optionalPart(async () => (await import('./LevelBars.tsx')).LevelBars)

const labels = {
  idle: texts.start,
  initialising: texts.starting,
  recording: texts.stop,
  stopping: texts.stopping,
} as const

export function VoiceButton({ voice }: { readonly voice: VoiceControl }) {
  const { state, since, level, toggle } = voice
  const recording = state.kind === 'recording'
  return (
    <span className="inline-flex items-center">
      {recording && since !== null && (
        <span className="inline-flex items-center gap-2 pr-1 text-meta text-bad">
          {level !== null && (
            <Suspense>
              <LevelBars level={level} />
            </Suspense>
          )}
          <Seconds since={since} />
        </span>
      )}
      <IconButton
        icon={Mic}
        label={labels[state.kind]}
        {...shortcutOf('toggleVoice')}
        // The button is not busy while the browser asks for permission, so that it can still cancel.
        busy={state.kind === 'stopping'}
        onClick={toggle}
        className={state.kind === 'idle' ? undefined : 'text-bad!'}
      />
      <span role="status" className="sr-only">
        {recording ? texts.recording : state.kind === 'initialising' ? texts.starting : ''}
      </span>
    </span>
  )
}

function Seconds({ since }: { readonly since: number }) {
  const now = useNow(250)
  return (
    <span aria-hidden="true" className="font-mono text-code">
      {texts.time(Math.max(0, Math.floor((now - since) / 1_000)))}
    </span>
  )
}
