import { expect, test } from 'vitest'
import { modeFor } from './capabilities.ts'

test.each([
  ['claude', 'plan', 'plan'],
  ['codex', 'free', 'free'],
  ['gemini', 'plan', 'ask'],
  ['opencode', 'ask', 'ask'],
  ['cursor', 'free', 'free'],
  ['cursor', 'plan', undefined],
  ['cursor', 'ask', undefined],
] as const)('%s, told to work in the mode %s, works in %s', (agent, mode, used) =>
  expect(modeFor(agent, mode)).toBe(used),
)
