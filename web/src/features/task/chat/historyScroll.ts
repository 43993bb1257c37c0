/** The effects of scrolling in the chat: going back renders and loads earlier entries, and new messages are counted while the end is out of sight. */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react'
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import { useAppDispatch, useAppStore } from '../../../state/hooks.ts'
import { selectOpenTask, earlierLoaded, type OpenTask } from '../taskSlice.ts'
import type { ChatEntry } from './chatTimeline.ts'
import { taskApi } from '../taskApi.ts'

/** How many entries are rendered at first, and how many more on each step back. */
const pageSize = 60

/**
 * Renders only the end of a long chat, and more as somebody scrolls back, without moving what they look at. `more` says whether the server has
 * entries older than all `entries`.
 */
export function useEarlier(
  entries: readonly ChatEntry[],
  more: boolean,
  box: RefObject<HTMLElement | null>,
  following: boolean,
) {
  const store = useAppStore()
  const dispatch = useAppDispatch()
  // An entry, and how many entries above it are rendered; `null` while only the latest entries are rendered.
  const [reach, setReach] = useState<{ readonly key: string; readonly above: number } | null>(null)
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState(false)
  /** The distance from the top of the view to the end of the chat, in pixels, while entries are inserted above. */
  const toEnd = useRef<number | null>(null)

  const found = reach === null ? -1 : entries.findIndex(({ key }) => key === reach.key)
  const start = Math.max(0, reach === null || found === -1 ? entries.length - pageSize : found - reach.above)
  const rendered = start === 0 ? entries : entries.slice(start)
  const first = rendered[0]?.key
  // While somebody reads further up, new entries at the end must not push the first rendered entries out of the page.
  if (!following && reach === null && first !== undefined) setReach({ key: first, above: 0 })

  const keepPosition = () => {
    if (box.current !== null) toEnd.current = box.current.scrollHeight - box.current.scrollTop
  }
  useLayoutEffect(() => {
    if (toEnd.current === null || box.current === null) return
    scrollTo(box.current, toEnd.current)
    toEnd.current = null
  })

  /** Renders more loaded entries or, once all are rendered, loads more. With `all`, for a search, it only loads more messages. */
  const show = (all?: 'all') => {
    if (busy) return
    const further = first === undefined ? null : { key: first, above: pageSize }
    if (start > 0 && all === undefined) {
      keepPosition()
      return setReach(further)
    }
    if (!more) return
    setBusy(true)
    const read = async () => {
      const isRead = await readEarlier(
        selectOpenTask(store.getState()),
        dispatch,
        all === undefined ? 'both' : 'messages',
        () => {
          if (all !== undefined) return
          keepPosition()
          setReach(further)
        },
      )
      setFailed(!isRead)
      setBusy(false)
    }
    void read()
  }
  return {
    rendered,
    more: start > 0 || more,
    busy,
    failed,
    show,
  }
}

/** Scrolls so that the end of the chat is `toEnd` pixels below the top of the view. */
function scrollTo(view: HTMLElement, toEnd: number): void {
  view.scrollTop = view.scrollHeight - toEnd
}

/** Counts the messages that have arrived since somebody scrolled away from the end of the chat. */
export function useUnread(entries: readonly ChatEntry[], following: boolean): number {
  // The sort key of the last message when the end of the chat was left; `null` while the end is followed.
  const [leftAt, setLeftAt] = useState<string | null>(null)
  if (following && leftAt !== null) setLeftAt(null)
  if (!following && leftAt === null) setLeftAt(endOf(entries))
  return following || leftAt === null ? 0 : cameAfter(entries, leftAt)
}

/** The sort key of the last message; `''` without messages. */
export function endOf(entries: readonly ChatEntry[]): string {
  return entries.reduce((end, entry) => ordersOf(entry).reduce((a, b) => (a > b ? a : b), end), '')
}

/** The number of messages after the sort key `place`; earlier messages that are loaded meanwhile do not count. */
export function cameAfter(entries: readonly ChatEntry[], place: string): number {
  return entries.reduce((count, entry) => count + ordersOf(entry).filter((order) => order > place).length, 0)
}

/** The sort keys of an entry's recorded messages; text that is still being written or sent does not count. */
function ordersOf(entry: ChatEntry): readonly string[] {
  switch (entry.kind) {
    case 'message':
      return [entry.message.order]
    case 'turn':
      return entry.parts.flatMap((part) => (part.kind === 'text' ? [part.order] : []))
    case 'sent':
      return []
  }
}

/** Page sizes when going back: messages and tool calls, or only messages in larger pages for a search. */
const pages = { both: 500, messages: 2_000 } as const

/**
 * Loads one more page of messages and tool calls, or of messages alone; returns whether that succeeded. Calls `beforeRender` just before the new
 * entries are shown.
 */
async function readEarlier(
  { taskId, chat, logs, seen }: Pick<OpenTask, 'taskId' | 'chat' | 'logs' | 'seen'>,
  dispatch: ThunkDispatch<unknown, unknown, UnknownAction>,
  what: keyof typeof pages,
  beforeRender: () => void,
): Promise<boolean> {
  if (taskId === null) return false
  const limit = pages[what]
  /** `minPosition` makes the answer include everything that the page already knows. */
  const queryOf = ({ before }: Pick<OpenTask['chat' | 'logs'], 'before'>) =>
    before === null ? null : { taskId, before, limit, minPosition: seen ?? undefined }
  const fresh = { forceRefetch: true, subscribe: false } as const
  const [messagesBefore, logsBefore] = [queryOf(chat), what === 'both' ? queryOf(logs) : null]
  const [earlierChat, earlierLogs] = await Promise.all([
    messagesBefore && dispatch(taskApi.endpoints.chat.initiate(messagesBefore, fresh)),
    logsBefore && dispatch(taskApi.endpoints.commands.initiate(logsBefore, fresh)),
  ])
  if (earlierChat?.isError || earlierLogs?.isError) return false
  const messages = earlierChat?.data?.messages ?? []
  const calls = earlierLogs?.data?.logs ?? []
  beforeRender()
  dispatch(
    earlierLoaded({
      taskId,
      messages,
      logs: calls,
      more: {
        chat: messages.length >= limit,
        logs: logsBefore === null ? logs.before !== null : calls.length >= limit,
      },
    }),
  )
  return true
}
