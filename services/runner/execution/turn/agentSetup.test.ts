import { expect, test } from 'vitest'
import { noInstructions } from '#domain/views/instructions.ts'
import { envsOf, testSandbox } from '../../../../tests/runner/environmentScene.ts'
import { agents } from '../../agents/registry.ts'
import { firstMessage } from './agentSetup.ts'

const workspace = {
  taskId: 'task-1',
  dir: '/data/task-1/tree',
  homeDir: '/data/task-1/home',
  privateGitDir: '/data/task-1/git',
  mirrorDir: '/data/mirror',
  mirrorObjects: '/data/mirror/objects',
  branch: 'flightdeck/one',
  baseBranch: 'main',
  startCommit: null,
  owner: undefined,
}
const own = { ...noInstructions, instructions: 'Write in verse.' }
const request = { workspace, own, sandboxEnv: envsOf('').forAgent }
const first = (name: 'claude' | 'cursor') =>
  firstMessage('Fix it.', { agent: agents[name], sandbox: testSandbox }, request)

test('the first message brings the instructions to an agent that finds none in its home', () => {
  expect(first('cursor')).toMatch(/^Fix it\.\n\n.*\n\nWrite in verse\.\n\nTo show people a screenshot/)
  expect(first('claude')).toBe('Fix it.')
})
