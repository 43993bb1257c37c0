/** Owners of projects: whether they may push, and whose project an issue belongs to. */
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { isTaken, type ProjectIssues } from '#domain/project/issues.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { ProjectDocument } from '#domain/views/projects.ts'
import { orElse } from '#platform/async/orElse.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { TokenFor } from '../access.ts'
import { isFault, isHostUnavailable, refusals } from '../faults.ts'
import { projectsOf } from '../refresh/readings.ts'
import { taskExists } from './createTask.ts'

export interface OwnerDeps {
  readonly commands: Pick<Commands, 'load'>
  readonly codeHost: Pick<CodeHost, 'repositoryById'>
  readonly documents: Pick<Documents, 'find'>
  readonly accessControl: Pick<AccessControl, 'check'>
  readonly tokenFor: TokenFor
}

const maxOfRepository = 50

/** The project's issues according to the log; `null` when the project no longer exists. */
export async function issuesOf(
  { commands }: Pick<OwnerDeps, 'commands'>,
  projectId: string,
): Promise<ProjectIssues | null> {
  const { state } = await commands.load(projectDecider, projectStream(projectId))
  return state.kind === 'project' ? state.issues : null
}

/** Thrown when a project owner's own rate limit is used up. Projects of other owners need not wait. */
export class OwnerLimited extends CodeHostFault {}

/**
 * Whether a person may use this server and push to a repository. The person's own token decides, as it does when their task is pushed. Throws when
 * the answer is unknown for now.
 */
export async function mayPush(deps: OwnerDeps, ownerId: string, githubRepoId: string): Promise<boolean> {
  try {
    await deps.accessControl.check(ownerId)
    const access = await deps.tokenFor({ ownerId, repositoryId: null })
    const own = access.kind === 'own' ? access : access.own
    const found = await deps.codeHost.repositoryById(await own.token(), githubRepoId)
    return found !== 'unchanged' && found.repository.mayPush === true
  } catch (fault) {
    if (isFault(fault, ['unauthorized', 'forbidden', 'not_found'])) return false
    if (fault instanceof Fault && refusals.includes(fault.code)) return false
    if (fault instanceof CodeHostFault && fault.kind === 'rate_limited')
      throw new OwnerLimited('rate_limited', fault.message, fault, fault.retryAfterMs)
    throw fault
  }
}

interface Other {
  readonly document: ProjectDocument
  readonly issues: ProjectIssues
  /** Whether this project is older than the project whose issues are being read. */
  readonly isFirst: boolean
}

/** The other projects of a repository, the oldest first. Finds them among the repository's `maxOfRepository` oldest projects. */
async function othersOf(
  deps: Pick<OwnerDeps, 'commands' | 'documents'>,
  { id, githubRepoId }: Pick<ProjectDocument, 'id' | 'githubRepoId'>,
): Promise<readonly Other[]> {
  const projects = await projectsOf(deps.documents, githubRepoId, maxOfRepository)
  const own = projects.findIndex((one) => one.id === id)
  const others: Other[] = []
  for (const [at, document] of projects.entries()) {
    const issues =
      document.id === id
        ? null
        : await issuesOf(deps, document.id)
            // A damaged project accepts no issues, and does not stop the others.
            .catch(orElse(UnreadableEvent, null))
    if (issues !== null) others.push({ document, issues, isFirst: own === -1 || at < own })
  }
  return others
}

/**
 * Whether an issue belongs to another project of the same repository: one that made a task of it, one that accepted it, or an older one with a rule.
 * Without a task, a project counts only while it is active and its owner may push: otherwise it could keep issues from the repository's team.
 */
export async function isElsewhere(deps: OwnerDeps, of: ProjectDocument, issueId: string): Promise<boolean> {
  const others = await othersOf(deps, of)
  if (await isMadeByAny(deps, others, issueId)) return true
  for (const { document, issues, isFirst } of others) {
    const hasTaken = isTaken(issues, issueId)
    const wouldTake = isFirst && issues.rule.on
    if (document.status === 'inactive' || !(hasTaken || wouldTake)) continue
    const counts = await mayPush(deps, document.owner, document.githubRepoId).catch((fault: unknown) => {
      // If the code host cannot answer, the issue stays with a project that has accepted it, and is not kept for a project that would only now accept
      // it.
      if (isHostUnavailable(fault)) return hasTaken
      throw fault
    })
    if (counts) return true
  }
  return false
}

/** Whether another project of the repository made a task of an issue, even if that is not recorded yet. */
export async function isMadeElsewhere(
  deps: Pick<OwnerDeps, 'commands' | 'documents'>,
  of: Pick<ProjectDocument, 'id' | 'githubRepoId'>,
  issueId: string,
): Promise<boolean> {
  return isMadeByAny(deps, await othersOf(deps, of), issueId)
}

async function isMadeByAny(
  deps: Pick<OwnerDeps, 'commands'>,
  projects: readonly Pick<Other, 'issues'>[],
  issueId: string,
): Promise<boolean> {
  for (const { issues } of projects) {
    const taken = issues.taken.get(issueId)
    if (taken === undefined || taken.failure !== null) continue
    if (taken.settledAt !== null || (await taskExists(deps, taken.taskId))) return true
  }
  return false
}
