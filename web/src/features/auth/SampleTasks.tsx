/** Three sample tasks at the bottom of the sign-in page. They are an illustration, hidden from assistive technology. */
import { AgentMark } from '../../ui/AgentMark.tsx'
import { LineCounts } from '../../ui/status/LineCounts.tsx'
import { Status } from '../../ui/status/Status.tsx'

const samples = [
  {
    status: 'running',
    progress: 62,
    title: 'Retry webhook deliveries with back-off',
    agent: 'claude',
    repository: 'parcel-tracker',
    added: 267,
    deleted: 33,
  },
  {
    status: 'completed',
    progress: 100,
    title: 'Replace moment with Intl in the invoice templates',
    agent: 'cursor',
    repository: 'ledger-api',
    added: 88,
    deleted: 214,
  },
  {
    status: 'running',
    progress: 28,
    title: 'Batch the device readings before they are sent',
    agent: 'claude',
    repository: 'telemetry-gateway',
    added: 12,
    deleted: 3,
  },
] as const

export function SampleTasks() {
  return (
    <div aria-hidden="true" className="-mx-16">
      {samples.map(({ status, progress, title, agent, repository, added, deleted }) => (
        <div
          key={title}
          className="grid h-12 grid-cols-[96px_minmax(0,1fr)_156px_84px] items-center gap-4 border-t border-line-soft px-16 text-ui last:mb-8 last:border-b"
        >
          <Status status={status} progress={progress} />
          <span className="truncate font-medium">{title}</span>
          <span className="flex min-w-0 items-center gap-2">
            <AgentMark agent={agent} />
            <span className="truncate text-muted">{repository}</span>
          </span>
          <span className="text-right">
            <LineCounts added={added} deleted={deleted} />
          </span>
        </div>
      ))}
    </div>
  )
}
