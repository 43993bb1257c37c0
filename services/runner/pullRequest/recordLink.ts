/** The text in a pull request that links to the task's record and says how to check it. */
import { sealStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import { hexOf } from '#domain/proof/bundleHashes.ts'
import { isLoopback } from '#platform/config/checks.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'

export interface TaskRecordDeps {
  readonly log: Pick<EventLog, 'readBackwards'>
  readonly rpc: Pick<Rpc, 'call'>
  readonly logger: Logger
  readonly logIdentity: LogIdentity
  readonly vault: Pick<Vault, 'getSecret'>
  /** The address at which people reach the product; `null` when this process does not know it. */
  readonly publicAddress: string | null
}

/** The longest time, in milliseconds, that a pull request waits for a new seal of the log. */
const sealTimeoutMs = 5_000

/** The address of the task's page, or the task's id if the server's address is unknown. */
export function addressOfTask(
  { publicAddress }: Pick<TaskRecordDeps, 'publicAddress'>,
  taskId: string,
): string {
  return publicAddress === null ? taskId : `${publicAddress.replace(/\/+$/, '')}/tasks/${taskId}`
}

/**
 * Adds to the text of a pull request a link to the task's record, or the task's id if there is no address. If the log has a seal, also adds the
 * seal's size and root, and the key that checks the seal.
 */
export async function withRecord(deps: TaskRecordDeps, taskId: string, body: string): Promise<string> {
  const address = addressOfTask(deps, taskId)
  const record = deps.publicAddress === null ? `Task ${taskId}` : `[Record of this task](${address})`
  const seal = await sealedNow(deps)
  const sealed =
    seal === undefined
      ? ''
      : ` · sealed with ${seal.size} events of log ${deps.logIdentity.logId}, root \`${seal.root}\``
  const key = seal === undefined ? '' : `\n\n${keyLine(deps, seal.fingerprint)}`
  return `${body.trimEnd()}\n\n---\n\n${record}${sealed}${key}\n`.trimStart()
}

/**
 * The line that names the key with which people can check the record. The line links to the verifier, unless the server's address is unknown, or a
 * loopback address, which nobody outside of this machine can open.
 */
function keyLine({ publicAddress }: Pick<TaskRecordDeps, 'publicAddress'>, fingerprint: string): string {
  const isReachable = publicAddress !== null && !isLoopback(new URL(publicAddress).hostname)
  const verifier = isReachable
    ? `[flightdeck-verify](${publicAddress.replace(/\/+$/, '')}/flightdeck-verify.mjs)`
    : '`flightdeck-verify`'
  return `To check the record, give ${verifier} the key \`${fingerprint}\`.`
}

/**
 * The newest seal, with the fingerprint of the key that signed it. `undefined` when there is none or it cannot be read, which does not prevent the
 * pull request.
 */
async function sealedNow({ rpc, log, logger, logIdentity, vault }: TaskRecordDeps) {
  try {
    await rpc.call('seal', {}, sealTimeoutMs)
    const [seal] = await log.readBackwards(sealStream(logIdentity.epoch), 'end', 1)
    if (seal?.type !== 'LogSealed') return undefined
    const keys = await signingKeys(vault, logIdentity)
    const at = keys?.verifiers.findIndex(({ keyId }) => hexOf(keyId) === seal.data.keyId) ?? -1
    const fingerprint = keys?.published[at]?.fingerprint
    return fingerprint === undefined ? undefined : { ...seal.data, fingerprint }
  } catch (fault) {
    logger.warn({ err: fault }, 'a pull request is made without a seal')
    return undefined
  }
}
