/** Answers which skills, commands, subagents and files a task or project has, from commits that this runner has fetched. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { abilityLimits } from '#domain/api/abilities.ts'
import { limitPerPerson } from '#platform/async/queue.ts'
import type { RpcResponse, RpcRequest } from '#platform/ports/rpc.ts'
import type { AgentDeps, WorkspaceDeps } from '../deps.ts'
import { abilitiesIn } from '../agents/abilities.ts'
import {
  mirrored,
  reachAsPerson,
  readableRepository,
  type RepositoryAccess,
} from '../execution/repositoryAccess.ts'
import { commitFiles } from '../workspace/browse/commitFiles.ts'
import { baseCommitOf } from '../workspace/git/abilityFiles.ts'
import { commitOf, type Git } from '../workspace/git/git.ts'
import type { Mirror } from '../workspace/git/mirror.ts'
import type { FetchMirror } from './repositoryFacts.ts'

export type AbilitiesDeps = Pick<
  WorkspaceDeps,
  'documents' | 'accessControl' | 'access' | 'codeHost' | 'git' | 'mirrors' | 'workspaces' | 'logger'
> &
  Pick<AgentDeps, 'abilities'> & {
    /** Fetches a repository; `null` when another runner may have fetched it already. */
    readonly fetchMirror: FetchMirror | null
  }

const gitTimeoutMs = 5_000
/** How long an answer waits for the first fetch of a repository. A slower fetch continues, and the next answer has its result. */
const firstFetchMs = 6_000
/** The time after which nobody waits for the answer to a search any more. */
const longestWaitMs = 8_000
/** How many searches run at once, and how many more of one person wait. */
const maxSearches = 4

export interface AbilityAnswers {
  abilities(request: RpcRequest<'abilities'>): Promise<RpcResponse<'abilities'> | undefined>
  files(request: RpcRequest<'files'>): Promise<RpcResponse<'files'> | undefined>
}

export function abilityAnswers(deps: AbilitiesDeps, found: FindRepository): AbilityAnswers {
  const inTurn = limitPerPerson(maxSearches, maxSearches)
  return {
    abilities: (request) =>
      atCommit(deps, found, request, async (_git, gitDir, commit) => {
        const { files, notes } = await deps.abilities.at(gitDir, commit)
        return { abilities: abilitiesIn(files), notes }
      }),
    files(request) {
      const signal = AbortSignal.timeout(longestWaitMs)
      // The first fetch of a repository takes seconds, in which other searches need the turn.
      return atCommit(deps, found, request, (git, gitDir, commit) =>
        inTurn(request.ownerId, async () => {
          const paths = await commitFiles((call) => git({ ...call, signal }), gitDir, commit).paths()
          return { files: await bestMatches(paths, request.search) }
        }),
      )
    },
  }
}

/** So many paths are compared with a search before other work of this process gets its turn. */
const comparedAtOnce = 10_000

/**
 * The paths that match the search best: first file names that begin with `search`, then file names that contain it, then other paths that contain it.
 */
export async function bestMatches(paths: readonly string[], search: string): Promise<readonly string[]> {
  const wanted = search.toLowerCase()
  const ranked: [string[], string[], string[]] = [[], [], []]
  for (const [index, path] of paths.entries()) {
    if (index % comparedAtOnce === comparedAtOnce - 1) await nextTurn()
    if (path === '' || /[\p{Cc}\ufffd]/u.test(path)) continue
    const lower = path.toLowerCase()
    const name = lower.slice(lower.lastIndexOf('/') + 1)
    const rank = name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1 : lower.includes(wanted) ? 2 : null
    if (rank !== null && ranked[rank].length < abilityLimits.filesFound) ranked[rank].push(path)
  }
  return ranked.flat().slice(0, abilityLimits.filesFound)
}

/** How long the code host's answer about a person's access is cached. A search is repeated at every pause of typing. */
const accessMs = 30_000

/** A repository that a person may read: its default branch, its mirror, and the access of the person. */
type Found =
  | ({ readonly mirror: Mirror; readonly defaultBranch: string } & Pick<RepositoryAccess, 'access'>)
  | undefined
type Place = Pick<RpcRequest<'abilities'>, 'projectId' | 'ownerId'>
export type FindRepository = (place: Place) => Promise<Found>

/**
 * Finds the repositories that people may read. The code host's answer about a person's access is used again for `accessMs`. Throws the code host's
 * refusal.
 */
export function foundRepositories(deps: AbilitiesDeps): FindRepository {
  const known = new Map<string, { readonly until: number; readonly found: Promise<Found> }>()
  return (place) => {
    const now = Date.now()
    for (const [key, { until }] of known) if (until < now) known.delete(key)
    const key = `${place.ownerId}:${place.projectId}`
    const before = known.get(key)
    if (before) return before.found
    const found = findFor(deps, place)
    known.set(key, { until: now + accessMs, found })
    const forget = () => known.delete(key)
    found.then((answer) => answer ?? forget(), forget)
    return found
  }
}

async function findFor(deps: AbilitiesDeps, { projectId, ownerId }: Place): Promise<Found> {
  const reached = await reachAsPerson(deps, { owner: ownerId, projectId })
  if (reached.kind === 'failed') return undefined
  const readable = await readableRepository(deps, reached)
  if (!readable) return undefined
  const { defaultBranch } = readable
  let mirror = await deps.mirrors.find(mirrored(reached))
  if (!mirror && deps.fetchMirror) {
    const fetching = deps.fetchMirror({ owner: ownerId, projectId })
    await Promise.race([fetching, pause(firstFetchMs, undefined, { ref: false })])
    mirror = await deps.mirrors.find(mirrored(reached))
  }
  return mirror && { mirror, defaultBranch, access: reached.access }
}

/**
 * Answers from a commit. Returns `undefined`, so that other runners answer, if this runner lacks the repository, the commit, or the person's access,
 * or fails.
 */
async function atCommit<Answer>(
  deps: AbilitiesDeps,
  foundFor: FindRepository,
  { projectId, ownerId, taskId, branch }: RpcRequest<'abilities'>,
  read: (git: Git, gitDir: string, commit: string) => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  try {
    const found = await foundFor({ projectId, ownerId })
    if (!found) return undefined
    const { mirror, defaultBranch } = found
    const git: Git = (call) => deps.git({ timeoutMs: gitTimeoutMs, ...call })
    const workspace = taskId === null ? undefined : await deps.workspaces.read(taskId, mirror)
    const base = workspace && (await baseCommitOf(git, workspace))
    if (workspace && base) return await read(git, workspace.privateGitDir, base)
    const commit = await commitOf(git, mirror.dir, `refs/heads/${branch ?? defaultBranch}`)
    return commit === null ? undefined : await read(git, mirror.dir, commit)
  } catch (fault) {
    deps.logger.info({ err: fault, projectId }, 'failed to look for what a repository has for agents')
    return undefined
  }
}
