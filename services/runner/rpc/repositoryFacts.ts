/**
 * Answers with facts about a project's repository: submodules, filters, a shallow history, hooks for agents, and the environment that its files ask
 * for. The facts are from the mirror as it was fetched last.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { ShownRepository } from '#domain/api/projectSettings.schema.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { RpcResponse, RpcRequest } from '#platform/ports/rpc.ts'
import { hooksIn } from '../agents/hooks.ts'
import type { AgentDeps, WorkspaceDeps } from '../deps.ts'
import { environmentOf, nothingDetected } from '../detected/detectEnvironment.ts'
import type { ProgramVersions } from '../detected/programVersions.ts'
import { mirrored, reachAsPerson, readableRepository } from '../execution/repositoryAccess.ts'
import { commitOf, type Git } from '../workspace/git/git.ts'
import { surveyOf, type Submodule } from '../workspace/git/repositorySurvey.ts'

type Deps = Pick<
  WorkspaceDeps,
  'documents' | 'accessControl' | 'access' | 'codeHost' | 'git' | 'mirrors' | 'scratch' | 'logger' | 'sandbox'
> &
  Pick<AgentDeps, 'abilities'> & {
    /** The versions of the programs in sandboxes. */
    readonly programVersions: () => Promise<ProgramVersions>
  }

/** Fetches the mirror of a project's repository. Never rejects. */
export type FetchMirror = (of: { readonly owner: string; readonly projectId: string }) => Promise<unknown>

const gitTimeoutMs = 8_000
/** How long an answer waits for the first fetch of a repository. A slower fetch continues, and the next answer has its result. */
const firstFetchMs = 6_000
const maxSubmodules = 50
/** At most this many submodules are looked up at the code host, to find out whether the person may read them. */
const maxAccessChecks = 20

/** The repository of a project on this runner, if the person may still read it. Throws the code host's refusal. */
export async function fetchedRepository(
  deps: Omit<Deps, 'scratch' | 'logger' | 'abilities' | 'sandbox' | 'programVersions'>,
  { projectId, ownerId }: RpcRequest<'repository'>,
): Promise<
  { readonly gitDir: string; readonly tree: string; readonly url: string; readonly token: string } | undefined
> {
  const reached = await reachAsPerson(deps, { owner: ownerId, projectId })
  if (reached.kind === 'failed') return undefined
  const { access } = reached
  const readable = await readableRepository(deps, reached)
  const mirror = readable && (await deps.mirrors.find(mirrored(reached)))
  return (
    mirror && {
      gitDir: mirror.dir,
      tree: `refs/heads/${readable.defaultBranch}`,
      url: access.url,
      token: access.accessToken,
    }
  )
}

/** Answers with the facts. Returns `undefined`, so that other runners answer, if this one does not have the repository in time, or fails. */
export async function repositoryFacts(
  deps: Deps,
  request: RpcRequest<'repository'>,
  fetchMirror: FetchMirror | null,
): Promise<RpcResponse<'repository'> | undefined> {
  try {
    let found = await fetchedRepository(deps, request)
    if (!found && fetchMirror) {
      const { ownerId: owner, projectId } = request
      await Promise.race([fetchMirror({ owner, projectId }), pause(firstFetchMs, undefined, { ref: false })])
      found = await fetchedRepository(deps, request)
    }
    if (!found) return undefined
    const { gitDir, tree, url, token } = found
    const git: Git = (call) => deps.git({ timeoutMs: gitTimeoutMs, ...call })
    const commit = await commitOf(git, gitDir, tree)
    if (commit === null)
      return {
        repository: {
          submodules: [],
          submoduleCount: 0,
          filters: [],
          isShallow: false,
          hooks: null,
          detected: nothingDetected,
        },
      }
    const isContainer = 'kind' in deps.sandbox && deps.sandbox.kind === 'container'
    const [{ submodules, filters, isShallow }, files, detected] = await Promise.all([
      surveyOf({ ...deps, git }, { gitDir, commit, url }),
      deps.abilities.at(gitDir, commit),
      deps
        .programVersions()
        .then((versions) => environmentOf(git, { gitDir, commit }, { isContainer, versions })),
    ])
    const listed = submodules.slice(0, maxSubmodules).map(async ({ path, repository, isOnHost }, index) => ({
      path,
      repository,
      access: isOnHost
        ? index < maxAccessChecks
          ? await accessTo(deps.codeHost, token, repository)
          : ('unknown' as const)
        : ('elsewhere' as const),
    }))
    return {
      repository: {
        submodules: await Promise.all(listed),
        submoduleCount: submodules.length,
        filters: [...filters],
        isShallow,
        hooks: hooksIn(files),
        detected,
      },
    }
  } catch (fault) {
    deps.logger.info({ err: fault }, 'failed to look at what a repository is')
    return undefined
  }
}

type Access = ShownRepository['submodules'][number]['access']

async function accessTo(
  codeHost: Pick<CodeHost, 'repository'>,
  token: string,
  full: Submodule['repository'],
): Promise<Access> {
  const [owner = '', name = ''] = full.split('/')
  try {
    return (await codeHost.repository(token, { owner, name })).isPrivate ? 'private' : 'public'
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    return fault.kind === 'not_found' || fault.kind === 'forbidden' ? 'hidden' : 'unknown'
  }
}
