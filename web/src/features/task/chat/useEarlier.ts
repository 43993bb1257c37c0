/**
 * How much of a long chat is rendered: its end, and more as somebody scrolls back. Entries that are not loaded are read from the server. What is
 * being looked at does not move.
 */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react'
import { useAppDispatch, useAppStore } from '../../../state/hooks.ts'
import { selectOpenTask } from '../taskSlice.ts'
import type { ChatEntry } from './chatTimeline.ts'
import { readEarlier } from './historyApi.ts'

/** How many entries are rendered at first, and how many more each time. */
const step = 60

/** `more`: the server has entries older than all `entries`. */
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
  const start = Math.max(0, reach === null || found === -1 ? entries.length - step : found - reach.above)
  const drawn = start === 0 ? entries : entries.slice(start)
  const first = drawn[0]?.key
  // While somebody reads further up, new entries at the end must not remove any at the top.
  if (!following && reach === null && first !== undefined) setReach({ key: first, above: 0 })

  const hold = () => {
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
    const further = first === undefined ? null : { key: first, above: step }
    if (start > 0 && all === undefined) {
      hold()
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
          hold()
          setReach(further)
        },
      )
      setFailed(!isRead)
      setBusy(false)
    }
    void read()
  }
  return {
    drawn,
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
