/** What is being written in one of several places of a kind: it outlives the page until it is sent, for the places written in last. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { readToken } from '../api/tokenStore.ts'
import { recall, remember, type Persisted } from './persisted.ts'

type Drafts = Persisted<Readonly<Record<string, string>>>

/** Drafts of a kind that are kept. */
const draftsKept = 20
/** Milliseconds after the last key: nobody types faster for being written down at each. */
const settledMs = 300

type Change = (next: string | ((before: string) => string)) => void

/** The text at `place`, how to change it, and the text of now: changes show only at the next drawing. */
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
    // Who has left has taken their drafts along.
    if (readToken() !== null) keepDraft(drafts, place, latest.current)
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
  useEffect(() => {
    window.addEventListener('pagehide', keep)
    return () => {
      window.removeEventListener('pagehide', keep)
      keep()
    }
  }, [keep])
  const now = useCallback(() => latest.current, [])
  return [text, change, now]
}

function keepDraft(drafts: Drafts, place: string, text: string): void {
  // Read again: another tab may have written meanwhile.
  const { [place]: _before, ...others } = recall(drafts)
  const all = Object.entries(text === '' ? others : { ...others, [place]: text })
  remember(drafts, Object.fromEntries(all.slice(-draftsKept)))
}
