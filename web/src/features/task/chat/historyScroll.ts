/** What scrolling in the chat does: going back renders and loads earlier entries, and new messages are counted while the end is out of sight. */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react'
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import { useAppDispatch, useAppStore } from '../../../state/hooks.ts'
import { selectOpenTask, earlierLoaded, type OpenTask } from '../taskSlice.ts'
import type { ChatEntry } from './chatTimeline.ts'
import { taskApi } from '../taskApi.ts'

/** How many entries are rendered at first, and how many more each time. */
const pageSize = 60

/**
 * How much of a long chat is rendered: its end, and more as somebody scrolls back, without moving what they look at. `more`: the server has entries
 * older than all `entries`.
 */
export function useEarlier(
  entries: readonly ChatEntry[],
  more: boolean,
  box: RefObject<HTMLElement | null>,
  following: boolean,
) {
  const store = useAppStore()
  const dispatch = useAppDispatch()
  // How many are rendered before a certain entry; without one, only the last ones are.
  const [reach, setReach] = useState<{ readonly key: string; readonly above: number } | null>(null)
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState(false)
  /** Distance in pixels from what is being looked at to the end, while entries are inserted before it. */
  const toEnd = useRef<number | null>(null)

  const found = reach === null ? -1 : entries.findIndex(({ key }) => key === reach.key)
  const start = Math.max(0, reach === null || found === -1 ? entries.length - pageSize : found - reach.above)
  const rendered = start === 0 ? entries : entries.slice(start)
  const first = rendered[0]?.key
  // While somebody reads further up, new entries at the end must not remove any at the top.
  if (!following && reach === null && first !== undefined) setReach({ key: first, above: 0 })

  const keepPosition = () => {
    if (box.current !== null) toEnd.current = box.current.scrollHeight - box.current.scrollTop
  }
  useLayoutEffect(() => {
    if (toEnd.current === null || box.current === null) return
    scrollTo(box.current, toEnd.current)
    toEnd.current = null
  })

  /** Renders more; `all` also loads from the server, even if not everything is rendered yet. */
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

/** Scrolls to this distance from the end. */
function scrollTo(view: HTMLElement, toEnd: number): void {
  view.scrollTop = view.scrollHeight - toEnd
}

/** Counts the messages since somebody scrolled away from the end of the chat. */
export function useUnread(entries: readonly ChatEntry[], following: boolean): number {
  // The end of the chat when it was left; `null` while it is followed.
  const [leftAt, setLeftAt] = useState<string | null>(null)
  if (following && leftAt !== null) setLeftAt(null)
  if (!following && leftAt === null) setLeftAt(endOf(entries))
  return following || leftAt === null ? 0 : cameAfter(entries, leftAt)
}

/** The order of the last message. */
export function endOf(entries: readonly ChatEntry[]): string {
  return entries.reduce((end, entry) => ordersOf(entry).reduce((a, b) => (a > b ? a : b), end), '')
}

/** The number of messages after a place; earlier ones that are loaded meanwhile do not count. */
export function cameAfter(entries: readonly ChatEntry[], place: string): number {
  return entries.reduce((count, entry) => count + ordersOf(entry).filter((order) => order > place).length, 0)
}

/** The orders of an entry's messages; tool calls do not count. */
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

/** Loads one more page of both, or of messages alone; returns whether it succeeded. `beforeShown` is called just before they are shown. */
async function readEarlier(
  { taskId, chat, logs, seen }: Pick<OpenTask, 'taskId' | 'chat' | 'logs' | 'seen'>,
  dispatch: ThunkDispatch<unknown, unknown, UnknownAction>,
  what: keyof typeof pages,
  beforeRender: () => void,
): Promise<boolean> {
  if (taskId === null) return false
  const limit = pages[what]
  /** The answer includes everything that the page already knows. */
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
