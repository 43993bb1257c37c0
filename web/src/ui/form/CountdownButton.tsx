/** A button for an action that the code host asked to delay: it counts down until the action is possible. */
import type { ComponentProps } from 'react'
import { useNow } from '../hooks.ts'
import { elapsed } from '../text/times.ts'
import { Button } from './Button.tsx'

type CountdownButtonProps = ComponentProps<typeof Button> & {
  /** When the wait ends, in milliseconds since 1970; `null` when there is nothing to wait for. */
  readonly until: number | null
}

const texts = { tryIn: (left: string) => `Try again in ${left}` } as const

export function CountdownButton({ until, ...button }: CountdownButtonProps) {
  // A new key for each wait restarts the clock.
  return until === null ? <Button {...button} /> : <Waiting key={until} until={until} {...button} />
}

function Waiting({ until, children, ...button }: CountdownButtonProps & { readonly until: number }) {
  const left = until - useNow(1_000)
  if (left <= 0) return <Button {...button}>{children}</Button>
  return (
    <Button {...button} disabled>
      <span role="timer">{texts.tryIn(elapsed(left + 999))}</span>
    </Button>
  )
}
