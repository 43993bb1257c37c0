import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { natsBus } from '#platform/bus/nats.ts'
import { openNats, type Nats } from '#platform/bus/natsConnection.ts'
import type { Bus } from '#platform/ports/bus.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { note } from '../report/notes.ts'
import { anyNats, noNats, noOwnNats, ownNats, type AnyNats, type OwnNats } from '../servers/nats.ts'
import { busContract } from './bus.contract.ts'

const onFault = () => {}
const onWaiting = () => {}

describe.skipIf(noNats !== undefined)(`with NATS${noNats === undefined ? '' : ` (${noNats})`}`, () => {
  let server: AnyNats
  beforeAll(async () => {
    server = await anyNats()
    note('bus: NATS', server.against)
  })
  afterAll(() => server.close())

  busContract('NATS', async () => {
    const namespace = `test-${randomUUID()}`
    const here = await openNats({ url: server.url, onFault, onWaiting })
    const there = await openNats({ url: server.url, onFault, onWaiting })
    return {
      bus: natsBus({ nats: here, namespace, onFault }),
      elsewhere: natsBus({ nats: there, namespace, onFault }),
      close: async () => {
        await here.close()
        await there.close()
      },
    }
  })

  test('another process is heard, in the order it speaks', async () => {
    const namespace = `test-${randomUUID()}`
    const nats = await openNats({ url: server.url, onFault, onWaiting })
    const bus = natsBus({ nats, namespace, onFault })
    const heard: string[] = []
    bus.subscribe('projected', ({ position }) => heard.push(position))
    await bus.ready()
    const script = fileURLToPath(new URL('bus.nats.speaker.ts', import.meta.url))
    const speaker = spawn(process.execPath, ['--import', 'tsx', script, server.url, namespace, '300'], {
      env: {},
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    expect(await once(speaker, 'exit')).toEqual([0, null])
    const all = Array.from({ length: 300 }, (_, index) => String(index + 1))
    await vi.waitFor(() => expect(heard).toEqual(all))
    await nats.close()
  })

  test('products under other names on the same server are not heard', async () => {
    const nats = await openNats({ url: server.url, onFault, onWaiting })
    const bus = natsBus({ nats, namespace: `test-${randomUUID()}`, onFault })
    const other = natsBus({ nats, namespace: `test-${randomUUID()}`, onFault })
    const heard: string[] = []
    bus.subscribe('projected', ({ projection }) => heard.push(projection))
    other.publish('projected', { projection: 'other', position: '1' })
    bus.publish('projected', { projection: 'ours', position: '1' })
    await vi.waitFor(() => expect(heard).toEqual(['ours']))
    await nats.close()
  })
})

describe.skipIf(noOwnNats !== undefined)(
  `a NATS that fails${noOwnNats === undefined ? '' : ` (${noOwnNats})`}`,
  () => {
    const namespace = 'test'
    let server: OwnNats
    let nats: Nats
    let bus: Bus
    let faults: string[]
    let heard: string[]
    beforeEach(async () => {
      server = await ownNats()
      nats = await openNats({ url: server.url, onFault, onWaiting })
      faults = []
      bus = natsBus({ nats, namespace, onFault: (what) => faults.push(what) })
      heard = []
      bus.subscribe('projected', ({ position }) => heard.push(position))
      await bus.ready()
    })
    afterEach(async () => {
      await nats.close()
      await server.close()
    })
    const say = (position: number) =>
      bus.publish('projected', { projection: 'tasks', position: String(position) })

    test('after ten seconds without it, those who listened hear again, and what was said meanwhile is told as lost', async () => {
      say(1)
      await vi.waitFor(() => expect(heard).toEqual(['1']))
      await server.stop()
      await vi.waitFor(() => expect(nats.isConnected()).toBe(false))
      say(2)
      await expect(bus.ready()).rejects.toThrow(EngineUnavailable)
      await pause(10_000)
      await server.start()
      await vi.waitFor(() => bus.ready())
      say(3)
      await vi.waitFor(() => expect(heard).toEqual(['1', '3']))
      expect(faults).toEqual([expect.stringContaining('1 messages were lost')])
    }, 40_000)

    test('one that stands still is found out within a time, and what it does not take has a bound', async () => {
      const event = { stream: 'task-1', revision: 0, type: 'a'.repeat(500_000) }
      await server.freeze()
      await expect(bus.ready()).rejects.toThrow(EngineUnavailable)
      const before = process.memoryUsage().rss
      for (let count = 0; count < 400; count += 1) bus.publish('appended', event)
      expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000)
      server.thaw()
      await vi.waitFor(() => expect(faults).toEqual([expect.stringMatching(/^\d+ messages were lost/)]))
      await vi.waitFor(() => bus.ready())
      say(1)
      await vi.waitFor(() => expect(heard).toEqual(['1']))
    }, 60_000)

    test('a message that is larger than the server takes is dropped and told, and the bus goes on', async () => {
      const event = { stream: 'task-1', revision: 0, type: 'a'.repeat(2_000_000) }
      bus.publish('appended', event)
      say(1)
      await vi.waitFor(() => expect(heard).toEqual(['1']))
      expect(faults).toEqual([expect.stringContaining('more than NATS takes')])
    })

    test('what is no message of ours is told and passed over', async () => {
      for (const data of ['{', '{"projection":"tasks"}', '{"projection":"tasks","position":"-1"}']) {
        nats.connection.publish(`${namespace}.bus.projected`, data)
      }
      say(1)
      await vi.waitFor(() => expect(heard).toEqual(['1']))
      expect(faults).toEqual(Array(3).fill('A message to projected is not understood'))
    })

    test('closing the bus leaves the connection to others', async () => {
      await bus.close()
      await nats.ready()
      say(1)
      const other = natsBus({ nats, namespace, onFault })
      other.subscribe('projected', ({ position }) => heard.push(position))
      other.publish('projected', { projection: 'tasks', position: '2' })
      await vi.waitFor(() => expect(heard).toEqual(['2']))
    })
  },
)
