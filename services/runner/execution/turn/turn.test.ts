/** How the limits of an agent's process relate to those of its turns. */
import { expect, test } from 'vitest'
import { agentLimits } from '../runLimits.ts'
import { failureOf } from './turn.ts'

const longestQuestionMs = 576 * 3_600_000
const longestTurnMs = 2_073_600_000

test('no turn and no wait for a person is longer than an agent may run', () => {
  expect(agentLimits.wallMs).toBeGreaterThan(Math.max(longestQuestionMs, longestTurnMs))
})

test('an agent whose time is over is not told of as one that died', () => {
  const exit = { code: null, signal: 'SIGKILL', reason: 'time_limit' } as const
  expect(failureOf(null, exit, 'words of no meaning')).toMatchObject({
    code: 'time_limit',
    reason: 'The agent was stopped because it had run for 24 days.',
  })
  expect(failureOf(null, { ...exit, reason: 'itself' }, '')).toMatchObject({ code: 'agent_died' })
})
