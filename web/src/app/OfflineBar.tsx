/** Under the top bar while the connection is lost: since when, so that nobody takes old words for new ones. */
import { useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import { selectConnection, selectLost } from '../live/connection.ts'
import { clockTime } from '../ui/clock.ts'

/** A blip shorter than this is not worth a bar that moves the page, in milliseconds. */
const graceMs = 3_000

export function OfflineBar() {
  const { since } = useSelector(selectConnection)
  const lost = useSelector(selectLost) ? since : null
  // The time at which the grace of a loss was over; of an earlier loss it says nothing.
  const [overdue, setOverdue] = useState<number | null>(null)
  useEffect(() => {
    if (lost === null) return
    const timer = setTimeout(() => setOverdue(lost), Math.max(0, lost + graceMs - Date.now()))
    return () => clearTimeout(timer)
  }, [lost])
  if (lost === null || overdue !== lost) return null
  return (
    <p className="flex h-8 flex-none items-center border-b border-line bg-warn-bg px-4 text-meta text-warn">
      Offline since {clockTime(new Date(lost).toISOString())}. Showing the last known state.
    </p>
  )
}
