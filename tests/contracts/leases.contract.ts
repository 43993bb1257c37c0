/** What leases must do with every store. Names are fresh, so a store that already contains leases can be used. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunningWork, Leases } from '#platform/ports/leases.ts'

export interface OpenLeases {
  readonly leases: Leases
  /** The leases as another process sees them. */
  readonly elsewhere: Leases
  /** The reports of faults that the leases have survived. */
  readonly faults: readonly string[]
  readonly close: () => Promise<void>
}

/** Pieces of work that record what happens to them, in order. */
export interface Works {
  readonly told: readonly string[]
  /** Work that records `<who> starts`, `<who> stops` when it is asked to stop, and `<who> is gone` when it has ended completely. */
  of(who: string, options?: { readonly stopsInMs?: number }): () => Promise<RunningWork>
  once(line: string, withinMs?: number): Promise<void>
}

/** How long after its holder has stopped a lease has another holder, in milliseconds. */
const followsMs = 1_000
const patientMs = 10_000
/** Longer than any adapter waits between two polls, and than an abandoned lease lasts. */
const lookMs = 1_000
const lapseMs = 4_000

export function works(): Works {
  const told: string[] = []
  return {
    told,
    of:
      (who, { stopsInMs = 0 } = {}) =>
      async () => {
        told.push(`${who} starts`)
        return {
          async stop() {
            told.push(`${who} stops`)
            await pause(stopsInMs)
            told.push(`${who} is gone`)
          },
        }
      },
    once: (line, withinMs = patientMs) =>
      vi.waitFor(() => expect(told).toContain(line), { timeout: withinMs, interval: 5 }),
  }
}

const wholeLife = (who: string): readonly string[] => [`${who} starts`, `${who} stops`, `${who} is gone`]

export function leasesContract(name: string, open: () => Promise<OpenLeases>): void {
  describe(`leases: ${name}`, () => {
    let opened: OpenLeases
    let leases: Leases
    let elsewhere: Leases
    let lease: string
    beforeEach(async () => {
      opened = await open()
      ;({ leases, elsewhere } = opened)
      lease = `lease-${randomUUID()}`
    })
    afterEach(() => opened.close())

    test('of several that want a name one has it at a time, and each has it in the end', async () => {
      const { told, of } = works()
      const who = ['a', 'b', 'c', 'd']
      const holdings = new Map(
        who.map((each, index) => [
          each,
          (index % 2 === 0 ? leases : elsewhere).hold(lease, of(each, { stopsInMs: 20 })),
        ]),
      )
      const order: string[] = []
      while (holdings.size > 0) {
        await vi.waitFor(() => expect(told.at(-1)).toMatch(/starts$/), patientMs)
        const holder = told.at(-1)?.split(' ')[0] ?? ''
        order.push(holder)
        await holdings.get(holder)?.stop()
        holdings.delete(holder)
      }
      expect(order.toSorted()).toEqual(who)
      // Nobody starts before the previous holder has ended.
      expect(told).toEqual(order.flatMap(wholeLife))
      expect(opened.faults).toEqual([])
    })

    test('when the holder stops the next has it within a second', async () => {
      const { told, of, once } = works()
      const first = leases.hold(lease, of('first'))
      await once('first starts')
      const next = elsewhere.hold(lease, of('next'))
      await pause(lookMs)
      expect(told).toEqual(['first starts'])
      await first.stop()
      expect(told.slice(0, 3)).toEqual(wholeLife('first'))
      await once('next starts', followsMs)
      await next.stop()
      expect(told).toEqual([...wholeLife('first'), ...wholeLife('next')])
    })

    test('a holder keeps it for as long as it lives, however many others wait', async () => {
      const { told, of, once } = works()
      leases.hold(lease, of('holder'))
      await once('holder starts')
      for (const who of ['one', 'two', 'three']) elsewhere.hold(lease, of(who))
      await pause(lapseMs)
      expect(told).toEqual(['holder starts'])
    })

    test('a name is held again by who stopped holding it', async () => {
      const { told, of, once } = works()
      for (const who of ['once', 'twice']) {
        const holding = leases.hold(lease, of(who))
        await once(`${who} starts`)
        await holding.stop()
      }
      expect(told).toEqual([...wholeLife('once'), ...wholeLife('twice')])
    })

    test('a start that throws is reported and tried again', async () => {
      const { told, of } = works()
      let starts = 0
      const holding = leases.hold(lease, () => {
        starts += 1
        return starts < 3 ? Promise.reject(new Error('not yet')) : of('work')()
      })
      await vi.waitFor(() => expect(told).toEqual(['work starts']), patientMs)
      expect(opened.faults).toEqual(Array(2).fill(expect.stringContaining(lease)))
      await holding.stop()
      expect(told).toEqual(wholeLife('work'))
    })

    test('another that can start comes before one whose start throws', async () => {
      const { of, once } = works()
      let starts = 0
      let isTried = () => {}
      const tried = new Promise<void>((resolve) => (isTried = resolve))
      const broken = leases.hold(lease, async () => {
        starts += 1
        // By now somebody else is waiting.
        await tried
        throw new Error('not here')
      })
      await vi.waitFor(() => expect(starts).toBe(1), patientMs)
      elsewhere.hold(lease, of('other'))
      isTried()
      await once('other starts')
      expect(starts).toBe(1)
      await broken.stop()
    })

    test('one that waits may stop: it never starts, the holder goes on, and who waits behind it has its turn', async () => {
      const { told, of, once } = works()
      const holder = leases.hold(lease, of('holder'))
      await once('holder starts')
      const waiting = elsewhere.hold(lease, of('waiting'))
      const behind = leases.hold(lease, of('behind'))
      await waiting.stop()
      expect(told).toEqual(['holder starts'])
      await holder.stop()
      await once('behind starts')
      await behind.stop()
      expect(told).toEqual([...wholeLife('holder'), ...wholeLife('behind')])
    })

    test('one that is stopped while it starts is stopped once it has started', async () => {
      const { told, of } = works()
      let begun = false
      let mayStart = () => {}
      const permission = new Promise<void>((resolve) => (mayStart = resolve))
      const holding = leases.hold(lease, async () => {
        begun = true
        await permission
        return of('work')()
      })
      await vi.waitFor(() => expect(begun).toBe(true), patientMs)
      const stopped = holding.stop()
      mayStart()
      await stopped
      expect(told).toEqual(wholeLife('work'))
    })

    test('work that fails to stop is reported, and the next has the name all the same', async () => {
      const { of, once } = works()
      let runs = false
      const first = leases.hold(lease, async () => {
        runs = true
        return { stop: () => Promise.reject(new Error('not now')) }
      })
      await vi.waitFor(() => expect(runs).toBe(true), patientMs)
      elsewhere.hold(lease, of('next'))
      await first.stop()
      await once('next starts')
      expect(opened.faults).toEqual([expect.stringContaining(lease)])
    })

    test('names do not hinder each other, nor does the failure of one the others', async () => {
      const { told, of, once } = works()
      const names = [`${lease}-a`, `${lease}-b`, `${lease}-c`]
      leases.hold(`${lease}-broken`, () => Promise.reject(new Error('never')))
      const holdings = names.map((each) => leases.hold(each, of(each)))
      for (const each of names) await once(`${each} starts`)
      await holdings[1]?.stop()
      expect(told.slice(3)).toEqual([`${names[1]} stops`, `${names[1]} is gone`])
    })

    test('closing stops what is held and what waits, and resolves when nothing runs any more', async () => {
      const { told, of, once } = works()
      leases.hold(lease, of('holder', { stopsInMs: 50 }))
      await once('holder starts')
      leases.hold(lease, of('waiting'))
      leases.hold(`${lease}-other`, of('other', { stopsInMs: 50 }))
      await once('other starts')
      await leases.close()
      expect(told.toSorted()).toEqual([...wholeLife('holder'), ...wholeLife('other')].toSorted())
    })

    test('leases that are there are ready', async () => {
      await expect(leases.ready()).resolves.toBeUndefined()
    })
  })
}
