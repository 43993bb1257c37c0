/** No real model runs in a sandbox that lacks the filter of system calls, unless the operator says so. */
import { expect, test } from 'vitest'
import { noFilter, taskInWeakSandbox } from './weakSandbox.ts'

// Holds findings 1.40.
test('finding 13: a real model does not run in a sandbox that lacks the filter, and everybody is told why', async () => {
  const { task, isReady, lacks, notices, asked } = await taskInWeakSandbox({})
  expect(task.status).toBe('failed')
  expect(asked).toBe(0)
  expect(isReady).toBe(true)
  expect(lacks).toContainEqual(expect.stringMatching(noFilter))
  expect(lacks).toContainEqual(expect.stringMatching(/^The memory of a sandbox is counted by /))
  expect(notices).toMatch(
    /The sandbox for agents is weaker here than it should be\. No filter of system calls/,
  )
})
