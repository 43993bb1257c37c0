/** Stores the drafts of one kind, such as chat messages, by place. A draft is kept until it is sent or until there are too many newer ones. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { readToken } from '../api/tokenStore.ts'
import { useWindowEvent } from '../ui/hooks.ts'
import { recall, remember, type Persisted } from './persisted.ts'

type Drafts = Persisted<Readonly<Record<string, string>>>

/** How many drafts of a kind are kept. */
const maxDrafts = 20
/** How long after the last key a draft is stored, in milliseconds: storing at each key would slow typing. */
const settledMs = 300

type Change = (next: string | ((before: string) => string)) => void

/** The draft at `place`, its setter, and a getter for the current text, since state changes only show at the next render. */
export function useDraft(
  drafts: Drafts,
  place: string,
): readonly [text: string, change: Change, now: () => string] {
  const [text, setText] = useState(() => recall(drafts)[place] ?? '')
  const latest = useRef(text)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const keep = useCallback(() => {
    if (timer.current === undefined) return
    clearTimeout(timer.current)
    timer.current = undefined
    // After signing out, nothing is stored: signing out has removed the person's drafts, which must not come back.
    if (readToken() !== null) storeDraft(drafts, place, latest.current)
  }, [drafts, place])
  const change = useCallback<Change>(
    (next) => {
      latest.current = typeof next === 'string' ? next : next(latest.current)
      setText(latest.current)
      clearTimeout(timer.current)
      timer.current = setTimeout(keep, settledMs)
    },
    [keep],
  )
  useWindowEvent('pagehide', keep)
  useEffect(() => keep, [keep])
  const now = useCallback(() => latest.current, [])
  return [text, change, now]
}

function storeDraft(drafts: Drafts, place: string, text: string): void {
  // The drafts are read again, because another tab may have written drafts meanwhile.
  const { [place]: _before, ...others } = recall(drafts)
  const all = Object.entries(text === '' ? others : { ...others, [place]: text })
  remember(drafts, Object.fromEntries(all.slice(-maxDrafts)))
}
