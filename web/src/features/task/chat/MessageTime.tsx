/** When something was said, in words that age; one clock ticks for the whole chat. */
import { createContext, use } from 'react'
import { messageTime } from '../../../ui/clock.ts'

/** Now, in milliseconds since 1970. */
export const TimeContext = createContext(0)

export function MessageTime({ at }: { readonly at: string }) {
  const now = use(TimeContext)
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {messageTime(at, now)}
    </time>
  )
}
