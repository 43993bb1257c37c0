/** A data folder like that of a person who has used the product for long, written through the product's own parts. */
import { randomUUID } from 'node:crypto'
import { projectDecider } from '#domain/project/project.ts'
import { projectStream, taskStream, terminalStream, userStream } from '#domain/kernel/streams.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { task } from '#domain/task/task.ts'
import { user } from '#domain/user/user.ts'
import { openEngines, type Engines } from '#platform/compose.ts'
import { emptyHead, type Cause } from '#platform/eventlog/eventLog.ts'
import { readConfig } from '#platform/config/config.ts'
import { logger } from '#platform/log.ts'
import { dispatcherMarks } from '../../services/command/dispatcher.ts'
import { startSealer } from '../../services/maintenance/sealer.ts'
import { startProjector } from '../../services/query/projection/projector.ts'
import type { Seeded } from './row.ts'

export interface Amounts {
  readonly tasks: number
  /** The number of events in the terminal of one task. */
  readonly terminalEvents: number
  /** Whether the log is sealed. Else a product seals it in the background, which takes CPU time from what is measured. */
  readonly isSealed?: boolean
}

const terminalBatch = 500
const settledWithinMs = 60_000
const neverMs = 3_600_000
const line = 'Compiled 14 modules in 0.3 s without a warning.\n'

/** Fills an empty folder. No task is running, and the log is projected, so a product that starts with it has only to seal the log, if that is not done. */
export async function seed(dataDir: string, amounts: Amounts): Promise<Seeded> {
  const config = readConfig({ DATA_DIR: dataDir })
  const engines = await openEngines(config, logger('silent'))
  try {
    const userId = randomUUID()
    const cause = (): Cause => ({ actor: { kind: 'user', userId }, commandId: randomUUID() })
    const session = await signedUp(engines, userId, cause)
    const projectId = await projectOf(engines, userId, cause)
    const longTaskId = await stoppedTask(engines, { userId, projectId, number: 0 }, cause)
    await print(engines, longTaskId, amounts.terminalEvents)
    const taskIds = await Promise.all(
      Array.from({ length: amounts.tasks - 1 }, (_, number) =>
        stoppedTask(engines, { userId, projectId, number: number + 1 }, cause),
      ),
    )
    if (amounts.isSealed) await seal(engines, config.seals.file)
    await settle(engines)
    const token = await engines.sessions.token({ userId, sessionId: session.sessionId }, session.expiresAt)
    return { dataDir, token, taskIds, longTaskId }
  } finally {
    await engines.close()
  }
}

async function signedUp({ commands, sessions }: Engines, userId: string, cause: () => Cause) {
  const session = sessions.begin('')
  const stream = userStream(userId)
  const profile = { githubId: '1', login: 'ada', name: 'Ada', email: 'ada@example.org', avatar: '' }
  await commands.execute(user, stream, { type: 'SignInWithGitHub', userId, profile, ...session }, cause())
  const onboarding = { fullName: 'Ada', email: null, companySize: 'solo', role: 'developer' } as const
  await commands.execute(user, stream, { type: 'CompleteOnboarding', ...onboarding }, cause())
  return session
}

async function projectOf({ commands }: Engines, ownerId: string, cause: () => Cause): Promise<string> {
  const projectId = randomUUID()
  const repository = {
    githubOwner: 'ada',
    githubRepoName: 'widget',
    githubUrl: 'http://localhost/ada/widget',
    defaultBranch: 'main',
    language: 'TypeScript',
  }
  const named = { name: 'widget', description: 'Makes widgets.', githubRepoId: '1', isPrivate: false }
  await commands.execute(
    projectDecider,
    projectStream(projectId),
    { type: 'CreateProject', projectId, ownerId, ...named, repository },
    cause(),
  )
  return projectId
}

async function stoppedTask(
  { commands }: Engines,
  { userId, projectId, number }: { userId: string; projectId: string; number: number },
  cause: () => Cause,
): Promise<string> {
  const taskId = randomUUID()
  const stream = taskStream(taskId)
  const title = `Make widget ${number} round`
  await commands.execute(
    task,
    stream,
    {
      type: 'CreateTask',
      taskId,
      ownerId: userId,
      projectId,
      agent: 'claude',
      codexModel: null,
      title,
      description: `${title}\n\nIt has corners, and nobody has asked for them.`,
      branch: 'main',
      messageId: randomUUID(),
      executionId: randomUUID(),
      images: [],
    },
    cause(),
  )
  await commands.execute(task, stream, { type: 'CancelExecution' }, cause())
  return taskId
}

async function print({ log }: Engines, taskId: string, events: number): Promise<void> {
  const executionId = randomUUID()
  const printed = TerminalOutputRecorded.of(
    { executionId, attempt: 1, kind: 'turn', channel: 'stdout' },
    { text: line },
  )
  let head = emptyHead
  for (let left = events; left > 0; left -= terminalBatch) {
    const batch = Array.from({ length: Math.min(left, terminalBatch) }, () => printed)
    const cause: Cause = { actor: { kind: 'system', service: 'runner' }, commandId: randomUUID() }
    const result = await log.append(terminalStream(taskId), head, batch, cause)
    if (result.kind === 'conflict') throw new Error('Nobody else writes here.')
    head = result.head
  }
}

async function seal(engines: Engines, file: string): Promise<void> {
  const sealer = await startSealer(engines, { intervalMs: neverMs, file, tell: () => undefined })
  try {
    if ((await engines.rpc.call('seal', {}, settledWithinMs)) === undefined)
      throw new Error('The seeded log is not sealed in time.')
  } finally {
    await sealer.stop()
  }
}

/** Projects the log, and marks all of it as searched for jobs, because what the tasks requested was stopped. */
async function settle({ jobs, ...engines }: Engines): Promise<void> {
  const head = await engines.eventStore.head()
  if (head === null) return
  for (const mark of Object.values(dispatcherMarks(engines.logIdentity))) await jobs.mark(mark, head)
  const projector = await startProjector(engines)
  try {
    if (!(await engines.projected.waitFor(head, settledWithinMs)))
      throw new Error('The seeded log is not projected in time.')
  } finally {
    await projector.stop()
  }
}
