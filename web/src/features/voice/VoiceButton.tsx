/** A button that starts and stops a voice recording, and shows its loudness and its duration. */
import { Mic } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { shortcutOf } from '../../actions/Keys.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { useMedia, useNow } from '../../ui/hooks.ts'
import type { Level } from './microphoneLevel.ts'
import { texts } from './texts.ts'
import type { VoiceControl } from './useVoice.ts'

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
          {level !== null && <LevelBars level={level} />}
          <Seconds since={since} />
        </span>
      )}
      <IconButton
        icon={Mic}
        label={labels[state.kind]}
        {...shortcutOf('toggleVoice')}
        // While the browser asks for permission, the button can still cancel.
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

const bars = 5
/** The height of a bar in silence, as a fraction. */
const minHeight = 0.14

/** Updated without React, because it changes many times a second. With reduced motion nothing moves; the seconds show that it records. */
function LevelBars({ level }: { readonly level: Level }) {
  const box = useRef<HTMLSpanElement>(null)
  const still = useMedia('(prefers-reduced-motion: reduce)')
  useEffect(() => {
    if (still) return undefined
    let frame = 0
    const draw = () => {
      const loud = level.read(bars)
      for (const [index, bar] of [...(box.current?.children ?? [])].entries()) {
        if (bar instanceof HTMLElement)
          bar.style.transform = `scaleY(${Math.max(minHeight, Math.min(1, (loud[index] ?? 0) * 1.6))})`
      }
      frame = requestAnimationFrame(draw)
    }
    frame = requestAnimationFrame(draw)
    return () => cancelAnimationFrame(frame)
  }, [level, still])
  return (
    <span ref={box} aria-hidden="true" className="flex h-4 items-center gap-0.5">
      {Array.from({ length: bars }, (_, index) => (
        <span
          key={index}
          className="h-full w-0.75 origin-center rounded-badge bg-bad"
          style={{ transform: `scaleY(${still ? 0.4 : minHeight})` }}
        />
      ))}
    </span>
  )
}
