/** A person: their picture, or their initials when there is none or it does not load. */
import { useState } from 'react'
import { classes } from '../classes.ts'

interface AvatarProps {
  readonly name: string
  readonly src?: string | null | undefined
  readonly size?: 20 | 24
}

export function Avatar({ name, src, size = 24 }: AvatarProps) {
  const [broken, setBroken] = useState(false)
  const box = size === 20 ? 'size-5 text-[8px]' : 'size-6 text-[10px]'
  if (src && !broken) {
    return (
      <img
        src={src}
        alt=""
        referrerPolicy="no-referrer"
        onError={() => setBroken(true)}
        className={classes('flex-none rounded-full border border-line object-cover', box)}
      />
    )
  }
  return (
    <span
      aria-hidden="true"
      className={classes(
        'inline-grid flex-none place-items-center rounded-full border border-line bg-raised leading-none font-semibold text-muted',
        box,
      )}
    >
      {initials(name)}
    </span>
  )
}

/** The first letters of the first and the last word, or the first two letters of a single word. */
function initials(name: string): string {
  const words = name.trim().split(/\s+/).filter(Boolean)
  const first = words.at(0) ?? ''
  const letters = words.length > 1 ? `${first.at(0) ?? ''}${words.at(-1)?.at(0) ?? ''}` : first.slice(0, 2)
  return letters.toUpperCase()
}
