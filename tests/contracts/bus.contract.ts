/** What every bus must do. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Bus } from '#platform/ports/bus.ts'

export interface OpenBus {
  readonly bus: Bus
  /** The bus as another process sees it; the same object for a bus within one process. */
  readonly elsewhere: Bus
  readonly close: () => Promise<void>
}

export function busContract(name: string, open: () => Promise<OpenBus>): void {
  describe(`bus: ${name}`, () => {
    let opened: OpenBus
    let bus: Bus
    let elsewhere: Bus
    beforeEach(async () => {
      opened = await open()
      bus = opened.bus
      elsewhere = opened.elsewhere
    })
    afterEach(() => opened.close())

    const projected = (position: number) => ({ projection: 'tasks', position: String(position) })
    /** Subscribes on both buses, and resolves once everything that is published from now on arrives. */
    async function listening(): Promise<{ here: string[]; there: string[] }> {
      const heard = { here: new Array<string>(), there: new Array<string>() }
      bus.subscribe('projected', ({ position }) => heard.here.push(position))
      elsewhere.subscribe('projected', ({ position }) => heard.there.push(position))
      await Promise.all([bus.ready(), elsewhere.ready()])
      return heard
    }

    test('all who listen hear what one says, in the order it was said, and not before it is said', async () => {
      const heard = await listening()
      for (let position = 1; position <= 500; position += 1) bus.publish('projected', projected(position))
      expect(heard.here).toEqual([])
      const all = Array.from({ length: 500 }, (_, index) => String(index + 1))
      await vi.waitFor(() => expect(heard).toEqual({ here: all, there: all }))
    })

    test('a message comes whole, and only to those who listen to its topic', async () => {
      const heard = await listening()
      const events: unknown[] = []
      elsewhere.subscribe('appended', (event) => events.push(event))
      await elsewhere.ready()
      elsewhere.subscribe('words', (words) => events.push(words))
      await elsewhere.ready()
      const event = { stream: 'task-1', revision: 0, type: 'SampleRecorded' }
      const words = { taskId: '1', executionId: '2', messageId: '3', offset: 4, sealed: 'c2VhbGVk' }
      bus.publish('appended', event)
      await vi.waitFor(() => expect(events).toEqual([event]))
      bus.publish('words', words)
      await vi.waitFor(() => expect(events).toEqual([event, words]))
      expect(heard).toEqual({ here: [], there: [] })
    })

    test('a listener that fails harms neither the others nor what is said later', async () => {
      bus.subscribe('projected', () => {
        throw new Error('as the test wants it')
      })
      const heard = await listening()
      bus.publish('projected', projected(1))
      bus.publish('projected', projected(2))
      await vi.waitFor(() => expect(heard.here).toEqual(['1', '2']))
    })

    test('who ended listening hears nothing more, not even what was on its way', async () => {
      const first: string[] = []
      const end = bus.subscribe('projected', ({ position }) => {
        first.push(position)
        end()
      })
      const heard = await listening()
      bus.publish('projected', projected(1))
      bus.publish('projected', projected(2))
      await vi.waitFor(() => expect(heard.here).toEqual(['1', '2']))
      expect(first).toEqual(['1'])
      end()
    })

    test('what a listener says in turn is heard too', async () => {
      const heard = await listening()
      bus.subscribe('projected', ({ position }) => {
        if (Number(position) < 5) bus.publish('projected', projected(Number(position) + 1))
      })
      await bus.ready()
      bus.publish('projected', projected(1))
      await vi.waitFor(() => expect(heard.there).toEqual(['1', '2', '3', '4', '5']))
    })

    test('what is said on a closed bus is lost without a fault', async () => {
      const heard = await listening()
      await bus.close()
      bus.publish('projected', projected(1))
      await new Promise((resolve) => {
        setTimeout(resolve, 20)
      })
      expect(heard.here).toEqual([])
    })
  })
}
