/** Commits and pushes a task's work outside of the sandbox, and records what has changed. */
import { Fault } from '#domain/kernel/errors.ts'
import { hasNoChanges } from '#domain/task/codeHost/pullRequest.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import { agents } from '../agents/registry.ts'
import type { ReadyWorkspace } from '../execution/prepareWorkspace.ts'
import { ownSecrets, settingsOf } from '../execution/taskSecrets.ts'
import { agentLimits } from '../execution/runLimits.ts'
import type { Sandbox } from '../sandbox/port.ts'
import type { StagedTree } from '../workspace/changes/stagedTree.ts'
import { lastWords } from '../workspace/git/git.ts'
import { namedOf } from '../workspace/names.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { identityOf } from '../workspace/publish/commitIdentity.ts'
import { commitAndPush, type PublishResult } from '../workspace/publish/publish.ts'
import { messageOf } from './texts.ts'
import type { Publication, PublishingDeps } from './publication.ts'
import { recordChanges } from './recordChanges.ts'
import { addressOfTask } from './recordLink.ts'

/**
 * Commits and pushes the work, and records the changes that result. A person's request publishes nothing but the changes that the person saw. Throws
 * when the code host limits git.
 */
export async function pushAndRecord(
  deps: PublishingDeps,
  publication: Publication,
  { ready, isOpen }: { readonly ready: ReadyWorkspace; readonly isOpen: boolean },
): Promise<PublishResult> {
  const { state, task, user, requested, signal, pushSignal } = publication
  const { workspace, access } = ready
  const { sandbox } = deps
  const lastCommit = state.pullRequest?.headCommit ?? null
  const { settings, secrets: ofProject } = await settingsOf(deps, task.projectId)
  const by = { ownerId: task.owner, projectId: task.projectId }
  const secrets = [...ofProject, ...(await ownSecrets(deps, access, by))]
  const work = { git: deps.git, treeGit: deps.treeGitFor(workspace), workspace, secrets }
  const record = (from: 'tree' | StagedTree) => recordChanges(deps, publication, work, from)
  let published: StagedTree | undefined
  let isNothing = false
  let isPatched = false
  const pushed = await commitAndPush({
    ...work,
    ...access,
    // A person may publish only the changes that they saw. An automatic update records the changes that it publishes.
    mayPublish: async (staged) => {
      published = staged
      const recorded = staged.tree === state.changedTree ? state : await record(staged)
      // The person is told that there is nothing to publish if no changes were recorded at the time of the request, and there are none now.
      isNothing = requested.tree === null && !isOpen && hasNoChanges(recorded)
      return requested.automatic || staged.tree === requested.tree
    },
    message: await messageOf(deps, publication),
    author: identityOf(user, deps),
    signer: deps.commitSigner,
    trailers: [
      `Flightdeck-Task: ${addressOfTask(deps, task.id)}`,
      `Flightdeck-Turn: ${task.execution?.turn ?? 0}`,
      `Co-Authored-By: ${agents[task.agent].author}`,
    ],
    allowedFilters: settings.allowedFilters,
    threads: deps.textThreads,
    renewed: async () => (await access.renewed?.())?.authorization,
    forWorkflows: (files) => forWorkflows(deps, ready, files),
    signal,
    pushSignal,
    applyPatch: (patch) => {
      isPatched = true
      if ('missing' in sandbox) throw new Fault('code_host_refused', sandbox.missing)
      return applyPatch(sandbox, workspace, patch)
    },
  })
  if (pushed.kind === 'moved' && isNothing) return { kind: 'nothing_to_publish', leftOut: [] }
  if (pushed.kind === 'limited') throw deps.codeHost.recordGitRateLimit(access.gitToken)
  // The files now contain the changes that others had pushed before.
  if (isPatched) await record('tree')
  // After a push, new files are committed and no longer `untracked`, and the branch is ahead of the base, so the changes are recorded again.
  else if (pushed.kind === 'published' && published !== undefined && lastCommit !== pushed.headSha)
    await record(published)
  return pushed
}

/**
 * The credentials for changing workflow files, or the reason why the push must not be tried. A person's token is also limited by the App's
 * permissions. If these permissions are unknown, the push is tried and the host decides.
 */
async function forWorkflows(
  { codeHost, installations }: PublishingDeps,
  { repository, access, installed }: ReadyWorkspace,
  files: readonly string[],
): Promise<{ readonly authorization: string } | { readonly refused: string }> {
  const found = await installations.tokenFor(installed, 'git with workflows')
  // If git already uses the person's own token, that token pushes these files too.
  if (found.kind === 'token' && access.gitToken === access.accessToken)
    return { authorization: access.authorization }
  if (found.kind === 'token') return codeHost.gitAccess(found.accessToken, repository)
  const { installation } = found
  if (found.why !== 'not_granted' || !installation) return { authorization: access.authorization }
  return { refused: workflowsRefused(files, installation) }
}

function workflowsRefused(files: readonly string[], { account, htmlUrl }: Installation): string {
  return `This work changes ${namedOf(files, 5)}, and Flightdeck's App may not change workflow files of ${account.login}. Nothing was pushed, and the work is kept. An owner can grant "Workflows" at ${htmlUrl}, or take these changes back, and ask again.`
}

const applyTimeoutMs = 120_000

/**
 * Applies a patch to the tree as a whole, or changes nothing and returns the reason, worded to follow a colon. Runs in the sandbox. So nothing
 * outside the tree is written, whatever an agent has put there.
 */
async function applyPatch(sandbox: Sandbox, workspace: Workspace, patch: Buffer): Promise<string | null> {
  const child = sandbox.run({
    command: ['git', 'apply', '--whitespace=nowarn', '-'],
    // Runs without a repository, so that the settings of the agent's repository do not count.
    env: { GIT_DIR: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    workspace,
    readOnly: [],
    sockets: [],
    stdin: 'pipe',
    limits: { ...agentLimits, wallMs: applyTimeoutMs },
  })
  const stderr: Buffer[] = []
  child.stdout.resume()
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  // Writing fails if the process ended before it had read all of its input. Its exit says why it ended.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(patch)
  const { code, signal, reason } = await child.exited
  if (code === 0) return null
  const endedBy = reason === 'time_limit' ? 'time_limit' : 'itself'
  return lastWords({ code, signal, endedBy, stdout: Buffer.alloc(0), stderr: Buffer.concat(stderr) })
}
