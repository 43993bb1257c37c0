/** Lives of a task: any commands in any order, from people and from runners that are correct, late or mistaken. */
import * as fc from 'fast-check'
import { isRefusal } from '#domain/kernel/decider.ts'
import type { RecordedOf } from '#domain/kernel/event.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { Fence, TaskCommand } from '#domain/task/commands.ts'
import { agentNames } from '#domain/agents.ts'
import {
  AgentStarted,
  MessagePosted,
  ToolFinished,
  ToolStarted,
  UsageRecorded,
  WorkspaceChanged,
  WorkspacePrepared,
  WorkspacePreparing,
  type ProgressEvent,
  type TaskEvent,
} from '#domain/task/events.ts'
import type { LiveTask, TaskState } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import { sampleImage } from './creating.ts'
import { executionId, messageId, projectId, taskId, userId } from './ids.ts'
import { recorded } from './recorded.ts'

const agent = fc.constantFrom(...agentNames)
const kind = fc.constantFrom('turn' as const, 'command' as const)
const outcome = fc.constantFrom('completed' as const, 'failed' as const, 'cancelled' as const)
const progress = fc.constantFrom(
  'preparing' as const,
  'prepared' as const,
  'agent' as const,
  'message' as const,
  'tool' as const,
  'toolEnd' as const,
  'usage' as const,
  'changed' as const,
)
/** The reporter: the runner that holds the execution, one that was evicted, or one that is mistaken. */
const reporter = fc.oneof(
  { weight: 8, arbitrary: fc.constant('holder' as const) },
  fc.constantFrom('evicted' as const, 'mistaken' as const),
)
/** One of a few numbers, so that tools, files and numbers occur repeatedly. */
const few = fc.nat(4)
/** The number of a person's message; some messages are sent twice. */
const message = fc.nat(14)

const step = fc.oneof(
  fc.record({ do: fc.constant('update' as const), title: fc.constantFrom('new words', 'other words') }),
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('send' as const), n: message, kind, agent: fc.option(agent) }),
  },
  fc.record({ do: fc.constant('note' as const) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('withdraw' as const), n: message }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), n: message }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reorder' as const), n: few }) },
  fc.record({ do: fc.constant('execute' as const) }),
  fc.record({ do: fc.constant('retry' as const) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('start' as const), who: reporter }) },
  {
    weight: 16,
    arbitrary: fc.record({ do: fc.constant('report' as const), who: reporter, progress, n: few }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      who: reporter,
      outcome,
      exitCode: fc.option(few),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('requestPullRequest' as const),
      autoUpdate: fc.option(fc.boolean()),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settlePullRequest' as const),
      n: few,
      came: fc.constantFrom('there' as const, 'failed' as const, 'closed' as const),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A command and its outcome. */
export interface Moment {
  readonly command: TaskCommand
  /** Empty when the command was refused or changed nothing. */
  readonly events: readonly RecordedOf<TaskEvent>[]
  readonly before: TaskState
  readonly after: TaskState
}
export type Life = readonly Moment[]

/**
 * Lives of task `n`: it is created first, and in some lives deleted last. Tasks use the same message ids, since clients choose those; no two tasks
 * share an execution.
 */
export function lives(n = 1): fc.Arbitrary<Life> {
  return fc
    .record({ agent, steps: fc.array(step, { maxLength: 60, size: 'max' }), deleted: fc.boolean() })
    .map(({ agent, steps, deleted }) => {
      const ids = idsOf(n)
      const create: TaskCommand = {
        type: 'CreateTask',
        taskId: taskId(n),
        ownerId: userId(1),
        projectId: projectId(1),
        agent,
        codexModel: null,
        title: 'words',
        description: 'words to do',
        branch: 'main',
        messageId: ids.message(0),
        executionId: ids.execution(0),
        images: [sampleImage(n)],
      }
      const asks = steps.map((step, index) => (state: TaskState) => commandOf(step, state, ids, index + 1))
      const last = deleted ? [(): TaskCommand => ({ type: 'DeleteTask' })] : []
      return lived(taskStream(taskId(n)), [() => create, ...asks, ...last])
    })
}

/** The log of a life. */
export function logOf(life: Life): readonly RecordedOf<TaskEvent>[] {
  return life.flatMap(({ events }) => events)
}

function lived(stream: string, asks: readonly ((state: TaskState) => TaskCommand)[]): Life {
  const life: Moment[] = []
  let state: TaskState = task.initial
  let revision = 0
  for (const ask of asks) {
    const command = ask(state)
    const decision = task.decide(command, state)
    const events = isRefusal(decision)
      ? []
      : decision.map((event, index) => recorded(event, { stream, revision: revision + index }))
    const after = events.reduce(task.evolve, state)
    life.push({ command, events, before: state, after })
    state = after
    revision += events.length
  }
  return life
}

interface Ids {
  message(n: number): string
  /** The text of an agent or of the system. */
  said(n: number): string
  execution(n: number): string
}

function idsOf(taskNumber: number): Ids {
  const base = taskNumber * 10_000
  return {
    message: (n) => messageId(n),
    said: (n) => messageId(5_000 + n),
    execution: (n) => executionId(base + n),
  }
}

function commandOf(step: Step, state: TaskState, ids: Ids, index: number): TaskCommand {
  const fresh = ids.execution(index)
  switch (step.do) {
    case 'update':
      return { type: 'UpdateTask', title: step.title }
    case 'send': {
      const { n, kind, agent } = step
      return {
        type: 'SendMessage',
        messageId: ids.message(n),
        kind,
        agent,
        message: `words ${n}`,
        images: kind === 'turn' ? [sampleImage(n)] : [],
        executionId: fresh,
      }
    }
    case 'note':
      return { type: 'PostNote', messageId: ids.said(index), message: 'words of a note' }
    case 'withdraw':
      return { type: 'WithdrawMessage', messageId: ids.message(step.n) }
    case 'edit':
      return { type: 'EditMessage', messageId: ids.message(step.n), message: 'other words' }
    case 'reorder': {
      const waiting = (liveTask(state)?.queue ?? []).map((queued) => queued.messageId)
      // Some commands also name messages that are already on their way to a runner, and are refused.
      const named = step.n === 0 ? waiting : waiting.slice(1)
      return { type: 'ReorderQueue', messageIds: [...named.slice(step.n), ...named.slice(0, step.n)] }
    }
    case 'execute':
      return { type: 'RequestExecution', executionId: fresh }
    case 'retry':
      return { type: 'RetryTask', executionId: fresh }
    case 'cancel':
      return { type: 'CancelExecution' }
    case 'start': {
      const { executionId, attempt } = fenceOf(step.who, state, ids)
      return { type: 'StartExecution', executionId, afterAttempt: attempt, runnerId: 'runner-1' }
    }
    case 'report': {
      const fence = fenceOf(step.who, state, ids)
      const about = step.who === 'mistaken' ? ids.execution(0) : fence.executionId
      return {
        type: 'RecordProgress',
        fence,
        progress: [reportOf(step.progress, about, step.n, ids.said(index))],
      }
    }
    case 'end': {
      const { exitCode } = step
      const outcome =
        step.outcome === 'failed'
          ? ({ kind: 'failed', code: 'agent_silent', reason: 'words of a runner', exitCode } as const)
          : step.outcome === 'completed'
            ? ({ kind: 'completed', exitCode } as const)
            : ({ kind: 'cancelled' } as const)
      const fence = fenceOf(step.who, state, ids)
      return { type: 'EndExecution', fence, outcome, terminal: null, nextExecutionId: fresh }
    }
    case 'requestPullRequest':
      return {
        type: 'RequestPullRequest',
        requestId: fresh,
        title: null,
        body: null,
        draft: false,
        autoUpdate: step.autoUpdate,
      }
    case 'settlePullRequest': {
      const requestId = liveTask(state)?.pullRequestRequest ?? fresh
      const pr = { number: step.n, url: `https://code.example/words/${step.n}`, headCommit: 'c'.repeat(40) }
      const messageId = ids.said(index)
      const outcomes = {
        there: { kind: liveTask(state)?.pullRequest ? 'updated' : 'opened', ...pr, messageId },
        failed: { kind: 'failed', code: 'code_host_refused', reason: 'words of the host' },
        closed: { kind: 'closed', reason: 'words of the host', messageId },
      } as const
      return { type: 'SettlePullRequest', requestId, outcome: outcomes[step.came], nextRequestId: fresh }
    }
  }
}

function fenceOf(who: 'holder' | 'evicted' | 'mistaken', state: TaskState, ids: Ids): Fence {
  const phase = liveTask(state)?.phase
  const { executionId, attempt } =
    phase && 'execution' in phase ? phase.execution : { executionId: ids.execution(0), attempt: 1 }
  switch (who) {
    case 'holder':
      return { executionId, attempt }
    case 'evicted':
      return { executionId, attempt: attempt - 1 }
    case 'mistaken':
      return { executionId: ids.execution(9_999), attempt }
  }
}

function reportOf(
  what: typeof progress extends fc.Arbitrary<infer P> ? P : never,
  executionId: string,
  n: number,
  said: string,
): ProgressEvent {
  switch (what) {
    case 'preparing':
      return WorkspacePreparing.of({ executionId })
    case 'prepared':
      return WorkspacePrepared.of(
        { executionId },
        { workingBranch: 'words/a', baseBranch: 'main', baseCommit: null },
      )
    case 'agent':
      return AgentStarted.of({
        executionId,
        agent: n % 2 ? 'claude' : 'cursor',
        version: '1',
        sessionId: 's',
        resumed: n > 2,
      })
    case 'message':
      return MessagePosted.of(
        { messageId: said, messageType: 'response', agent: 'claude', executionId },
        { message: 'words of an agent' },
      )
    case 'tool':
      return ToolStarted.of(
        { executionId, toolId: `tool-${n}`, kind: 'edit', parentToolId: null },
        { name: 'words', target: 'words.ts', input: 'words' },
      )
    case 'toolEnd':
      return ToolFinished.of(
        {
          executionId,
          toolId: `tool-${n}`,
          ok: n % 2 === 0,
          durationMs: n,
          exitCode: null,
          additions: n,
          deletions: 0,
        },
        { summary: 'words', output: 'words' },
      )
    case 'usage':
      return UsageRecorded.of({
        executionId,
        model: n === 0 ? null : `model-${n}`,
        inputTokens: n,
        outputTokens: n,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        costUsd: n / 10,
      })
    case 'changed':
      return WorkspaceChanged.of(
        {
          executionId,
          files: n,
          additions: n,
          deletions: 0,
          ahead: n,
          behind: 0,
          truncated: false,
          blob: null,
        },
        { currentBranch: 'words/a', baseBranch: 'main', tree: n % 2 === 0 ? null : 'd'.repeat(40) },
      )
  }
}

/** The state of the task; `undefined` when it does not exist. */
export function liveTask(state: TaskState): LiveTask | undefined {
  return state.kind === 'task' ? state : undefined
}
