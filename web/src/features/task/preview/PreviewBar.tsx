/** The bar below the header with a button for each server that listens in the task's sandbox. When the sandbox ends, the bar says so. */
import { ExternalLink } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import { selectLost } from '../../../live/connection.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { notifiedFailure } from '../../notifications/notifications.ts'
import { isRunning } from '../../tasks/taskStatus.ts'
import { useListPortsQuery, useOpenPortMutation } from './previewApi.ts'
import { texts } from './texts.ts'

/** The interval between reads of the ports while the task or its sandbox runs, in milliseconds. */
const pollIntervalMs = 5_000

export function PreviewBar({ task }: { readonly task: Task }) {
  const isLost = useSelector(selectLost)
  const running = isRunning(task)
  const [hasSandbox, setHasSandbox] = useState(true)
  const { data, refetch } = useListPortsQuery(task.id, {
    pollingInterval: (running || hasSandbox) && !isLost ? pollIntervalMs : 0,
    refetchOnMountOrArgChange: true,
  })
  const [wasOffered, setWasOffered] = useState(false)
  useEffect(() => {
    // A turn may start a sandbox, so the ports are read as soon as the turn begins.
    if (running) void refetch()
  }, [running, refetch])
  const ports = data?.ports ?? []
  if (data !== undefined && data.running !== hasSandbox) setHasSandbox(data.running)
  if (wasOffered ? data?.running === true && ports.length === 0 : ports.length > 0) setWasOffered(!wasOffered)
  if (!wasOffered) return null
  return (
    <section
      aria-label={texts.label}
      className="flex min-h-9 flex-none flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-panel px-4 py-1 text-ui"
    >
      {ports.map(({ port, process }) => (
        <PortButton key={port} taskId={task.id} port={port} process={process} isLost={isLost} />
      ))}
      <p role="status" className="min-w-0 text-muted">
        {isLost ? texts.offline : ports.length === 0 && texts.ended}
      </p>
    </section>
  )
}

interface PortButtonProps {
  readonly taskId: string
  readonly port: number
  readonly process: string | null
  readonly isLost: boolean
}

function PortButton({ taskId, port, process, isLost }: PortButtonProps) {
  const dispatch = useDispatch()
  const [open, { isLoading }] = useOpenPortMutation()
  const onOpen = async () => {
    const answer = await open({ taskId, port })
    // The address works once, so it is not offered as a link that could be followed twice.
    if (answer.error === undefined) window.open(answer.data.url, '_blank', 'noopener,noreferrer')
    else dispatch(notifiedFailure(texts.failed, answer.error))
  }
  return (
    <span className="inline-flex min-w-0 items-center gap-2">
      <Button
        size="touch"
        icon={<ExternalLink />}
        busy={isLoading}
        busyLabel={texts.opening}
        disabled={isLost}
        aria-describedby={`port-${port}`}
        onClick={() => void onOpen()}
      >
        {texts.open}
      </Button>
      <span id={`port-${port}`} className="truncate text-muted">
        {texts.listens(port, process)}
      </span>
    </span>
  )
}
