/**
 * The two git directories of a workspace: our own, with which the runner reads and publishes, and that of the agent. Once an agent has had a turn, no
 * git runs on the agent's git directory outside of the sandbox, because its files cannot be trusted.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { chown, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { artifactFolder } from '#domain/api/artifacts.ts'
import { giveFew } from './agentFiles.ts'
import { gitOrThrow, type HostGit } from './git/git.ts'
import {
  configValue,
  copyShallow,
  layOut,
  repositoryConfig,
  writeAlternates,
} from './git/repositoryLayout.ts'
import { canCoexist } from './names.ts'
import type { SandboxUser, Workspace } from './workspace.ts'

/** The path of the mirror's objects inside the sandbox, which is written into the agent's `.git`. */
export const mirrorObjectsInSandbox = '/mirror/objects'

/** The commits that a new workspace starts from. */
export interface BaseCommits {
  /** The branch that the workspace will be on. */
  readonly branch: string
  /** The commit of the base branch, or the one that the request names instead (`startAt`); `null` in an empty repository. */
  readonly baseCommit: string | null
  /** The host's commit of `branch`; `null` when the host has no such branch. */
  readonly pushedCommit: string | null
}

/** The configuration of the agent's git. */
export interface AgentGitSettings {
  /** The address of `origin` in the agent's git; it contains no secret. */
  readonly originUrl: string
  /** The committer when the agent commits in its own `.git`. */
  readonly identity: { readonly name: string; readonly email: string }
}

/** Makes our git directory, and checks the tree out with it. The owner gets the files at once, so that they match the index. */
export async function makePrivateGit(
  git: HostGit,
  workspace: Workspace,
  { baseCommit, pushedCommit }: BaseCommits,
): Promise<void> {
  const { privateGitDir: gitDir, dir: workTree, branch, baseBranch, startCommit, owner } = workspace
  layOut(gitDir, {
    branch,
    config: repositoryConfig,
    refs: [
      [`refs/heads/${branch}`, startCommit],
      [`refs/remotes/origin/${baseBranch}`, baseCommit],
      ...(branch === baseBranch ? [] : ([[`refs/remotes/origin/${branch}`, pushedCommit]] as const)),
    ],
  })
  await writeAlternates(gitDir, workspace.mirrorObjects)
  await copyShallow(workspace.mirrorDir, gitDir)
  if (startCommit !== null)
    await gitOrThrow(owner ? git.as(owner) : git, {
      gitDir,
      workTree,
      args: ['read-tree', '-m', '-u', startCommit],
      timeoutMs: 600_000,
    })
}

/** Makes the agent's git directory, a plain repository on the commit that the workspace started from. No agent may use the tree meanwhile. */
export async function makeAgentGit(
  workspace: Workspace,
  settings: AgentGitSettings,
  { baseCommit }: BaseCommits,
): Promise<void> {
  const { dir: workTree, branch, baseBranch, startCommit, owner } = workspace
  const gitDir = join(workTree, '.git')
  layOut(gitDir, {
    branch,
    config: `${repositoryConfig}${agentConfig(settings)}`,
    refs: [
      [`refs/heads/${branch}`, startCommit],
      [`refs/remotes/origin/${baseBranch}`, baseCommit],
      ...(canCoexist(branch, baseBranch) ? ([[`refs/heads/${baseBranch}`, baseCommit]] as const) : []),
    ],
  })
  await writeAlternates(gitDir, mirrorObjectsInSandbox)
  await copyShallow(workspace.mirrorDir, gitDir)
  mkdirSync(join(gitDir, 'info'))
  writeFileSync(join(gitDir, 'info', 'exclude'), `/${artifactFolder}/\n`)
  if (owner) giveFew(owner, gitDir)
}

const root: SandboxUser = { uid: 0, gid: 0 }

/** Gives the agent's git a copy of the private git directory's index. The same index is valid for both git directories. */
export async function copyIndex({ privateGitDir, dir, startCommit, owner }: Workspace): Promise<void> {
  if (startCommit === null) return
  const [ours, agents] = [join(privateGitDir, 'index'), join(dir, '.git', 'index')]
  await copyFile(ours, agents)
  if (owner) await Promise.all([chown(agents, owner.uid, owner.gid), chown(ours, root.uid, root.gid)])
}

function agentConfig({ identity, originUrl }: AgentGitSettings): string {
  return [
    '[user]',
    `name = ${configValue(identity.name)}`,
    `email = ${configValue(identity.email)}`,
    '[remote "origin"]',
    `url = ${configValue(originUrl)}`,
    'fetch = +refs/heads/*:refs/remotes/origin/*',
    '[core]',
    // In a user namespace, files have another owner; without this setting, every file would look changed there.
    'checkStat = minimal',
    '',
  ].join('\n')
}
