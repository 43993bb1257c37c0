/** Reads pull requests at the code host, and records changes on their tasks. */
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { TaskCommand } from '#domain/task/commands.ts'
import type { UnreadableCode } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, type CodeHost, type PullRequestReading } from '#platform/ports/codeHost.ts'
import type { InstallationAccess } from '../access.ts'
import type { ReadRequest } from './readQueue.ts'

export interface ReaderDeps {
  readonly codeHost: Pick<CodeHost, 'pullRequestStates'>
  readonly commands: Pick<Commands, 'execute'>
  readonly logger: Logger
}

/** The outcome of reading pull requests. With `wait`, the reading must be repeated later. */
export type ReadOutcome =
  | {
      readonly kind: 'read'
      readonly found: readonly Found[]
      /**
       * Pull requests that the installation cannot see, to be read with the owners' own accesses. A pull request is recorded as missing only if its
       * owner cannot see it either.
       */
      readonly unseen: readonly ReadRequest[]
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'wait'; readonly ms: number | undefined; readonly isLimit: boolean }

/** A request, and what was read for it. */
export interface Found {
  readonly request: ReadRequest
  readonly reading: Extract<PullRequestReading, { kind: 'read' }>
}

/** Reads pull requests that share one access, all in one request to the code host. Never throws `CodeHostFault`. */
export async function readAll(deps: ReaderDeps, requests: readonly ReadRequest[]): Promise<ReadOutcome> {
  const [first] = requests
  if (!first) return { kind: 'read', found: [], unseen: [] }
  const readings = await ask(deps, first, requests)
  if ('outcome' in readings) {
    const { outcome, code } = readings
    if (code) for (const one of requests) await record(deps, one, { kind: 'hidden', code })
    return outcome
  }
  const found: Found[] = []
  const unseen: ReadRequest[] = []
  for (const [index, one] of requests.entries()) {
    const reading = readings.found[index]
    if (reading?.kind === 'hidden' && one.access.kind === 'installation') {
      unseen.push(byOwner(one, one.access))
      continue
    }
    if (reading) await record(deps, one, reading)
    if (reading?.kind === 'read') found.push({ request: one, reading })
  }
  return { kind: 'read', found, unseen }
}

function byOwner(request: ReadRequest, access: InstallationAccess): ReadRequest {
  access.refused()
  return { ...request, access: access.own }
}

const allByOwner = (requests: readonly ReadRequest[]): ReadOutcome => ({
  kind: 'read',
  found: [],
  unseen: requests.flatMap((one) => (one.access.kind === 'installation' ? [byOwner(one, one.access)] : [])),
})

type Hidden = { readonly kind: 'hidden'; readonly code: UnreadableCode }

async function ask(
  { codeHost, logger }: ReaderDeps,
  { access, key }: ReadRequest,
  requests: readonly ReadRequest[],
): Promise<
  | { readonly found: readonly PullRequestReading[] }
  | { readonly outcome: ReadOutcome; readonly code?: UnreadableCode }
> {
  try {
    const token = await ('nodeId' in key ? access.token() : access.repositoryToken())
    return {
      found: await codeHost.pullRequestStates(
        token,
        requests.map(({ key }) => key),
      ),
    }
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'github_not_connected')
      return { outcome: { kind: 'refused' }, code: 'github_not_connected' }
    if (!(fault instanceof CodeHostFault)) throw fault
    const { kind, retryAfterMs } = fault
    if (access.kind === 'installation') {
      // A refusal of the installation says nothing about the owners of the tasks.
      if (kind === 'unauthorized') {
        access.refused()
        return { outcome: { kind: 'wait', ms: undefined, isLimit: false } }
      }
      if (kind === 'forbidden' || kind === 'not_found') return { outcome: allByOwner(requests) }
    }
    if (kind === 'rate_limited') return { outcome: { kind: 'wait', ms: retryAfterMs, isLimit: true } }
    if (kind === 'unavailable') return { outcome: { kind: 'wait', ms: undefined, isLimit: false } }
    const outcome = { kind: 'refused' } as const
    if (kind !== 'invalid') return { outcome, code: kind === 'unauthorized' ? 'github_not_connected' : kind }
    logger.error({ err: fault }, 'the code host refused to tell how pull requests stand')
    return { outcome }
  }
}

/**
 * Records on one task what was read of its pull request. A deleted task, or a task with an unreadable history, does not stop the recording on other
 * tasks.
 */
async function record(
  { commands, logger }: ReaderDeps,
  { taskId, number }: ReadRequest,
  reading: PullRequestReading | Hidden,
): Promise<void> {
  const command: TaskCommand =
    reading.kind === 'read'
      ? { type: 'ObservePullRequest', observed: reading.pullRequest }
      : { type: 'MissPullRequest', number, code: reading.code }
  try {
    await commands.execute(task, taskStream(taskId), command, bySystem('follower'))
  } catch (fault) {
    if (!(fault instanceof Fault || fault instanceof UnreadableEvent)) throw fault
    if (!(fault instanceof Fault && fault.code === 'not_found'))
      logger.warn({ err: fault, taskId }, 'failed to record how a pull request stands')
  }
}
