/** Agents: what the runners that are there say of them. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentNames } from '#domain/agents.ts'
import type { AgentState } from '#domain/api/server.schema.ts'
import { hearingBus, type HearingBus } from '../../../tests/hearingBus.ts'
import { startAgents, type Agents } from './availableAgents.ts'

let bus: HearingBus
let now: number
let agents: Agents
beforeEach(() => {
  bus = hearingBus()
  now = 1_000_000
  agents = startAgents(bus, () => now)
})
afterEach(() => agents.stop())

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

/** Those that the runners here tell of. */
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
