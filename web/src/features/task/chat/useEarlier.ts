/**
 * How much of a long chat is drawn: its end, and more of it as somebody goes back. What is not known yet is read from the
 * server. What is looked at stays where it is.
 */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react'
import { useAppDispatch, useAppStore } from '../../../state/hooks.ts'
import { selectOpenTask } from '../taskSlice.ts'
import { readEarlier } from './historyApi.ts'

interface Keyed {
  readonly key: string
}

interface Earlier<Entry> {
  /** The entries that are drawn. */
  readonly drawn: readonly Entry[]
  /** There are more before them. */
  readonly more: boolean
  readonly busy: boolean
  /** Older ones could not be read. */
  readonly failed: boolean
  /** Draws more; `all`: reads what the server has, too, whatever is not drawn yet. */
  readonly show: (all?: 'all') => void
}

/** Entries that are drawn at first, and more each time. */
const step = 60

/** `more`: the server has older ones than all `entries`. */
export function useEarlier<Entry extends Keyed>(
  entries: readonly Entry[],
  more: boolean,
  box: RefObject<HTMLElement | null>,
  following: boolean,
): Earlier<Entry> {
  const store = useAppStore()
  const dispatch = useAppDispatch()
  // How many are drawn before a certain one; without one the last of them are, however many come.
  const [reach, setReach] = useState<{ readonly key: string; readonly above: number } | null>(null)
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState(false)
  /** Pixels from what is looked at to the end, while entries are put before it. */
  const toEnd = useRef<number | null>(null)

  const found = reach === null ? -1 : entries.findIndex(({ key }) => key === reach.key)
  const start = Math.max(0, reach === null || found === -1 ? entries.length - step : found - reach.above)
  const drawn = start === 0 ? entries : entries.slice(start)
  const first = drawn[0]?.key
  // While somebody reads further up, what comes at the end must take nothing away at the top.
  if (!following && reach === null && first !== undefined) setReach({ key: first, above: 0 })

  const hold = () => {
    if (box.current !== null) toEnd.current = box.current.scrollHeight - box.current.scrollTop
  }
  useLayoutEffect(() => {
    if (toEnd.current === null || box.current === null) return
    scrollTo(box.current, toEnd.current)
    toEnd.current = null
  })

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
      const came = await readEarlier(
        selectOpenTask(store.getState()),
        dispatch,
        all === undefined ? 'both' : 'messages',
        () => {
          if (all !== undefined) return
          hold()
          setReach(further)
        },
      )
      setFailed(!came)
      setBusy(false)
    }
    void read()
  }
  return { drawn, more: start > 0 || more, busy, failed, show }
}

/** Shows the place that is so many pixels from the end. */
function scrollTo(view: HTMLElement, toEnd: number): void {
  view.scrollTop = view.scrollHeight - toEnd
}
