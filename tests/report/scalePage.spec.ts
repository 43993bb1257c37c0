/** `docs/scale.md` has the tables of the costs that were measured, and the arithmetic behind them is right. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Costs } from '../load/scale/costs.ts'
import { bounds, demandOf, type Assumptions } from '../load/scale/demand.ts'
import { readCosts, scaleDocument, withScaleTables } from './scalePage.ts'

test('the page is as it is generated', async () => {
  const document = await readFile(scaleDocument, 'utf8')
  expect(document).toBe(withScaleTables(document, await readCosts()))
})

const one = (value: number) => ({ command: value, query: value, gateway: value, runner: value })
const costs: Costs = {
  machine: 'a machine',
  day: '2026-01-01',
  turn: {
    events: 10,
    processor: { ...one(100), query: 200 },
    agentProcessor: 1_000,
    natsMessages: 50,
    logBytes: 1_000,
    documentBytes: 200,
    otherBytes: 300,
    workspaceBytes: 0,
  },
  event: {
    processor: { ...one(1), query: 2 },
    natsMessages: 3,
    logBytes: 100,
    documentBytes: 10,
    followingProcessor: 0.5,
    hearingProcessor: 0.1,
  },
  viewer: { memory: 1, messageProcessor: 0.1 },
  agent: { memory: 100 },
  heartbeatProcessor: 0.2,
  atRest: { memory: one(100), natsMessages: 4 },
}
/** Of 1,200 tasks, 600 run: 10 turns begin a second, and 600 events are printed. */
const assumed: Assumptions = {
  running: 0.5,
  waiting: 0.25,
  turnMinutes: 1,
  eventsAMinute: 60,
  viewersPerTask: 2,
  runsPerRunner: 10,
  busy: 0.5,
  writesASecond: 7_000,
}

test('what 1,200 tasks ask for', () => {
  expect(demandOf(1_200, costs, assumed)).toEqual({
    tasks: 1_200,
    turnsASecond: 10,
    // 10 turns of 10 events, and the printed ones.
    eventsASecond: 700,
    cores: { command: 1.6, query: 3.2, runner: 1.6, agents: 10 },
    runners: 60,
    // Following takes 0.35 of a core, viewers 0.14 in all: one gateway is left 0.15 for viewers.
    gateways: 1,
    agentBytes: 900 * 100e6,
    logBytesADay: 86_400 * (10_000 + 60_000),
    documentBytesADay: 86_400 * (5_000 + 6_000),
    // A heartbeat of each runner, and the messages of turns and of events.
    natsMessagesASecond: 60 + 500 + 1_800,
  })
})

test('more viewers ask for more gateways, until following the log alone is too much for one', () => {
  const gatewaysFor = (tasks: number, viewersPerTask: number) =>
    demandOf(tasks, costs, { ...assumed, viewersPerTask }).gateways
  expect([2, 3, 20].map((viewers) => gatewaysFor(1_200, viewers))).toEqual([1, 2, 10])
  expect(gatewaysFor(1_715, 2)).toBeNull()
})

test('each part bears as many tasks as use half of its core, and the first to give in comes first', () => {
  const borne = Object.fromEntries(bounds(costs, assumed).map(({ part, tasks }) => [part, tasks]))
  expect(borne).toEqual({
    'the projector': expect.closeTo(187.5, 3),
    'the leases of command': expect.closeTo(375, 3),
    'a gateway': expect.closeTo(1_714.286, 3),
    hints: expect.closeTo(8_571.429, 3),
    'the log': expect.closeTo(12_000, 3),
    'heartbeats of runners': expect.closeTo(50_000, 3),
  })
  expect(Object.keys(borne)[0]).toBe('the projector')
})

test('a document without a place for a table is refused', () => {
  expect(() => withScaleTables('# Scale', costs)).toThrow('no place')
})
