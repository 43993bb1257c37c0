/** What is being written in the chat of a task: it outlives the page until it is sent, for the tasks written in last. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { readToken } from '../../../../api/tokenStore.ts'
import { chatDrafts, recall, remember } from '../../../../state/persisted.ts'

/** Tasks whose drafts are kept. */
const tasksKept = 20
/** Milliseconds after the last key: nobody types faster for being written down at each. */
const settledMs = 300

type Change = (next: string | ((before: string) => string)) => void

/** The text, how to change it, and the text of now: changes show only at the next drawing. */
export function useChatDraft(taskId: string): readonly [text: string, change: Change, now: () => string] {
  const [text, setText] = useState(() => recall(chatDrafts)[taskId] ?? '')
  const latest = useRef(text)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const keep = useCallback(() => {
    if (timer.current === undefined) return
    clearTimeout(timer.current)
    timer.current = undefined
    // Who has left has taken their drafts along.
    if (readToken() !== null) keepDraft(taskId, latest.current)
  }, [taskId])
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

function keepDraft(taskId: string, text: string): void {
  // Read anew: another tab may have written meanwhile.
  const { [taskId]: _before, ...others } = recall(chatDrafts)
  const drafts = Object.entries(text === '' ? others : { ...others, [taskId]: text })
  remember(chatDrafts, Object.fromEntries(drafts.slice(-tasksKept)))
}
