/** How live the page is: a dot and a word, in the top bar. */
import { useSelector } from 'react-redux'
import { selectConnection, type ConnectionState } from '../live/connection.ts'
import { selectWaiting } from '../live/outbox.ts'
import { classes } from '../ui/classes.ts'

export function ConnectionPill() {
  const waiting = useSelector(selectWaiting).length
  const { label, colour } = shown(useSelector(selectConnection), waiting)
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

function shown(
  { status, since, behind, quiet }: ConnectionState,
  waiting: number,
): { label: string; colour: string } {
  switch (status) {
    case 'connected':
      if (quiet) return { label: 'Connecting', colour: 'text-control' }
      return behind > 0
        ? { label: `Catching up ${behind}`, colour: 'text-run' }
        : { label: 'Live', colour: 'text-ok' }
    case 'connecting':
      return { label: 'Connecting', colour: 'text-control' }
    case 'disconnected':
      // Before the first attempt nothing is lost yet.
      return since === null
        ? { label: 'Connecting', colour: 'text-control' }
        : { label: waiting > 0 ? `Offline, ${waiting} queued` : 'Offline', colour: 'text-warn' }
    case 'error':
      return { label: 'Error', colour: 'text-bad' }
  }
}
