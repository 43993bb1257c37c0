/** A real model runs in a sandbox that lacks the filter of system calls, if the operator allows it. */
import { expect, test } from 'vitest'
import { noFilter, taskInWeakSandbox } from '../../hostile/weakSandbox.ts'

test('finding 13: it runs where the operator allows exactly that, and what is lacking is told still', async () => {
  const { task, lacks, notices } = await taskInWeakSandbox({
    ALLOW_WEAKER_SANDBOX: 'seccomp,user_namespaces',
  })
  expect(task.status).toBe('completed')
  expect(lacks).toContainEqual(expect.stringMatching(noFilter))
  expect(notices).not.toMatch(/weaker/)
})
