/** The single comment on the pull request of a task that was not made from an issue, on the local code host. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { FeedbackReceived } from '#domain/task/codeHost/feedbackEvents.ts'
import type { TaskCommand } from '#domain/task/commands.ts'
import {
  PullRequestOpened,
  PullRequestRequested,
  ToolStarted,
  WorkspacePrepared,
  type TaskEvent,
} from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { creating } from '../domain/creating.ts'
import { executionId, messageId, taskId } from '../domain/ids.ts'
import { cause } from '../server/engines.ts'
import { commit, gitDone, temporaryFolder, type Folder } from './codeHost.fixture.ts'
import { byPolling, eventually, issueTasks } from './codeHost.issueTasks.fixture.ts'

const here = issueTasks()
const { start, stopped, tokenOf, say, commentsOn, issueBy, label } = here
const id = taskId(1)
const stream = taskStream(id)

let folder: Folder
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(() => folder.remove())

const run = (command: TaskCommand) => here.engines.commands.execute(task, stream, command, cause())
async function append(...events: readonly TaskEvent[]): Promise<void> {
  const { log } = here.engines
  await log.append(stream, await log.headOf(stream), events, cause())
}
const feedbackId = (n: number) => `0199c6c2-0000-4000-8000-${`${n}`.padStart(12, '0')}`
const fence = (n: number) => ({ executionId: executionId(n), attempt: 1 })
const begin = (n: number) =>
  run({ type: 'StartExecution', executionId: executionId(n), afterAttempt: 0, runnerId: 'runner-1' })
const end = (n: number) => {
  const outcome = { kind: 'completed', exitCode: null } as const
  return run({
    type: 'EndExecution',
    fence: fence(n),
    outcome,
    terminal: null,
    nextExecutionId: executionId(n + 1),
  })
}

/** A task of ada's whose first turn is done, with a pull request at the code host. Answers its number. */
async function published(): Promise<number> {
  const { codeHost } = here.local
  const at = { owner: 'ada', name: 'engine' }
  const access = await codeHost.gitAccess(tokenOf('ada'), at)
  const tree = join(folder.path, 'tree')
  await gitDone(folder.path, ['clone', '-q', access.url, tree], access)
  await commit(tree, 'main', { 'README.md': 'engine\n' })
  await commit(tree, 'feature', { 'mill.js': '1\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'main', 'feature'], access)
  const asked = { head: 'feature', base: 'main', title: 'Add the mill', body: '', draft: false }
  const { number, htmlUrl: url } = await codeHost.openPullRequest(tokenOf('ada'), at, asked)
  await run(creating(1))
  await begin(1)
  await append(
    WorkspacePrepared.of(
      { executionId: executionId(1) },
      { workingBranch: 'feature', baseBranch: 'main', baseCommit: null },
    ),
  )
  await end(1)
  const request = { requestId: 'r', draft: false, automatic: false, rewrites: false }
  await append(
    PullRequestRequested.of(request, { title: 'Add the mill', body: '', tree: null }),
    PullRequestOpened.of({ requestId: 'r' }, { number, url, headCommit: 'c'.repeat(40) }),
  )
  return number
}

/** A comment of grace's on it, given to the agent by ada. */
async function sendsFeedback(number: number, n: number): Promise<void> {
  await say('grace', number, 'Please turn it faster.')
  const content = {
    number,
    writtenAt: '2026-01-31T12:00:00Z',
    author: { id: '1002', login: 'grace', isBot: false },
    url: null,
    headCommit: 'c'.repeat(40),
    reviewId: null,
    commentId: '7',
    body: 'Please turn it faster.',
    comments: [],
    check: null,
  }
  const data = { kind: 'comment', right: 'write', isKnown: true, verdict: null } as const
  await append(FeedbackReceived.of({ ...data, feedbackId: feedbackId(n) }, content))
  await run({
    type: 'SendFeedback',
    feedbackId: feedbackId(n),
    messageId: messageId(n),
    executionId: executionId(n),
    message: 'Please turn it faster.',
    content,
    right: 'write',
  })
}

const todos = (n: number, ...list: readonly (readonly [string, string])[]) =>
  run({
    type: 'RecordProgress',
    fence: fence(n),
    progress: [
      ToolStarted.of(
        {
          executionId: executionId(n),
          toolId: `t${list.map(([, status]) => status).join()}`,
          kind: 'todo',
          parentToolId: null,
        },
        {
          name: 'TodoWrite',
          target: '',
          input: JSON.stringify({ todos: list.map(([content, status]) => ({ content, status })) }),
        },
      ),
    ],
  })

test('github gap 9: a pull request has one comment that says what the agent works on, with its to-do list, until the turn is done', async () => {
  const number = await published()
  await start()
  await sendsFeedback(number, 2)
  await begin(2)
  const head = `The agent Claude works on this for ada, with Flightdeck: https://deck.example/tasks/${id}`
  const marker = `<!-- flightdeck:${id} -->`
  const ours = async () => (await commentsOn(number)).filter((body) => body.includes('flightdeck:'))
  await eventually(async () =>
    expect(await ours()).toEqual([`${head}\n\nIt works on turn 2: a comment by grace.\n\n${marker}`]),
  )
  await todos(2, ['Read mill.js', 'completed'], ['Turn it faster, as @grace asks', 'in_progress'])
  const listed = '- [x] `Read mill.js`\n- [ ] `Turn it faster, as @grace asks`'
  await eventually(async () =>
    expect(await ours()).toEqual([
      `${head}\n\nIt works on turn 2: a comment by grace.\n\n${listed}\n\n${marker}`,
    ]),
  )
  await stopped()
  await end(2)
  await start()
  await eventually(async () =>
    expect(await ours()).toEqual([`${head}\n\nTurn 2 is done.\n\n${listed}\n\n${marker}`]),
  )
  // The next turn is told in the same comment.
  await sendsFeedback(number, 3)
  await begin(3)
  await eventually(async () => {
    expect(await ours()).toHaveLength(1)
    expect((await ours())[0]).toContain('It works on turn 3: a comment by grace.')
  })
  expect((await ours())[0]).not.toContain('Read mill.js')
})

test('github gap 9: a turn that nobody at the code host asked for is told there of nothing', async () => {
  const number = await published()
  await start(byPolling)
  const words = {
    messageId: messageId(2),
    kind: 'turn',
    agent: null,
    message: 'Once more',
    images: [],
  } as const
  await run({ type: 'SendMessage', ...words, executionId: executionId(2) })
  await begin(2)
  // An issue that is told afterwards shows that this was looked at.
  const control = await issueBy('ada')
  await label('ada', control)
  await eventually(async () => expect(await commentsOn(control)).toHaveLength(1))
  expect(await commentsOn(number)).toEqual([])
})
