/** What a pull request and its commits say of the task that they come from, so that a reader finds its record and can check it. */
import { sealStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { Rpc } from '#platform/ports/rpc.ts'

export interface TaskRecordDeps {
  readonly log: Pick<EventLog, 'readBackwards'>
  readonly rpc: Pick<Rpc, 'ask'>
  readonly logger: Logger
  readonly logIdentity: LogIdentity
  /** Where people reach the product; `null` where this process does not know. */
  readonly publicAddress: string | null
}

/** A pull request does not wait for its seal for longer. */
const sealedWithinMs = 5_000

/** The task's page; its id where nobody knows the address. */
export function addressOfTask(
  { publicAddress }: Pick<TaskRecordDeps, 'publicAddress'>,
  taskId: string,
): string {
  return publicAddress === null ? taskId : `${publicAddress.replace(/\/+$/, '')}/tasks/${taskId}`
}

/** The text with a last paragraph that leads to the task's record, and says how the log was sealed with it. */
export async function withRecord(deps: TaskRecordDeps, taskId: string, body: string): Promise<string> {
  const address = addressOfTask(deps, taskId)
  const record = deps.publicAddress === null ? `Task ${taskId}` : `[Record of this task](${address})`
  const seal = await sealedNow(deps)
  const sealed =
    seal === undefined
      ? ''
      : ` · sealed with ${seal.size} events of log ${deps.logIdentity.logId}, root \`${seal.root}\``
  return `${body.trimEnd()}\n\n---\n\n${record}${sealed}\n`.trimStart()
}

/** The newest seal; `undefined` when there is none, or it cannot be read: the pull request is made all the same. */
async function sealedNow({ rpc, log, logger, logIdentity: { epoch } }: TaskRecordDeps) {
  try {
    await rpc.ask('seal', {}, sealedWithinMs)
    const [seal] = await log.readBackwards(sealStream(epoch), 'end', 1)
    return seal?.type === 'LogSealed' ? seal.data : undefined
  } catch (fault) {
    logger.warn({ err: fault }, 'a pull request is made without a seal')
    return undefined
  }
}
