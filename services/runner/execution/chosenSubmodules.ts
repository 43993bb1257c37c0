/**
 * Fetches a private submodule that the project's owner chose: outside the sandbox, with the access of whoever runs the task. The sandbox gets its
 * commits as a file, and no token.
 */
import { chmod, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { removeFolder } from '../workspace/agentFiles.ts'
import { endedWell, gitOrThrow, gitText, lastWords } from '../workspace/git/git.ts'
import type { Submodule } from '../workspace/git/survey.ts'
import { Evicted } from './failure.ts'
import { reachOther, refreshReached, type ReachingDeps } from './repositoryAccess.ts'
import type { ExecutionDeps } from './run.ts'
import { runInSandbox, type CommandDeps, type PreparedRun } from './sandboxCommand.ts'

export const longestFetchMs = 10 * 60_000

export type ChosenDeps = CommandDeps & ReachingDeps & Pick<ExecutionDeps, 'git' | 'logger'>

interface Chosen extends PreparedRun {
  readonly submodule: Submodule
}

/** `null` once it is there; else a sentence that says why not. Throws `Evicted`. */
export async function fetchChosen(deps: ChosenDeps, chosen: Chosen): Promise<string | null> {
  const { workspace, submodule } = chosen
  // Git ends a setting's name at the first equals sign, so `-c` could not set this submodule's URL.
  if (submodule.name.includes('=')) return 'its name in .gitmodules has an equals sign.'
  const folder = join(dirname(workspace.dir), 'submodule')
  await removeFolder(folder, deps.path)
  await mkdir(folder, { mode: 0o711 })
  try {
    const bundle = join(folder, 'bundle')
    return (await makeBundle(deps, chosen, { folder, bundle })) ?? (await unpack(deps, chosen, bundle))
  } catch (fault) {
    if (fault instanceof Evicted) throw fault
    if (fault instanceof CodeHostFault) return fault.message
    deps.logger.warn({ err: fault, taskId: workspace.taskId }, 'failed to fetch a submodule')
    return 'this server failed; its log says why.'
  } finally {
    await removeFolder(folder, deps.path)
  }
}

async function makeBundle(
  deps: ChosenDeps,
  { run, workspace, person, submodule }: Chosen,
  { folder, bundle }: { readonly folder: string; readonly bundle: string },
): Promise<string | null> {
  const { git } = deps
  const { privateGitDir: gitDir, startCommit } = workspace
  const listed = await gitText(git, {
    gitDir,
    args: ['ls-tree', startCommit ?? 'HEAD', '--', submodule.path],
  })
  const [, commit] = /^160000 commit ([0-9a-f]+)\t/.exec(listed) ?? []
  if (commit === undefined) return 'the repository has no commit of it.'
  const [owner = '', name = ''] = submodule.repository.split('/')
  const reached = await reachOther(deps, person, { owner, name })
  const refreshed = await refreshReached(deps, reached, { signal: run.stopping.signal })
  if (refreshed.kind === 'failed') return refreshed.reason
  const own = join(folder, 'git')
  await gitOrThrow(git, { args: ['init', '--quiet', '--bare', '--template=', '--', own] })
  const from = { gitDir: own, env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: refreshed.mirror.objects } }
  const found = await git({ ...from, args: ['update-ref', 'refs/heads/submodule', commit] })
  if (!endedWell(found)) return `${submodule.repository} has no commit ${commit.slice(0, 7)} any more.`
  const args = ['bundle', 'create', '--quiet', bundle, 'refs/heads/submodule']
  const made = await git({ ...from, args, timeoutMs: longestFetchMs, signal: run.stopping.signal })
  if (!endedWell(made)) return `its history could not be packed: ${lastWords(made)}.`
  await chmod(bundle, 0o444)
  return null
}

const bundleInSandbox = '/run/flightdeck/submodule'

/** Runs in the sandbox, since nothing else writes to the agent's own repository. The final sync restores the submodule's real URL. */
async function unpack(
  deps: ChosenDeps,
  { run, workspace, envs, submodule }: Chosen,
  bundle: string,
): Promise<string | null> {
  const { sandbox } = deps
  if ('missing' in sandbox) return sandbox.missing
  const file = { source: bundle, target: bundleInSandbox }
  const settings = [`submodule.${submodule.name}.url=${sandbox.seenAs(file)}`, 'protocol.file.allow=always']
  const path = quoted(submodule.path)
  const command = [
    `git submodule init -- ${path}`,
    `git ${settings.map((setting) => `-c ${quoted(setting)}`).join(' ')} submodule update -- ${path}`,
    `git submodule sync -- ${path}`,
  ].join(' && ')
  const sandboxEnv = envs.withFile(file)
  const ran = await runInSandbox(deps, { run, workspace, command, sandboxEnv, longestMs: longestFetchMs })
  return ran.kind === 'ended' && ran.exit.code !== 0 ? 'the terminal says why.' : null
}

/** Quotes a text as a single shell word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
