/** The state of the live connection: a dot and a word in the top bar, and a bar below it while the connection is lost. */
import { useSelector } from 'react-redux'
import { useEffect, useState } from 'react'
import { type ConnectionState, selectConnection, selectLost } from '../../live/connection.ts'
import { selectWaiting } from '../../live/outbox.ts'
import { classes } from '../../ui/classes.ts'
import { clockTime } from '../../ui/text/times.ts'

export function ConnectionPill() {
  const waiting = useSelector(selectWaiting).length
  const { label, colour } = lookOf(useSelector(selectConnection), waiting)
  return (
    <span
      role="status"
      className="inline-flex h-7 items-center gap-1.5 px-2 text-meta font-medium whitespace-nowrap text-muted"
    >
      <span className={classes('size-2 flex-none rounded-full bg-current', colour)} aria-hidden="true" />
      {label}
    </span>
  )
}

const connecting = { label: 'Connecting', colour: 'text-control' }

function lookOf({ status, since, behind, quiet }: ConnectionState, waiting: number) {
  if (status === 'error') return { label: 'Error', colour: 'text-bad' }
  // While `since` is `null`, there was no attempt yet, and so no connection that could be lost.
  if (status === 'connecting' || since === null || (status === 'connected' && quiet)) return connecting
  if (status === 'disconnected')
    return { label: waiting > 0 ? `Offline, ${waiting} queued` : 'Offline', colour: 'text-warn' }
  return behind > 0
    ? { label: `Catching up ${behind}`, colour: 'text-run' }
    : { label: 'Live', colour: 'text-ok' }
}

/** How long a loss must last before the bar appears, in milliseconds. The bar moves the page, and a shorter loss is not worth that. */
const graceMs = 3_000

/** A bar below the top bar while the connection is lost, with the time of the loss or the reason, so that nobody mistakes old data for current. */
export function OfflineBar() {
  const { since, refusal } = useSelector(selectConnection)
  const lost = useSelector(selectLost) ? since : null
  // The start of the latest loss that outlasted the grace period; `null` before the first one.
  const [overdue, setOverdue] = useState<number | null>(null)
  useEffect(() => {
    if (lost === null) return
    const timer = setTimeout(() => setOverdue(lost), Math.max(0, lost + graceMs - Date.now()))
    return () => clearTimeout(timer)
  }, [lost])
  if (lost === null || overdue !== lost) return null
  return (
    <p className="flex min-h-8 flex-none items-center border-b border-line bg-warn-bg px-4 py-1 text-meta text-warn">
      {refusal ?? `Offline since ${clockTime(new Date(lost).toISOString())}.`} Showing the last known state.
    </p>
  )
}
