import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { projectId, userId } from '../../../tests/domain/ids.ts'
import { envsOf, testSandbox } from '../../../tests/runner/environmentScene.ts'
import { openEgress } from '../egress/egress.ts'
import { freeMode } from '../execution/turn/agentSetup.ts'
import { noAbilityFiles } from '../workspace/git/abilityFiles.ts'
import { startWarmAgent } from './preparedWorkspaces.ts'

const workspace = {
  taskId: 'one',
  dir: '/nowhere/tree',
  homeDir: '/nowhere/home',
  privateGitDir: '/nowhere/git',
  mirrorDir: '/nowhere/mirror',
  mirrorObjects: '/nowhere/mirror/objects',
  branch: 'work',
  baseBranch: 'main',
  startCommit: null,
  owner: undefined,
}
const program = { found: true, path: '/nowhere/claude', version: '1', shown: '/nowhere/claude' } as const
const silent = logger('silent')

/** Starts an agent whose sandbox cannot be opened. `located` is called before. Returns whether a sandbox was to be opened. */
async function opens(
  located: () => void,
  signal: AbortSignal,
  more: Partial<Parameters<typeof startWarmAgent>[1]> = {},
): Promise<boolean> {
  let isOpening = false
  const scratch = {
    async make() {
      isOpening = true
      throw new Error('There is no space.')
    },
  }
  const deps = {
    agents: { hasRoom: async () => true, keep: async () => undefined },
    installed: {
      async located() {
        located()
        return program
      },
      models: () => [],
      backend: () => ({ kind: 'broker', model: { kind: 'scripted', api: 'messages' } }) as const,
      withKey: () => undefined,
      report: () => undefined,
      secrets: [],
      told: () => [],
    },
    sandbox: testSandbox,
    modelKeys: {
      keyOf: async () => undefined,
      paying: async () => undefined,
      valuesOf: async () => [],
      set: async () => false,
      remove: async () => undefined,
    },
    onlyScripted: null,
    egress: openEgress({
      agentHosts: {},
      mayReachPrivate: false,
      privateHosts: [],
      node: process.execPath,
      scratch,
      logger: silent,
    }),
    abilities: { of: async () => noAbilityFiles, at: async () => noAbilityFiles },
    scratch,
    textThreads: {
      run: () => Promise.reject(new Error('no text is that long')),
      close: async () => undefined,
    },
    logger: silent,
    ids: { uuid: randomUUID },
    isRoot: false,
  }
  const request: Parameters<typeof startWarmAgent>[1] = {
    ...freeMode,
    ownerId: userId(1),
    projectId: projectId(1),
    workspace,
    agent: 'claude',
    model: null,
    sandboxEnv: envsOf('').withSecrets,
    own: { instructions: '', commands: [] },
    allowedHooks: null,
    ...more,
  }
  await startWarmAgent(deps, request, signal).catch(() => undefined)
  return isOpening
}

test('an agent is started ahead, unless its preparation was stopped before', async () => {
  const stop = new AbortController()
  expect(await opens(() => undefined, stop.signal)).toBe(true)
  expect(await opens(() => stop.abort(), stop.signal)).toBe(false)
})

// Attacks files: hooks and local MCP servers run before the task exists, while git of this machine still writes into the tree.
test('no agent is started ahead that starts programs of the workspace', async () => {
  const { signal } = new AbortController()
  const local = [{ name: 'local', command: 'node', args: ['server.js'], env: {}, toolsOff: [] }]
  const sandboxEnv = { ...envsOf('').withSecrets, mcp: { local, remote: [], leftOut: [] } }
  expect(await opens(() => undefined, signal, { sandboxEnv })).toBe(false)
  expect(await opens(() => undefined, signal, { allowedHooks: 'a hash' })).toBe(false)
})
