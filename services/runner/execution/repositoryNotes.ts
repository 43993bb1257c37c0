/**
 * Before the first run in a workspace, tells the person what the workspace lacks in comparison with an ordinary clone. Also fetches the submodules
 * that may be read.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hooksNote } from '../agents/hooks.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { removeFolder } from '../workspace/agentFiles.ts'
import { endedWell, gitOrThrow, gitText, lastWords } from '../workspace/git/git.ts'
import type { Submodule, Survey } from '../workspace/git/repositorySurvey.ts'
import { namedOf } from '../workspace/names.ts'
import { Evicted } from './failure.ts'
import { reachOther, refreshReached, type ReachingDeps } from './repositoryAccess.ts'
import type { ExecutionDeps } from './runTypes.ts'
import { runInSandbox, type CommandDeps, type CommandRun, type PreparedRun } from './sandboxCommand.ts'

type Deps = CommandDeps & ReachingDeps & Pick<ExecutionDeps, 'git' | 'logger' | 'surveyOf' | 'abilities'>

const maxFetched = 50

/**
 * Tells the person what the workspace lacks in comparison with an ordinary clone, and fetches the submodules that may be read. Does this once per
 * workspace; after a failed survey, which is logged, the next run tries again. A submodule that was not fetched is named in the terminal.
 */
export async function tellOfRepository(deps: Deps, prepared: PreparedRun<CommandRun>): Promise<void> {
  const { run, workspace, envs } = prepared
  const { privateGitDir: gitDir, startCommit: commit, dir } = workspace
  const notesWritten = join(dirname(dir), 'told')
  // Synchronous, as it takes microseconds. An asynchronous read would wait for Node's threads, which are busy resuming a warm agent.
  if (existsSync(notesWritten) || commit === null) return
  const surveying = deps
    .surveyOf({ gitDir, commit, url: envs.repositoryUrl })
    .catch((fault: unknown) =>
      deps.logger.warn({ err: fault, taskId: workspace.taskId }, 'failed to look at what the repository is'),
    )
  const [survey, found] = await Promise.all([surveying, deps.abilities.of(workspace)])
  if (!survey) return
  const onHost = survey.submodules.filter(({ isOnHost }) => isOnHost).slice(0, maxFetched)
  const submodules = survey.submodules.filter((one) => !onHost.includes(one))
  const lines = [
    ...notesOf({ ...survey, submodules }),
    ...found.notes,
    ...hooksNote(found, envs.allowedHooks),
  ]
  if (lines.length > 0) await run.output.note(lines.map((line) => `${line}\n`).join(''))
  const chosen = onHost.filter(({ repository }) => envs.submodules.includes(repository.toLowerCase()))
  const open = onHost.filter((one) => !chosen.includes(one))
  if (open.length > 0) {
    // One command per submodule, because git stops at the first one that it may not read.
    const updates = open.map(({ path }) => `git submodule update --init -- ${quoted(path)} || failed=1`)
    const command = `${updates.join('; ')}; exit $failed`
    const sandboxEnv = envs.reading(open.map(({ repository }) => repository))
    const ran = await runInSandbox(deps, { run, workspace, command, sandboxEnv, longestMs: longestFetchMs })
    if (ran.kind === 'ended' && ran.exit.code !== 0) await run.output.note(`${notAllFetched(open)}\n`)
  }
  for (const submodule of chosen) {
    const why = await fetchChosen(deps, { ...prepared, submodule })
    if (why !== null) await run.output.note(`${namesOf([submodule])} was not fetched: ${why}\n`)
  }
  writeFileSync(notesWritten, '')
}

/** Sentences for the person about the repository, one for each fact of the survey. */
export function notesOf({ submodules, filters, isShallow }: Survey): readonly string[] {
  const count = submodules.length === 1 ? '1 submodule that is' : `${submodules.length} submodules that are`
  const others = filters.filter((filter) => filter !== 'lfs')
  return [
    ...(submodules.length > 0
      ? [
          `This repository has ${count} not fetched: ${namesOf(submodules)}. Of this code host public ones are, and private ones that the project's settings name.`,
        ]
      : []),
    ...(filters.includes('lfs')
      ? [
          'This repository keeps files in Git LFS: here they are pointers. New content of them is uploaded with the work, where the code host has Git LFS.',
        ]
      : []),
    ...(others.length > 0
      ? [
          `This repository has files that go through a filter (${others.join(', ')}), which is not run here: they are as they are stored, and new content of them is not published.`,
        ]
      : []),
    ...(isShallow ? ['Of the history of this repository only the end is here.'] : []),
  ]
}

const notAllFetched = (submodules: readonly Submodule[]): string =>
  `Not all of these submodules were fetched: ${namesOf(submodules)}. Public ones of this code host are, at commits that it still has, and private ones that the project's settings name.`

const namesOf = (submodules: readonly Submodule[]): string =>
  namedOf(
    submodules.map(({ path, repository }) => `${path} (${repository})`),
    5,
  )

const longestFetchMs = 10 * 60_000

interface Chosen extends PreparedRun<CommandRun> {
  readonly submodule: Submodule
}

/**
 * Fetches a submodule that the project's settings name, such as a private one: outside of the sandbox, with the access of whoever runs the task. The
 * sandbox gets the commits as a file, and no token. Returns `null` on success, else the reason, worded to follow a colon. Throws `Evicted`.
 */
async function fetchChosen(deps: Deps, chosen: Chosen): Promise<string | null> {
  const { workspace, submodule } = chosen
  // git ends the name of a setting at the first equals sign, so `-c` could not set this submodule's URL.
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
  deps: Deps,
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

/**
 * Checks the submodule out of the bundle, in the sandbox, because only sandboxed processes may write to the agent's repository. At the end, `sync`
 * restores the submodule's real URL. Returns the reason if there is no sandbox or a command failed; `null` on success, or when the run was stopped.
 */
async function unpack(
  deps: Deps,
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
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
