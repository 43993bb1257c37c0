/** The repositories: each is a bare git repository in a folder with its number, and a record in the state. */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '#platform/ports/clock.ts'
import { ownerOf, sameName, type Account } from '../state/accounts.ts'
import { openBare, type Bare } from '../git/bareRepository.ts'
import type { Git } from '../git/runGit.ts'
import { follow, followed } from './syncPullRequests.ts'
import { invalid, Refusal } from '../httpError.ts'
import { serializeByKey, type SerializeByKey } from '#platform/async/queue.ts'
import type { PullRequest, Repository, State } from '../state/stateSchema.ts'
import type { Store } from '../state/store.ts'
import type { HostEvent } from '../state/events.ts'

export type NewRepository = Pick<Repository, 'owner' | 'name' | 'description' | 'isPrivate' | 'source'>

/** A branch that was created (`before` is `null`), deleted (`after` is `null`) or moved. */
export interface RefChange {
  readonly ref: string
  readonly before: string | null
  readonly after: string | null
}

export interface Repositories {
  find(owner: string, name: string): Repository | undefined
  /** The path of the repository's folder, relative to `root`. */
  folder(repository: Repository): string
  readonly root: string
  bare(repository: Repository): Bare
  /**
   * Creates a repository. `build` creates a bare git repository in a temporary folder, and people see it once it is complete. Throws Refusal 422 when
   * the owner already has a repository with this name.
   */
  create(request: NewRepository, build: (dir: string) => Promise<void>): Promise<Repository>
  /** Creates a bare git repository without commits in `dir`, for `create`. */
  buildEmpty(dir: string): Promise<void>
  /** Remembers the current branches, so that the first `settle` can find the changes. Call this before anything writes refs. */
  notice(repository: Repository): Promise<void>
  /**
   * Updates the state after something wrote refs: default branch, language and pull requests. Returns the refs that changed since the last `settle`
   * or, before the first, since `notice`. Webhooks name `by`, or the owner if `by` is missing, as the person who changed them.
   */
  settle(repository: Repository, by?: Account): Promise<readonly RefChange[]>
  /**
   * Deletes a branch and updates the state. Throws Refusal 422 when the branch does not exist or is the default branch, and 409 when somebody changes
   * it meanwhile.
   */
  deleteBranch(repository: Repository, branch: string): Promise<void>
  /** Runs a job that reads and then writes refs. Two jobs for the same repository never run at the same time. */
  exclusively<Answer>(repository: Repository, job: () => Promise<Answer>): Promise<Answer>
}

interface OpenRepositories {
  readonly store: Store
  readonly git: Git
  readonly clock: Clock
  readonly tell: (event: HostEvent) => void
  readonly root: string
  readonly incoming: string
  /** Runs the jobs for the same repository one after the other. */
  readonly exclusive: SerializeByKey
  /** The branches that `notice` remembered, by repository. */
  readonly noticed: Map<number, ReadonlyMap<string, string>>
}

/** Opens the repositories in `dataDir`, and removes incomplete repositories that an earlier process left. */
export async function openRepositories(parts: {
  readonly dataDir: string
  readonly store: Store
  readonly git: Git
  readonly clock: Clock
  readonly tell: (event: HostEvent) => void
}): Promise<Repositories> {
  const { store, git, clock, tell } = parts
  const root = join(parts.dataDir, 'repositories')
  const incoming = join(parts.dataDir, 'incoming')
  await rm(incoming, { recursive: true, force: true })
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  await mkdir(root, { recursive: true, mode: 0o700 })

  const held: OpenRepositories = {
    store,
    git,
    clock,
    tell,
    root,
    incoming,
    exclusive: serializeByKey(),
    noticed: new Map(),
  }
  return {
    root,
    folder: folderOf,
    bare: (repository) => bareOf(held, repository),
    find: (owner, name) => find(held, owner, name),
    create: (request, build) => create(held, request, build),
    buildEmpty: async (dir) => {
      await git.text(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--', dir])
    },
    notice: (repository) => notice(held, repository),
    settle: (repository, by) => settle(held, repository, by),
    deleteBranch: (repository, branch) => deleteBranch(held, repository, branch),
    exclusively: (repository, job) => held.exclusive(repository.id, job),
  }
}

function folderOf(repository: Pick<Repository, 'id'>) {
  return `${repository.id}.git`
}

function bareOf(held: OpenRepositories, repository: Pick<Repository, 'id'>) {
  return openBare(held.git, join(held.root, folderOf(repository)))
}

async function notice(held: OpenRepositories, repository: Repository) {
  if (!held.noticed.has(repository.id))
    held.noticed.set(repository.id, await bareOf(held, repository).branches())
}

function find(held: OpenRepositories, owner: string, name: string) {
  return named(held.store.current(), owner, name)
}

function settle(held: OpenRepositories, repository: Repository, by?: Account): Promise<readonly RefChange[]> {
  return held.exclusive(repository.id, async () => {
    const at = bareOf(held, repository)
    const branches = await at.branches()
    const changes = changesBetween(held.noticed.get(repository.id) ?? branches, branches)
    held.noticed.set(repository.id, branches)
    const known = held.store.current().repositories.find((one) => one.id === repository.id) ?? repository
    const about = await describe(at, branches, known)
    const open = openPullRequests(held.store.current(), repository.id)
    const moves = await follow(at, open, branches)
    const now = held.clock.now().toISOString()
    await held.store.update((state) => [
      followed(
        changed(state, repository.id, { ...about, ...(changes.length > 0 ? { pushedAt: now } : {}) }, now),
        moves,
        now,
      ),
      undefined,
    ])
    tellChanges(held, repository, { changes, before: open, by })
    return changes
  })
}

function tellChanges(
  held: OpenRepositories,
  repository: Repository,
  {
    changes,
    before: open,
    by,
  }: {
    readonly changes: readonly RefChange[]
    readonly before: readonly PullRequest[]
    readonly by: Account | undefined
  },
): void {
  const sender = by ?? ownerOf(repository.owner)
  if (!sender) return
  for (const change of changes) held.tell({ kind: 'push', repository, ...change, sender })
  const { pullRequests } = held.store.current()
  for (const before of open) {
    const pull = pullRequests.find(({ id }) => id === before.id)
    if (!pull) continue
    const about = { kind: 'pull_request', repository, pull, before, sender } as const
    if (pull.closedAt !== null) held.tell({ ...about, action: 'closed' })
    else if (pull.headSha !== before.headSha) held.tell({ ...about, action: 'synchronize' })
  }
}

/** The initial values of fields that are not part of the request for a new repository. */
const untouched = { collaborators: [], archived: false } as const

async function create(
  held: OpenRepositories,
  request: NewRepository,
  build: (dir: string) => Promise<void>,
): Promise<Repository> {
  if (find(held, request.owner, request.name)) throw nameTaken()
  const dir = join(held.incoming, randomUUID())
  try {
    await build(dir)
    const made = openBare(held.git, dir)
    const branches = await made.branches()
    const about = await describe(made, branches)
    // The number is reserved before the folder gets it as its name, so that no two repositories ever share a folder.
    const id = await held.store.update((state) => [
      { ...state, nextRepositoryId: state.nextRepositoryId + 1 },
      state.nextRepositoryId,
    ])
    const now = held.clock.now().toISOString()
    const times = { createdAt: now, updatedAt: now, pushedAt: branches.size > 0 ? now : null }
    const repository: Repository = { ...request, ...about, ...times, id, ...untouched }
    await rename(dir, join(held.root, folderOf(repository)))
    return await held.store
      .update((state) => {
        if (named(state, request.owner, request.name)) throw nameTaken()
        return [{ ...state, repositories: [...state.repositories, repository] }, repository]
      })
      .catch(async (error: unknown) => {
        await rm(join(held.root, folderOf(repository)), { recursive: true, force: true })
        throw error
      })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function deleteBranch(held: OpenRepositories, repository: Repository, branch: string): Promise<void> {
  await notice(held, repository)
  await held.exclusive(repository.id, async () => {
    const at = bareOf(held, repository)
    const sha = (await at.branches()).get(branch)
    if (sha === undefined) throw new Refusal(422, 'Reference does not exist')
    if (branch === (await at.headBranch())) throw new Refusal(422, 'Cannot delete the default branch')
    if (!(await at.deleteRef(`refs/heads/${branch}`, sha)))
      throw new Refusal(409, 'Reference was modified. Review and try again.')
  })
  await settle(held, repository)
}

const nameTaken = () =>
  invalid({
    resource: 'Repository',
    field: 'name',
    code: 'custom',
    message: 'name already exists on this account',
  })

const named = (state: State, owner: string, name: string): Repository | undefined =>
  state.repositories.find((one) => sameName(one.owner, owner) && sameName(one.name, name))

const openPullRequests = (state: State, repositoryId: number): readonly PullRequest[] =>
  state.pullRequests.filter((one) => one.repositoryId === repositoryId && one.closedAt === null)

type About = Pick<Repository, 'defaultBranch' | 'defaultTip' | 'language'>

/** Reads default branch and language from git. If HEAD is detached or names a missing branch, HEAD is set to an existing branch, if there is any. */
async function describe(at: Bare, branches: ReadonlyMap<string, string>, known?: Repository): Promise<About> {
  const head = await at.headBranch()
  const defaultBranch = defaultOf(head, branches)
  if (defaultBranch !== head) await at.setHeadBranch(defaultBranch)
  const defaultTip = branches.get(defaultBranch) ?? null
  if (defaultTip === null) return { defaultBranch, defaultTip, language: null }
  const language = known?.defaultTip === defaultTip ? known.language : await at.language(defaultTip)
  return { defaultBranch, defaultTip, language }
}

function defaultOf(head: string | undefined, branches: ReadonlyMap<string, string>): string {
  if (head !== undefined && branches.has(head)) return head
  const [first] = branches.keys()
  return ['main', 'master'].find((name) => branches.has(name)) ?? first ?? head ?? 'main'
}

function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly RefChange[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names]
    .map((name) => ({
      ref: `refs/heads/${name}`,
      before: before.get(name) ?? null,
      after: after.get(name) ?? null,
    }))
    .filter((change) => change.before !== change.after)
}

function changed(state: State, id: number, facts: Partial<Repository>, now: string): State {
  const differs = (one: Repository) =>
    (Object.entries(facts) as [keyof Repository, unknown][]).some(([key, value]) => one[key] !== value)
  if (!state.repositories.some((one) => one.id === id && differs(one))) return state
  return {
    ...state,
    repositories: state.repositories.map((one) =>
      one.id === id ? { ...one, ...facts, updatedAt: now } : one,
    ),
  }
}

/**
 * The name for a repository, as on GitHub: characters that are not allowed are replaced by hyphens. `undefined` when the result is empty or too long,
 * or could be mistaken for an option, a folder or a git address.
 */
export function repositoryName(wanted: string): string | undefined {
  const name = wanted.trim().replace(/[^A-Za-z0-9._-]+/g, '-')
  const usable = name.length > 0 && name.length <= 100 && !/^[-]|^\.{1,2}$|\.(git|wiki)$/i.test(name)
  return usable ? name : undefined
}
