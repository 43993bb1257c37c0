/** How far a projection is behind the log. */
import { expect, test } from 'vitest'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { lagBehind } from './projectionProgress.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds))
const event = (n: number): StoredEvent => ({
  id: `e${n}`,
  stream: 'task-1',
  revision: n,
  position: String(n),
  type: 'TaskUpdated',
  version: 1,
  at: at(n).toISOString(),
  data: {},
  content: null,
  meta: {
    actor: { kind: 'system', service: 'test' },
    commandId: 'c',
    correlationId: 'c',
    causationId: null,
    follows: null,
    content: null,
    prev: '',
    hash: '',
  },
})
const events = Array.from({ length: 10 }, (_, n) => event(n))
const store = {
  readAll: async (after: string | null, limit: number) =>
    events.filter(({ position }) => after === null || Number(position) > Number(after)).slice(0, limit),
}

test('it is the events that are not folded, and the age of the oldest of them', async () => {
  expect(await lagBehind(store, '6', at(60))).toEqual({ events: 3, seconds: 53 })
  expect(await lagBehind(store, null, at(60))).toEqual({ events: 10, seconds: 60 })
})

test('with nothing left to fold there is none, however long ago the last event was', async () => {
  expect(await lagBehind(store, '9', at(6_000))).toEqual({ events: 0, seconds: 0 })
})

test('an event of a clock that is ahead of ours is no time ago', async () => {
  expect(await lagBehind(store, '8', at(0))).toEqual({ events: 1, seconds: 0 })
})
