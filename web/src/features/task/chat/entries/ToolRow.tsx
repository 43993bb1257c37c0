/** A tool call: its action and target, its result and its duration. When expanded, it also shows the input and output. */
import {
  ChevronRight,
  FilePen,
  FileText,
  Globe,
  ListTodo,
  Search,
  Terminal,
  Wrench,
  type LucideIcon,
} from 'lucide-react'
import { Suspense, useState } from 'react'
import type { LogDocument } from '#domain/views/commandLog.ts'
import { classes } from '../../../../ui/classes.ts'
import { took } from '../../../../ui/text/times.ts'
import { optionalPart } from '../../../../ui/optionalPart.tsx'
import { LineCounts } from '../../../../ui/status/LineCounts.tsx'
import { Status } from '../../../../ui/status/Status.tsx'
import { RunningTime } from '../../RunningTime.tsx'
import { isCall } from '../nestedTools.ts'
import type { ToolPart } from '../turnParts.ts'
import { texts as imageTexts } from '../../../images/texts.ts'
import { Thought } from './Thought.tsx'
import { texts } from '../texts.ts'

const Artifacts = optionalPart(async () => (await import('../../artifacts/Artifacts.tsx')).Artifacts)
const ToolDetails = optionalPart(async () => (await import('./ToolDetails.tsx')).ToolDetails)

/** The icon of each kind of tool, and verbs for a running and an ended call; without a verb, the name of the tool is shown. */
const kinds: Readonly<
  Partial<Record<LogDocument['kind'], readonly [icon: LucideIcon, now?: string, then?: string]>>
> = {
  read: [FileText, 'Reading', 'Read'],
  edit: [FilePen, 'Editing', 'Edited'],
  run: [Terminal, 'Running', 'Ran'],
  search: [Search, 'Searching', 'Searched'],
  fetch: [Globe, 'Fetching', 'Fetched'],
  todo: [ListTodo, 'Updating the to-do list', 'Updated the to-do list'],
}

export function ToolRow({ part }: { readonly part: ToolPart }) {
  if (part.log.kind === 'artifact')
    return (
      <Suspense fallback={null}>
        <Artifacts log={part.log} />
      </Suspense>
    )
  return isCall(part.log) ? <CallRow part={part} /> : <Thought log={part.log} />
}

function CallRow({ part: { log, nested = [] } }: { readonly part: ToolPart }) {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const running = log.status === 'running'
  // The calls of a sub-agent are visible while it works.
  const unfolded = chosen ?? (running && nested.length > 0)
  const steps = nested.filter((step) => isCall(step.log)).length
  const [Icon, now, then] = kinds[log.kind] ?? [Wrench]
  return (
    <div className="my-0.5 -mx-2 md:ml-5">
      <button
        type="button"
        aria-expanded={unfolded}
        onClick={() => setChosen(!unfolded)}
        className="focus-inset flex h-11 w-full items-center gap-2 rounded-control px-2 text-left text-ui text-muted transition-colors hover:bg-raised md:h-7"
      >
        <Icon className="size-3.5" />
        <span className="flex-none">{(running ? now : then) ?? log.name ?? ''}</span>
        <span
          className="min-w-0 flex-1 truncate font-mono text-code tracking-normal text-text"
          title={log.target ?? ''}
        >
          {firstLine(log.target ?? '')}
        </span>
        <span className="inline-flex flex-none items-center gap-2 text-meta">
          {log.images && <span>{imageTexts.images(log.images.length)}</span>}
          {steps > 0 && <span>{texts.chat.steps(steps)}</span>}
          {running ? <RunningTime since={log.timestamp} /> : <Result log={log} />}
          {(running || log.status === 'failed') && <Status status={log.status} iconOnly />}
          <ChevronRight className={classes('size-3 transition-transform', unfolded && 'rotate-90')} />
        </span>
      </button>
      {unfolded && nested.length > 0 && (
        <div className="ml-4 border-l-2 border-line pl-2 md:ml-0">
          {nested.map((part) => (
            <ToolRow key={part.key} part={part} />
          ))}
        </div>
      )}
      {unfolded && (
        <Suspense fallback={null}>
          <ToolDetails log={log} />
        </Suspense>
      )}
    </div>
  )
}

function Result({ log }: { readonly log: LogDocument }) {
  const { kind, additions, deletions, exitCode, durationMs, summary } = log
  if (kind === 'edit' && additions !== null) return <LineCounts added={additions} deleted={deletions ?? 0} />
  const time = durationMs === null ? [] : [took(durationMs)]
  const exit = exitCode === null || exitCode === 0 ? [] : [`exit ${exitCode}`]
  const detail = kind === 'read' && summary ? [summary] : []
  return [...detail, ...exit, ...(kind === 'run' ? time : [])].join(' · ')
}

function firstLine(text: string): string {
  const cut = text.indexOf('\n')
  return cut === -1 ? text : `${text.slice(0, cut)} …`
}
