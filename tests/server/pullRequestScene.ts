/** Tasks with pull requests, with the events that the product would have recorded. */
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { PullRequestOpened, PullRequestRequested } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { creating } from '../domain/creating.ts'
import { projectId, taskId, userId } from '../domain/ids.ts'
import { cause, type TestEngines } from './engines.ts'

/** The commit with which pull requests are opened. */
export const openedWith = 'c'.repeat(40)

/** Records the nth task, in its owner's project, with the nth pull request opened. */
export async function opened({ commands, log }: TestEngines, n: number, owner = 1): Promise<void> {
  const stream = taskStream(taskId(n))
  const own = { ...creating(n), taskId: taskId(n), ownerId: userId(owner), projectId: projectId(owner) }
  const { head } = await commands.execute(task, stream, own, cause())
  const asked = { requestId: 'r', draft: false, automatic: false, rewrites: false }
  const url = `https://code.example/ada/engine/pull/${n}`
  await log.append(
    stream,
    head,
    [
      PullRequestRequested.of(asked, { title: 't', body: '', tree: null }),
      PullRequestOpened.of({ requestId: 'r' }, { number: n, url, headCommit: openedWith }),
    ],
    cause(),
  )
}

/** Records the project of an owner, with the repository ada/engine. */
export async function projectOf({ commands }: TestEngines, owner = 1): Promise<void> {
  const repository = {
    githubUrl: 'https://code.example/ada/engine',
    githubOwner: 'ada',
    githubRepoName: 'engine',
    defaultBranch: 'main',
    language: null,
  }
  const facts = { githubRepoId: '7', isPrivate: false, name: 'engine', description: '', repository }
  const command = {
    type: 'CreateProject',
    projectId: projectId(owner),
    ownerId: userId(owner),
    ...facts,
  } as const
  await commands.execute(projectDecider, projectStream(projectId(owner)), command, cause())
}
