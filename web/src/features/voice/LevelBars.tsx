/** The loudness of a voice recording, as bars. */
import { useEffect, useRef } from 'react'
import { useMedia } from '../../ui/hooks.ts'
import type { Level } from './microphoneLevel.ts'

const bars = 5
/** The height of a bar in silence, as a fraction of the full height. */
const minHeight = 0.14

/**
 * Shows the level as bars. They are updated without React, because the level changes many times a second. With reduced motion they stand
 * still; the seconds beside them show that the recording runs.
 */
export function LevelBars({ level }: { readonly level: Level }) {
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
