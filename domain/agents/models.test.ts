import { expect, test } from 'vitest'
import { takesModel } from './models.ts'

test.each([
  ['claude', 'opus', true],
  ['claude', 'sonnet[1m]', true],
  ['claude', 'claude-opus-4-5-20251101', true],
  ['claude', 'o4-mini', false],
  ['claude', 'gpt-5', false],
  ['claude', '--settings', false],
  ['cursor', 'gpt-5', true],
  ['cursor', 'sonnet-4.5', true],
  ['cursor', 'opus', false],
  ['cursor', 'o4-mini', false],
] as const)('%s with %s: %s', (agent, model, takes) => expect(takesModel(agent, model)).toBe(takes))
