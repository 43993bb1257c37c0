/** A repeated request for a draft is done again after a failure, but never over a later request. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { PullRequestOpened } from '#domain/task/events.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { taskId, userId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import type { CommandServices } from '../services.ts'
import { setDraft } from './draft.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

test('a repeated request for a draft leaves a later one as it is', async () => {
  const opened = PullRequestOpened.of({ requestId: 'r' }, { number: 7, url: '', headCommit: 'c'.repeat(40) })
  const history = [...past.running, past.prepared, past.succeeded(1), opened]
  await engines.log.append(taskStream(taskId(1)), emptyHead, history, cause())
  const atHost: boolean[] = []
  let isAway = true
  const services = {
    commands: engines.commands,
    documents: { now: async () => ({ number: 7, nodeId: 'PR_7' }) },
    access: { tokenOf: async () => 'token' },
    codeHost: {
      async setDraft(_token: string, _nodeId: string, draft: boolean) {
        if (isAway) throw new Error('away')
        atHost.push(draft)
      },
      pullRequestStates: async () => [],
    },
  } as unknown as CommandServices
  const ask = (commandId: string, draft: boolean) => {
    const person = { actor: { kind: 'user', userId: userId(1) }, user: { id: userId(1) }, commandId }
    return setDraft(services, taskId(1), person as unknown as Parameters<typeof setDraft>[2], draft)
  }
  const [first, second] = [randomUUID(), randomUUID()]
  await expect(ask(first, true)).rejects.toThrow('away')
  isAway = false
  await ask(first, true)
  expect(atHost).toEqual([true])
  await ask(second, false)
  await ask(first, true)
  expect(atHost).toEqual([true, false])
})
