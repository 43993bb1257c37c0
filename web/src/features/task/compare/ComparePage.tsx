/** Compares a task with its alternatives: duration, cost, tests and changes of each, and a button to keep one. */
import { isUnknownId } from '../../../api/isUnknownId.ts'
import { ArrowLeft, GitPullRequest, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router-dom'
import { mostCompared } from '#domain/api/comparison.ts'
import { labelOf } from '#domain/agents.ts'
import type { Compared } from '#domain/api/comparison.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { AgentMark } from '../../../ui/AgentMark.tsx'
import { classes } from '../../../ui/classes.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { useNow } from '../../../ui/hooks.ts'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Panel } from '../../../ui/layout/Panel.tsx'
import { LineCounts } from '../../../ui/status/LineCounts.tsx'
import { PageSpinner } from '../../../ui/status/Loading.tsx'
import { Status } from '../../../ui/status/Status.tsx'
import { elapsed } from '../../../ui/text/times.ts'
import { safeLink } from '../../../ui/text/safeLink.ts'
import { PullRequestDialog } from '../PullRequestDialog.tsx'
import { useTaskActions } from '../useTaskActions.ts'
import { isRecordDamaged, isRunning, shownStatusOf } from '../../tasks/taskStatus.ts'
import { usePageTitle } from '../../tasks/usePageTitle.ts'
import { compact, dollars } from '../chat/composer/usageText.ts'
import { AddRunDialog } from './AddRunDialog.tsx'
import { useComparisonQuery } from './compareApi.ts'
import { ComparedFiles } from './ComparedFiles.tsx'
import { texts } from './texts.ts'

/** The polling interval while one of the tasks is under way, in milliseconds. */
const pollIntervalMs = 2_000

export function ComparePage({ taskId }: { readonly taskId: string }) {
  const [isRunning, setRunning] = useState(true)
  const { currentData, error, refetch } = useComparisonQuery(taskId, {
    pollingInterval: isRunning ? pollIntervalMs : 0,
    skipPollingIfUnfocused: true,
    refetchOnMountOrArgChange: true,
  })
  const runs = currentData?.compared.some(({ task }) => isUnderWay(task)) ?? true
  if (runs !== isRunning) setRunning(runs)
  usePageTitle(texts.title)
  if (currentData !== undefined) return <Comparison taskId={taskId} compared={currentData.compared} />
  if (error === undefined) return <PageSpinner />
  const isGone = isUnknownId(error)
  return (
    <div role="alert" className="mx-auto w-full max-w-192 px-2 pt-16 md:px-6">
      <Empty
        heading="h1"
        title={isGone ? texts.notFound : texts.failed}
        action={!isGone && <Button onClick={() => void refetch()}>{texts.retry}</Button>}
      >
        {isGone ? texts.notFoundWhy : error.message}
      </Empty>
    </div>
  )
}

const isUnderWay = (task: Task) =>
  !isRecordDamaged(task) && (task.status === 'queued' || isRunning(task) || task.pullRequestPending)

interface ComparisonProps {
  readonly taskId: string
  readonly compared: readonly Compared[]
}

function Comparison({ taskId, compared }: ComparisonProps) {
  const [adding, setAdding] = useState(false)
  const [original] = compared
  const isFull = compared.length >= mostCompared
  const isAlone = compared.length === 1
  const add = (
    <Button icon={<Plus />} disabled={isFull} onClick={() => setAdding(true)}>
      {texts.add}
    </Button>
  )
  return (
    <div className="mx-auto w-full max-w-400 px-4 pt-6 pb-12 md:px-6">
      <Link
        to={`/tasks/${taskId}`}
        className="inline-flex h-8 items-center gap-1.5 text-ui text-muted hover:text-text"
      >
        <ArrowLeft className="size-4" />
        {texts.back}
      </Link>
      <div className="mt-2 flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 dir="auto" className="line-clamp-2 text-page font-semibold wrap-anywhere">
            {original?.task.title ?? texts.title}
          </h1>
          <p className="mt-1 max-w-[62ch] text-muted">{texts.lead}</p>
        </div>
        {!isAlone && (
          <div className="flex flex-col items-end gap-1">
            {add}
            {isFull && <p className="text-meta text-muted">{texts.full}</p>}
          </div>
        )}
      </div>
      <div
        className={classes(
          'mt-6 grid items-start gap-4',
          columns[Math.min(compared.length, mostCompared) - 1],
        )}
      >
        {compared.map((one, index) => (
          <Run
            key={one.task.id}
            run={one}
            name={index === 0 ? texts.original : texts.alternative(index + 1)}
            original={original}
          />
        ))}
        {isAlone && (
          <Panel>
            <Empty title={texts.alone} action={add}>
              {texts.aloneWhy}
            </Empty>
          </Panel>
        )}
      </div>
      {adding && original !== undefined && (
        <AddRunDialog original={original.task} onClose={() => setAdding(false)} />
      )}
    </div>
  )
}

/** The classes of the columns for one to four runs. On a phone, the runs are one below the other. */
const columns = [
  'md:grid-cols-2',
  'md:grid-cols-2',
  'md:grid-cols-2 xl:grid-cols-3',
  'md:grid-cols-2 xl:grid-cols-4',
] as const

interface RunProps {
  readonly run: Compared
  readonly name: string
  readonly original: Compared | undefined
}

function Run({ run, name, original }: RunProps) {
  const { task } = run
  const isOtherMessage = original !== undefined && task.description !== original.task.description
  const isOtherCommit =
    original?.baseCommit != null && run.baseCommit !== null && run.baseCommit !== original.baseCommit
  return (
    <Panel label={`${name}: ${task.agent}`} className="min-w-0 overflow-hidden">
      <header className="flex items-center gap-3 border-b border-line px-4 py-3">
        <AgentMark agent={task.agent} />
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold">{name}</h2>
          <p className="truncate text-meta text-muted">{modelOf(task)}</p>
        </div>
        <Status status={shownStatusOf(task)} progress={task.progress} small />
      </header>
      {task.failure !== null && task.status === 'failed' && (
        <Note kind="error" className="m-4">
          {task.failure.reason}
        </Note>
      )}
      <Facts run={run} isOtherCommit={isOtherCommit} />
      {isOtherMessage && (
        <p className="border-b border-line-soft px-4 py-3 text-ui wrap-anywhere">
          <span className="block text-meta text-muted">{texts.message}</span>
          <span className="line-clamp-4">{task.description}</span>
        </p>
      )}
      <ComparedFiles key={JSON.stringify(task.changes)} task={task} />
      <RunActions task={task} />
    </Panel>
  )
}

function Facts({ run, isOtherCommit }: { readonly run: Compared; readonly isOtherCommit: boolean }) {
  const { task, tests, baseCommit } = run
  const words = texts.facts
  const { inputTokens, outputTokens, costUsd } = task.usage
  const last = tests.lastPassed === null ? null : tests.lastPassed ? words.passed : words.broke
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 border-b border-line-soft px-4 py-3 text-ui [&>dd]:text-right [&>dt]:text-muted">
      <dt>{words.time}</dt>
      <dd>
        <RunningTime run={run} />
      </dd>
      <dt>{words.tokens}</dt>
      <dd>{words.tokensOf(compact.format(inputTokens), compact.format(outputTokens))}</dd>
      <dt>{words.cost}</dt>
      <dd>{dollars.format(costUsd)}</dd>
      <dt>{words.tests}</dt>
      <dd
        className={classes(tests.lastPassed === false && 'text-bad', tests.lastPassed === true && 'text-ok')}
      >
        {tests.runs === 0 ? words.noTests : words.runs(tests.runs, last)}
      </dd>
      <dt>{words.changes}</dt>
      <dd>
        {task.changes === null || task.changes.files === 0 ? (
          words.none
        ) : (
          <LineCounts added={task.changes.additions} deleted={task.changes.deletions} />
        )}
      </dd>
      <dt>{words.commit}</dt>
      <dd className={classes('mono', isOtherCommit && 'text-warn')}>
        {baseCommit?.slice(0, 7) ?? words.unknown}
        {isOtherCommit && <span className="block font-sans text-meta">{words.otherCommit}</span>}
      </dd>
    </dl>
  )
}

/** The duration of a run; it keeps ticking between two answers of the server. */
function RunningTime({ run: { task, runningMs } }: { readonly run: Compared }) {
  const runs = isRunning(task)
  const now = useNow(1_000, runs)
  const [report, setReport] = useState({ runningMs, at: now })
  if (report.runningMs !== runningMs) setReport({ runningMs, at: now })
  return elapsed(runningMs + (runs ? Math.max(0, now - report.at) : 0))
}

function RunActions({ task }: { readonly task: Task }) {
  const actions = useTaskActions(task)
  const [isConfirming, setConfirming] = useState(false)
  const href = safeLink(task.prUrl)
  const mayKeep =
    task.prNumber === null && !isUnderWay(task) && !isRecordDamaged(task) && (task.changes?.files ?? 0) > 0
  return (
    <footer className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-3">
      <Link
        to={`/tasks/${task.id}`}
        className="inline-flex h-8 items-center text-ui text-accent hover:underline"
      >
        {texts.openTask}
      </Link>
      <span className="flex-1" />
      {href !== null && task.prNumber !== null ? (
        <a
          href={href}
          target="_blank"
          rel="noreferrer"
          className="inline-flex h-8 items-center gap-1.5 text-ui text-accent hover:underline"
        >
          <GitPullRequest className="size-3.5" />
          {texts.openPr} #{task.prNumber}
        </a>
      ) : (
        <Button
          kind="primary"
          icon={<GitPullRequest />}
          disabled={!mayKeep}
          busy={actions.opening}
          onClick={() => setConfirming(true)}
        >
          {texts.keep}
        </Button>
      )}
      <PullRequestDialog
        task={task}
        open={isConfirming}
        onClose={() => setConfirming(false)}
        onConfirm={actions.openPullRequest}
      />
    </footer>
  )
}

function modelOf({ agent, usage, codexModel }: Task): string {
  return `${labelOf(agent)}, ${usage.model ?? codexModel ?? texts.facts.ofAgent}`
}
