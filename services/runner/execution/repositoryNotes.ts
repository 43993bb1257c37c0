/** Before the first run in a workspace, tells how its repository differs from a clone, and fetches the submodules that may be read. */
import { stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fetchChosen, longestFetchMs, quoted, type ChosenDeps } from './chosenSubmodules.ts'
import { surveyOf, type Submodule, type Survey } from '../workspace/git/survey.ts'
import { namedOf } from '../workspace/names.ts'
import type { ExecutionDeps } from './run.ts'
import { runInSandbox, type CommandDeps, type PreparedRun } from './sandboxCommand.ts'

type Deps = CommandDeps & ChosenDeps & Pick<ExecutionDeps, 'scratch'>

const maxFetched = 50

/** Runs once in each workspace. What cannot be found out or fetched is told or logged, and never fails the run. */
export async function tellOfRepository(deps: Deps, prepared: PreparedRun): Promise<void> {
  const { run, workspace, envs } = prepared
  const { privateGitDir: gitDir, startCommit: commit, dir } = workspace
  const notesWritten = join(dirname(dir), 'told')
  const areWritten = await stat(notesWritten).then(
    () => true,
    () => false,
  )
  if (areWritten || commit === null) return
  const survey = await surveyOf(deps, { gitDir, commit, url: envs.repositoryUrl }).catch((fault: unknown) =>
    deps.logger.warn({ err: fault, taskId: workspace.taskId }, 'failed to look at what the repository is'),
  )
  if (!survey) return
  const onHost = survey.submodules.filter(({ isOnHost }) => isOnHost).slice(0, maxFetched)
  const submodules = survey.submodules.filter((one) => !onHost.includes(one))
  const lines = notesOf({ ...survey, submodules })
  if (lines.length > 0) await run.output.note(lines.map((line) => `${line}\n`).join(''))
  const chosen = onHost.filter(({ repository }) => envs.submodules.includes(repository.toLowerCase()))
  const open = onHost.filter((one) => !chosen.includes(one))
  if (open.length > 0) {
    // One command for each, since git stops at the first submodule that it may not read.
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
  await writeFile(notesWritten, '')
}

/** Sentences for the person, one for each fact. */
export function notesOf({ submodules, filters, isCut }: Survey): readonly string[] {
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
    ...(isCut ? ['Of the history of this repository only the end is here.'] : []),
  ]
}

const notAllFetched = (submodules: readonly Submodule[]): string =>
  `Not all of these submodules were fetched: ${namesOf(submodules)}. Public ones of this code host are, at commits that it still has, and private ones that the project's settings name.`

const namesOf = (submodules: readonly Submodule[]): string =>
  namedOf(
    submodules.map(({ path, repository }) => `${path} (${repository})`),
    5,
  )
