/** What the connected runners report about the agents, and the notices that they want on every page. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentNames } from '#domain/agents.ts'
import type { AgentState } from '#domain/api/server.schema.ts'
import { hearingBus, type HearingBus } from '../../tests/hearingBus.ts'
import { startAgents, startNotices, type Agents, type Notices } from './connectedRunners.ts'

let bus: HearingBus
let now: number
let agents: Agents
let notices: Notices
beforeEach(() => {
  bus = hearingBus()
  now = 1_000_000
  agents = startAgents(bus, { paying: async ({ ownerId }) => keyOf(ownerId) }, () => now)
  notices = startNotices(bus, () => now)
})
afterEach(() => {
  agents.stop()
  notices.stop()
})

const keyOf = (ownerId: string) =>
  ownerId === 'with a key'
    ? {
        payer: 'person' as const,
        key: { kind: 'api_key' as const, value: 'a key of ones own', baseUrl: null },
      }
    : undefined

const opus = { name: 'opus', label: 'Opus' }
const claude: AgentState = {
  name: 'claude',
  installed: true,
  version: '2',
  missing: null,
  keyInSandbox: false,
  models: [opus],
}
const cursor: AgentState = { ...claude, name: 'cursor', version: '3', keyInSandbox: true, models: [] }
const keyless = { ...cursor, missing: 'It has no key.' }
const absent = { ...cursor, installed: false, version: null, missing: 'It is not installed.' }
const speaks = (runnerId: string, ...states: AgentState[]) =>
  bus.publish('runner', { runnerId, notices: [], agents: states, jobs: [] })

/** The states of the agents that the runners in these tests report. */
const told = (states: readonly AgentState[]) =>
  states.filter(({ name }) => name === 'claude' || name === 'cursor')

test('who asks before a runner has told is answered once one has', async () => {
  const asked = agents.read()
  speaks('a')
  speaks('a', claude, absent)
  expect(told(await asked)).toEqual([claude, absent])
})

test('an agent that one of several runners can run can be run', async () => {
  speaks('a', claude, absent)
  speaks('b', { ...claude, version: '1' }, keyless)
  expect(told(await agents.read())).toEqual([claude, keyless])
  speaks('c', claude, cursor)
  expect(told(await agents.read())).toEqual([claude, cursor])
})

test('while no runner is connected none can be run, and that is said', async () => {
  speaks('a', claude, cursor)
  now += 5_001
  const states = await agents.read()
  expect(told(states).map(({ name, installed }) => ({ name, installed }))).toEqual([
    { name: 'claude', installed: false },
    { name: 'cursor', installed: false },
  ])
  expect(new Set(states.map(({ missing }) => missing))).toEqual(new Set(['No connected runner can run it.']))
})

test('why none can run an agent is known once a runner has told, and only while none can', () => {
  expect(agents.whyNone('cursor')).toBeNull()
  speaks('a')
  expect(agents.whyNone('cursor')).toBeNull()
  speaks('a', claude, absent)
  expect([agents.whyNone('claude'), agents.whyNone('cursor')]).toEqual([null, 'It is not installed.'])
  speaks('b', claude, keyless)
  expect(agents.whyNone('cursor')).toBe('It has no key.')
  speaks('c', claude, cursor)
  expect(agents.whyNone('cursor')).toBeNull()
  now += 5_001
  expect(agents.whyNone('cursor')).toBeNull()
})

test('who waits is let go when the gateway stops', async () => {
  const asked = agents.read()
  agents.stop()
  expect((await asked).length).toBe(agentNames.length)
})

const nobody = 'No runner is connected. New tasks will wait.'

const notify = (runnerId: string, ...sentences: string[]) =>
  bus.publish('runner', { runnerId, notices: sentences, agents: [], jobs: [] })

test('nothing is said before a runner could have spoken, and then that there is none', () => {
  expect(notices.read()).toEqual([])
  now += 5_000
  expect(notices.read()).toEqual([])
  now += 1
  expect(notices.read()).toEqual([nobody])
})

test('what a runner says is told at once, and takes the place of what it said before', () => {
  notify('a', 'The model is scripted.', 'There is no sandbox.')
  expect(notices.read()).toEqual(['The model is scripted.', 'There is no sandbox.'])
  notify('a', 'There is no sandbox.')
  expect(notices.read()).toEqual(['There is no sandbox.'])
  notify('a')
  expect(notices.read()).toEqual([])
})

test('what several say is told once', () => {
  notify('a', 'The model is scripted.')
  notify('b', 'There is no sandbox.', 'The model is scripted.')
  expect(notices.read()).toEqual(['The model is scripted.', 'There is no sandbox.'])
})

test('a runner that is silent for more than five seconds is there no more, and the others are', () => {
  notify('a', 'The model is scripted.')
  now += 3_000
  notify('b', 'There is no sandbox.')
  now += 2_000
  expect(notices.read()).toEqual(['The model is scripted.', 'There is no sandbox.'])
  now += 1
  expect(notices.read()).toEqual(['There is no sandbox.'])
  now += 3_000
  expect(notices.read()).toEqual([nobody])
})

test('a runner that has nothing to say is there all the same, and one that comes back is heard', () => {
  now += 60_000
  notify('a')
  expect(notices.read()).toEqual([])
  now += 5_001
  expect(notices.read()).toEqual([nobody])
  notify('a', 'There is no sandbox.')
  expect(notices.read()).toEqual(['There is no sandbox.'])
})

test('once it is stopped nothing is heard any more', () => {
  notices.stop()
  notify('a', 'There is no sandbox.')
  expect(notices.read()).toEqual([])
})

test('an agent that lacks nothing but a key runs for who has one, and for nobody else', async () => {
  const codex: AgentState = { ...claude, name: 'codex', missing: 'It has no key.', ownKey: 'openai' }
  speaks('a', codex, keyless)
  const runs = (name: 'codex' | 'cursor' | 'claude', ownerId: string) =>
    agents.canRunFor(name, { ownerId, projectId: '' })
  expect(await runs('codex', 'with a key')).toBe(true)
  expect(await runs('codex', 'without one')).toBe(false)
  // Cursor's key would enter the sandbox, and no runner has reported Claude.
  expect(await runs('cursor', 'with a key')).toBe(false)
  expect(await runs('claude', 'with a key')).toBe(false)
  speaks('a', { ...codex, installed: false, version: null })
  expect(await runs('codex', 'with a key')).toBe(false)
})
