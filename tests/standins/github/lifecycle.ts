/** Changes of a repository as a whole: its name, owner, visibility, archive, protection and deletion. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '#platform/ports/clock.ts'
import { ownerOf, sameName, type Account } from '../../../services/codehost/state/accounts.ts'
import { roleOf, type Role } from '../../../services/codehost/state/permissions.ts'
import { invalid, notFound, Refusal } from '../../../services/codehost/httpError.ts'
import { repositoryName, type Repositories } from '../../../services/codehost/repositories/repositories.ts'
import type { Repository } from '../../../services/codehost/state/stateSchema.ts'
import type { BranchProtection, GitHubState } from './state.ts'
import type { Store } from '../../../services/codehost/state/store.ts'
import type { GitHubEvent } from './events.ts'

export interface RepositoryEdit {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly isPrivate?: boolean | undefined
  readonly archived?: boolean | undefined
  readonly defaultBranch?: string | undefined
}

export interface Lifecycle {
  /** The repository that once had this name; `undefined` when none had it, or another has it now. */
  formerly(owner: string, name: string): Repository | undefined
  /** Throws Refusal 403 to people who do not administer the repository, and 422 for a name that is taken or a branch that does not exist. */
  edit(repository: Repository, by: Account, edit: RepositoryEdit): Promise<Repository>
  /** Transfers the repository to another account. Throws Refusal 403, and 422 for an account that does not exist or has a repository of that name. */
  transfer(repository: Repository, by: Account, newOwner: string): Promise<Repository>
  /** Deletes the repository with everything that was written in it. Throws Refusal 403. */
  remove(repository: Repository, by: Account): Promise<void>
  /** Protects a branch, or with `null` ends its protection. Throws Refusal 403. */
  protect(
    repository: Repository,
    by: Account,
    branch: string,
    protection: Omit<BranchProtection, 'repositoryId' | 'branch'> | null,
  ): Promise<void>
  protectionOf(repository: Repository, branch: string): BranchProtection | undefined
  /** Gives somebody a role, or removes it with `null`. */
  setCollaborator(repository: Repository, login: string, role: Role | null): Promise<void>
}

interface Parts {
  readonly store: Store
  readonly github: Store<GitHubState>
  readonly repositories: Repositories
  readonly clock: Clock
  readonly tell: (event: GitHubEvent) => void
}

/** Throws GitHub's sentence for writes to an archived repository. */
export function refuseArchived({ archived }: Pick<Repository, 'archived'>): void {
  if (archived) throw new Refusal(403, 'Repository was archived so is read-only.')
}

export function createLifecycle(parts: Parts): Lifecycle {
  return {
    formerly: (owner, name) => formerly(parts, owner, name),
    edit: (repository, by, edit) => editRepository(parts, repository, by, edit),
    transfer: (repository, by, newOwner) => transfer(parts, repository, by, newOwner),
    remove: (repository, by) => remove(parts, repository, by),
    protect: async (repository, by, branch, protection) => {
      refuseOthers(repository, by)
      const isIt = (one: BranchProtection) => one.repositoryId === repository.id && one.branch === branch
      await parts.github.update((state) => {
        const others = state.protections.filter((one) => !isIt(one))
        const made = protection ? [{ ...protection, repositoryId: repository.id, branch }] : []
        return [{ ...state, protections: [...others, ...made] }, undefined]
      })
    },
    protectionOf: ({ id }, branch) =>
      parts.github.current().protections.find((one) => one.repositoryId === id && one.branch === branch),
    setCollaborator: async (repository, login, role) => {
      await change(parts, repository, ({ collaborators }) => {
        const others = collaborators.filter((one) => !sameName(one.login, login))
        return { collaborators: role === null ? others : [...others, { login, role }] }
      })
    },
  }
}

function formerly({ store, github }: Parts, owner: string, name: string): Repository | undefined {
  const former = github
    .current()
    .formerNames.filter((one) => sameName(one.owner, owner) && sameName(one.name, name))
  return store.current().repositories.find(({ id }) => former.some(({ repositoryId }) => repositoryId === id))
}

function refuseOthers(repository: Repository, by: Account): void {
  const isApp = by.type === 'Bot' && by.reach?.covers(repository) === true
  if (!isApp && roleOf(by, repository) !== 'admin')
    throw new Refusal(403, 'Must have admin rights to Repository.')
}

const taken = () =>
  invalid({
    resource: 'Repository',
    field: 'name',
    code: 'custom',
    message: 'name already exists on this account',
  })

/** Changes a repository. If it gets another name, the old one leads to it, and no longer to any other repository. */
async function change(
  { store, github, clock }: Parts,
  repository: Repository,
  next: (one: Repository) => Partial<Repository>,
): Promise<Repository> {
  const { id, owner, name } = repository
  const changed = await store.update<Repository>((state) => {
    const before = state.repositories.find((one) => one.id === id)
    if (!before) throw notFound()
    const after = { ...before, ...next(before), updatedAt: clock.now().toISOString() }
    const isMoved = before.name !== after.name || before.owner !== after.owner
    const isTaken = (one: Repository) =>
      one.id !== id && sameName(one.owner, after.owner) && sameName(one.name, after.name)
    if (isMoved && state.repositories.some(isTaken)) throw taken()
    return [{ ...state, repositories: state.repositories.map((one) => (one.id === id ? after : one)) }, after]
  })
  const isMoved = changed.name !== name || changed.owner !== owner
  if (isMoved)
    await github.update((state) => [
      { ...state, formerNames: [...state.formerNames, { repositoryId: id, owner, name }] },
      undefined,
    ])
  return changed
}

async function editRepository(
  parts: Parts,
  repository: Repository,
  by: Account,
  edit: RepositoryEdit,
): Promise<Repository> {
  refuseOthers(repository, by)
  if (repository.archived && edit.archived !== false) refuseArchived(repository)
  const name = edit.name === undefined ? repository.name : repositoryName(edit.name)
  if (name === undefined) throw invalid({ resource: 'Repository', field: 'name', code: 'invalid' })
  const { defaultBranch = repository.defaultBranch } = edit
  if (defaultBranch !== repository.defaultBranch) {
    const bare = parts.repositories.bare(repository)
    if (!(await bare.branches()).has(defaultBranch))
      throw invalid({ resource: 'Repository', field: 'default_branch', code: 'invalid' })
    await bare.setHeadBranch(defaultBranch)
  }
  const after = await change(parts, repository, (one) => ({
    name,
    defaultBranch,
    description: edit.description === undefined ? one.description : edit.description,
    isPrivate: edit.isPrivate ?? one.isPrivate,
    archived: edit.archived ?? one.archived,
  }))
  if (defaultBranch !== repository.defaultBranch) await parts.repositories.settle(after, by)
  tellChanges(parts, repository, after, by)
  return after
}

function tellChanges({ tell }: Parts, before: Repository, after: Repository, by: Account): void {
  const about = { kind: 'repository', repository: after, before, sender: by } as const
  if (before.name !== after.name) tell({ ...about, action: 'renamed' })
  if (before.isPrivate !== after.isPrivate)
    tell({ ...about, action: after.isPrivate ? 'privatized' : 'publicized' })
  if (before.archived !== after.archived)
    tell({ ...about, action: after.archived ? 'archived' : 'unarchived' })
  const isEdited = before.description !== after.description || before.defaultBranch !== after.defaultBranch
  if (isEdited) tell({ ...about, action: 'edited' })
}

async function transfer(
  parts: Parts,
  repository: Repository,
  by: Account,
  newOwner: string,
): Promise<Repository> {
  refuseOthers(repository, by)
  const owner = ownerOf(newOwner)
  if (!owner || sameName(owner.login, repository.owner))
    throw invalid({ resource: 'Repository', field: 'new_owner', code: 'invalid' })
  const after = await change(parts, repository, () => ({ owner: owner.login }))
  parts.tell({ kind: 'repository', action: 'transferred', repository: after, before: repository, sender: by })
  return after
}

async function remove(
  { store, github, repositories, tell }: Parts,
  repository: Repository,
  by: Account,
): Promise<void> {
  refuseOthers(repository, by)
  const isElsewhere = (one: { repositoryId: number }) => one.repositoryId !== repository.id
  await repositories.exclusively(repository, async () => {
    await store.update((state) => [
      {
        ...state,
        repositories: state.repositories.filter(({ id }) => id !== repository.id),
        pullRequests: state.pullRequests.filter(isElsewhere),
        reviews: state.reviews.filter(isElsewhere),
        reviewThreads: state.reviewThreads.filter(isElsewhere),
        reviewComments: state.reviewComments.filter(isElsewhere),
        issueComments: state.issueComments.filter(isElsewhere),
        issues: state.issues.filter(isElsewhere),
        labels: state.labels.filter(isElsewhere),
        issueEvents: state.issueEvents.filter(isElsewhere),
      },
      undefined,
    ])
    await github.update((state) => [
      {
        ...state,
        checkRuns: state.checkRuns.filter(isElsewhere),
        statuses: state.statuses.filter(isElsewhere),
        protections: state.protections.filter(isElsewhere),
        formerNames: state.formerNames.filter(isElsewhere),
      },
      undefined,
    ])
    await rm(join(repositories.root, repositories.folder(repository)), { recursive: true, force: true })
  })
  tell({ kind: 'repository', action: 'deleted', repository, before: repository, sender: by })
}
