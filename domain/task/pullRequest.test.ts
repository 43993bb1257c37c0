/** A pull request is a recorded intent first and a recorded outcome after; one at a time. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { messageId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import {
  MessagePosted,
  PullRequestFailed,
  PullRequestOpened,
  PullRequestRequested,
  PullRequestUpdated,
} from './events.ts'
import { task } from './task.ts'

const request = {
  type: 'RequestPullRequest',
  requestId: 'request-1',
  title: null,
  body: null,
  draft: false,
} as const
const asked = PullRequestRequested.of(
  { requestId: 'request-1', draft: false },
  { title: past.title, body: past.description },
)
const url = 'https://code.example/acme/hello/pull/7'
const headCommit = 'c'.repeat(40)
const settle = (kind: 'opened' | 'updated', requestId = 'request-1') =>
  ({
    type: 'SettlePullRequest',
    requestId,
    outcome: { kind, number: 7, url, headCommit, messageId: messageId(9) },
  }) as const
const opened = PullRequestOpened.of({ requestId: 'request-1', number: 7, headCommit }, { url })
const said = (message: string) =>
  MessagePosted.of(
    { messageId: messageId(9), messageType: 'system', agent: null, executionId: null },
    { message },
  )

const changed = [...past.running, past.prepared, past.changed(2), past.succeeded(1)]

describe('a request', () => {
  test('is titled and described by the task', () => given(task, changed).when(request).then([asked]))

  test('may bring its own words', () =>
    given(task, changed)
      .when({ ...request, title: 'Greet', body: 'Says hello.', draft: true })
      .then([
        PullRequestRequested.of(
          { requestId: 'request-1', draft: true },
          { title: 'Greet', body: 'Says hello.' },
        ),
      ]))

  test('needs a workspace', () => given(task, past.running).when(request).thenRefused('not_initialized'))

  test('needs changes', () =>
    given(task, past.running, past.prepared).when(request).thenRefused('no_changes'))

  test('needs the changes that are there now', () =>
    given(task, changed, past.changed(0)).when(request).thenRefused('no_changes'))

  test('needs no changes to update the pull request there is', () =>
    given(task, changed, asked, opened, past.changed(0)).when(request).then([asked]))

  test('while one is being made is that one', () =>
    given(task, changed, asked)
      .when({ ...request, requestId: 'request-2' })
      .thenNothing())

  test('may be repeated once the one before failed', () =>
    given(
      task,
      changed,
      asked,
      PullRequestFailed.of({ requestId: 'request-1', code: 'code_host_refused' }, { reason: 'No.' }),
    )
      .when(request)
      .then([asked]))
})

describe('an outcome', () => {
  test('is told in the chat when the pull request was opened', () =>
    given(task, changed, asked)
      .when(settle('opened'))
      .then([opened, said(`Pull request #7 created successfully: ${url}`)]))

  test('is told in the chat when the pull request was updated', () =>
    given(task, changed, asked)
      .when(settle('updated'))
      .then([
        PullRequestUpdated.of({ requestId: 'request-1', number: 7, headCommit }, { url }),
        said(`Pull request #7 updated successfully: ${url}`),
      ]))

  test('keeps the reason of a failure', () =>
    given(task, changed, asked)
      .when({
        type: 'SettlePullRequest',
        requestId: 'request-1',
        outcome: { kind: 'failed', code: 'code_host_refused', reason: 'The branch is protected.' },
      })
      .then([
        PullRequestFailed.of(
          { requestId: 'request-1', code: 'code_host_refused' },
          { reason: 'The branch is protected.' },
        ),
      ]))

  test('is recorded once', () =>
    given(task, changed, asked, opened).when(settle('opened')).thenRefused('evicted'))

  test('of another request is refused', () =>
    given(task, changed, asked).when(settle('opened', 'request-0')).thenRefused('evicted'))

  test('keeps the number', () =>
    expect(stateAfter(task, changed, asked, opened)).toMatchObject({
      pullRequest: { number: 7 },
      pullRequestRequest: null,
    }))
})
