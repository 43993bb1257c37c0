/** Permissions of the author of a review or a comment, in the repository and on this server. */
import { identity } from '#domain/identity.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { identityStream, userStream } from '#domain/kernel/streams.ts'
import type { Standing } from '#domain/project/issues.ts'
import type { RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import { user } from '#domain/user/user.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { HostAuthor } from '#platform/ports/codeHostFeedback.ts'
import type { Reader, Reading } from './feedbackReading.ts'

/**
 * The permission of an account in a repository; `null` if the code host does not reveal it to this token. Throws `CodeHostFault` if asking again may
 * succeed, or if the token is refused. `about` is for the log.
 */
export async function rightAtHost(
  { codeHost, logger }: { readonly codeHost: Pick<CodeHost, 'repositoryRight'>; readonly logger: Logger },
  { token, repository }: { readonly token: string; readonly repository: RepositoryName },
  account: Pick<HostAuthor, 'id' | 'login'>,
  about: object,
): Promise<RepositoryRight | null> {
  try {
    return await codeHost.repositoryRight(token, repository, account)
  } catch (fault) {
    if (!(fault instanceof CodeHostFault) || fault.isPassing || fault.kind === 'unauthorized') throw fault
    logger.warn({ err: fault, ...about }, 'failed to read what somebody may do in a repository')
    return null
  }
}

/**
 * The author's permission in the repository; `none` if the code host does not reveal the permission to this token. If the permission decides whether
 * an agent starts, no answer that was cached before this reading is used. Throws `CodeHostFault` if the permission is unknown for now.
 */
export async function rightOf(
  reader: Reader,
  { pull, token, request, rule, begunAt }: Reading,
  author: HostAuthor,
): Promise<RepositoryRight> {
  const { rights } = reader
  // Cached by the account's number, since a login can pass to another account.
  const key = `${pull.pullRequest.repositoryId} ${author.id}`
  const known = rights.get(key)
  if (known !== undefined && (rule.reviews !== 'automatic' || known.at >= begunAt)) return known.right
  const at = performance.now()
  const of = { token, repository: pull.repository }
  const right = await rightAtHost(reader, of, author, { taskId: request.taskId })
  if (right !== null) rights.set(key, { right, at })
  return right ?? 'none'
}

type StandingDeps = Pick<Reader, 'vault' | 'codeHostName' | 'accessControl'> & {
  readonly commands: Pick<Commands, 'load'>
}

/** Whether the account belongs to somebody who may use this server now. Throws `code_host_unavailable` when that is unknown for now. */
export async function isOurs(deps: StandingDeps, githubId: string): Promise<boolean> {
  // A person who has to sign in again does not count until they have done so.
  return (await standingOf(deps, githubId)) === 'known'
}

/** The user to whom the account belongs, according to the log; `null` when it belongs to nobody, or to a deleted user. */
export async function userOf(
  { commands, vault, codeHostName }: Omit<StandingDeps, 'accessControl'>,
  githubId: string,
): Promise<string | null> {
  const id = idOfAccount(vault, codeHostName, githubId)
  const { userId } = (await commands.load(identity, identityStream(id))).state
  if (userId === null) return null
  return (await commands.load(user, userStream(userId))).state.kind === 'user' ? userId : null
}

/**
 * `known` when the account belongs to a user who may use this server, `signed_out` when the user has to sign in again before that is known, otherwise
 * `unknown`. Throws `code_host_unavailable` when the answer is not available for now.
 */
export async function standingOf(
  { commands, vault, codeHostName, accessControl }: StandingDeps,
  githubId: string,
): Promise<Standing> {
  const userId = await userOf({ commands, vault, codeHostName }, githubId)
  if (userId === null) return 'unknown'
  try {
    await accessControl.check(userId)
    return 'known'
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    if (fault.code === 'sign_in_required') return 'signed_out'
    if (fault.code === 'not_allowed') return 'unknown'
    throw fault
  }
}
