/** What every memory of recent keys must do. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '#platform/ports/clock.ts'
import { recentKeysPerCleanUp, type RecentKeyLimits, type RecentKeys } from '#platform/ports/recentKeys.ts'

export interface OpenRecentKeys {
  readonly keys: RecentKeys
  /** The memory as another process, or a restarted one, sees it. */
  reopen(): Promise<RecentKeys>
  readonly close: () => Promise<void>
}

const limits: RecentKeyLimits = { keptMs: 10_000, ofPerson: 20, underWayMs: 1_000 }
const digestOf = (letter: string) => letter.repeat(64)

export function recentKeysContract(
  name: string,
  open: (options: { readonly clock: Clock; readonly limits: RecentKeyLimits }) => Promise<OpenRecentKeys>,
): void {
  describe(`recent keys: ${name}`, () => {
    let opened: OpenRecentKeys
    let now = 0
    beforeEach(async () => {
      now = Date.parse('2026-01-01T00:00:00.000Z')
      opened = await open({ clock: { now: () => new Date(now) }, limits })
    })
    afterEach(() => opened.close())

    const key = (person = 'ada') => ({ id: randomUUID(), person })

    test('the first digest under a key stands, and who comes later is told so', async () => {
      const one = key()
      expect(await opened.keys.remember(one, digestOf('a'))).toEqual({ digest: digestOf('a'), again: false })
      expect(await opened.keys.remember(one, digestOf('a'))).toEqual({ digest: digestOf('a'), again: true })
      expect(await opened.keys.remember(one, digestOf('b'))).toEqual({ digest: digestOf('a'), again: true })
      expect((await opened.keys.remember(key(), digestOf('b'))).again).toBe(false)
    })

    test('of many at once one is first, and all are told the same', async () => {
      const one = key()
      const other = await opened.reopen()
      const answers = await Promise.all(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((letter, index) =>
          (index % 2 === 0 ? opened.keys : other).remember(one, digestOf(letter)),
        ),
      )
      expect(answers.filter(({ again }) => !again)).toHaveLength(1)
      expect(new Set(answers.map(({ digest }) => digest)).size).toBe(1)
    })

    test('it is there after a start', async () => {
      const one = key()
      await opened.keys.remember(one, digestOf('a'))
      expect((await (await opened.reopen()).remember(one, digestOf('a'))).again).toBe(true)
    })

    test('it is forgotten when its time is over, and not before', async () => {
      const one = key()
      await opened.keys.remember(one, digestOf('a'))
      now += limits.keptMs - 1
      expect((await opened.keys.remember(one, digestOf('b'))).digest).toBe(digestOf('a'))
      now += 1
      expect(await opened.keys.remember(one, digestOf('b'))).toEqual({ digest: digestOf('b'), again: false })
    })

    test('of a person the latest are kept, and nobody’s are forgotten for theirs; what may be under way stays', async () => {
      const theirs = key('grace')
      await opened.keys.remember(theirs, digestOf('a'))
      const first = key()
      await opened.keys.remember(first, digestOf('a'))
      now += limits.underWayMs + 1
      const flood = Array.from({ length: recentKeysPerCleanUp + limits.ofPerson }, () => key())
      for (const one of flood) {
        now += 1
        await opened.keys.remember(one, digestOf('b'))
      }
      // All keys of the flood are newer than those of requests that may still be running.
      for (const one of flood) expect((await opened.keys.remember(one, digestOf('b'))).again).toBe(true)
      expect((await opened.keys.remember(first, digestOf('c'))).again).toBe(false)
      expect((await opened.keys.remember(theirs, digestOf('a'))).again).toBe(true)
      now += limits.underWayMs + 1
      for (let n = 0; n < recentKeysPerCleanUp; n += 1) {
        now += 1
        await opened.keys.remember(key(), digestOf('d'))
      }
      const kept = await Promise.all(flood.map((one) => opened.keys.remember(one, digestOf('e'))))
      expect(kept.filter(({ again }) => again).length).toBeLessThanOrEqual(limits.ofPerson)
    })

    test('of everybody no more are kept, whoever writes when it is looked at', async () => {
      const flood = Array.from({ length: 2 * recentKeysPerCleanUp }, () => key())
      for (const [index, one] of flood.entries()) {
        now += 20
        // Another caller causes the limit of each of these owners to be checked.
        await opened.keys.remember(
          (index + 1) % recentKeysPerCleanUp === 0 ? key('grace') : one,
          digestOf('a'),
        )
      }
      const told = await Promise.all(flood.map((one) => opened.keys.remember(one, digestOf('b'))))
      expect(told.filter(({ again }) => again).length).toBeLessThanOrEqual(limits.underWayMs / 20 + 1)
    })
  })
}
