import { describe, expect, test, vi } from 'vitest'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { busContract } from './bus.contract.ts'

busContract('in process', async () => {
  const bus = openInProcessBus({ onFault: () => {} })
  return { bus, elsewhere: bus, close: () => bus.close() }
})

describe('the bus in process', () => {
  test('a listener that fails is reported with its topic', async () => {
    const faults: unknown[][] = []
    const bus = openInProcessBus({ onFault: (...fault) => faults.push(fault) })
    const fault = new Error('as the test wants it')
    bus.subscribe('projected', () => {
      throw fault
    })
    bus.publish('projected', { projection: 'tasks', position: '1' })
    await vi.waitFor(() => expect(faults).toEqual([[expect.stringContaining('projected'), fault]]))
    await bus.close()
  })

  test('a burst without end is cut off and reported, and the bus goes on', async () => {
    const faults: string[] = []
    let heard = 0
    const bus = openInProcessBus({ onFault: (what) => faults.push(what) })
    bus.subscribe('projected', () => {
      heard += 1
    })
    for (let position = 0; position < 10_500; position += 1) {
      bus.publish('projected', { projection: 'tasks', position: String(position) })
    }
    await vi.waitFor(() => expect(heard).toBe(10_000))
    expect(faults).toEqual([expect.stringContaining('500 messages were lost')])
    bus.publish('projected', { projection: 'tasks', position: '10500' })
    await vi.waitFor(() => expect(heard).toBe(10_001))
    expect(faults).toHaveLength(1)
    await bus.close()
  })
})
