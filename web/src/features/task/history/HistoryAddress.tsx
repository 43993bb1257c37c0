/** Keeps the page's address and the shown moment in sync, so that a link to a moment, or a reload, shows that moment. */
import { useEffect, useRef } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router-dom'
import type { HistorySession } from './historySession.ts'
import { useHistory } from './useHistory.ts'

/** How long a moment must be shown before it is put in the address, in ms, because browsers refuse many changes in a row. */
const restMs = 300

export function HistoryAddress({ session }: { readonly session: HistorySession }) {
  const [query] = useSearchParams()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  // A plus sign in a query string is decoded as a space, so the space becomes a plus sign again.
  const address = query.get('at')?.replace(' ', '+') ?? null
  const moment = useHistory(session, ({ replay }) => replay?.moment ?? null)
  const playing = useHistory(session, ({ replay }) => replay?.playing ?? false)
  /** The moment that the address named when it was last read or written here. */
  const named = useRef<string | null>(null)
  const wasReplayed = useRef(false)
  useEffect(() => {
    if (address === named.current) return
    named.current = address
    if (address === null) session.backToLive()
    else session.open(address)
  }, [address, session])
  useEffect(() => {
    const isLeft = moment === null && wasReplayed.current
    wasReplayed.current = moment !== null
    if ((moment === null && !isLeft) || playing || moment === named.current) return undefined
    const timer = setTimeout(
      () => {
        named.current = moment
        void navigate({ pathname, search: moment === null ? '' : `?at=${moment}` }, { replace: true })
      },
      isLeft ? 0 : restMs,
    )
    return () => clearTimeout(timer)
  }, [moment, playing, pathname, navigate])
  return null
}

/** The address that opens a moment of a task, from any page. */
export function linkTo(taskId: string, moment: string): string {
  return `${window.location.origin}/tasks/${encodeURIComponent(taskId)}/history?at=${moment}`
}
