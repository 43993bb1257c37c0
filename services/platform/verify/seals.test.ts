/** A log is compared with its seals: a change after a seal is found and named, even if all hashes were computed again. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealCollections } from '#platform/seals/sealTrees.ts'
import {
  allTamperings,
  openSealedLog,
  sealedOnlyTamperings,
  tryChanges,
  type SealedLog,
} from '../../../tests/server/sealedLog.ts'

let sealed: SealedLog
beforeAll(async () => {
  sealed = await openSealedLog()
})
afterAll(() => sealed?.close())

test('a log that nobody touched is whole, and every seal holds', async () => {
  const { findings, sealing, events } = await sealed.verify(sealed.log)
  expect(findings).toEqual([])
  const seals = sealed.log.filter(({ type }) => type === 'LogSealed')
  expect(sealing).toEqual({ seals: seals.length, sealed: events - 1, outside: seals.length, told: [] })
})

test('a change that only a seal can show is found at the record that was changed', async () => {
  const { missed, tried } = await tryChanges(sealed, {
    tamperings: sealedOnlyTamperings,
    times: 120,
    seed: 5,
  })
  expect(missed).toEqual([])
  expect(tried).toBe(120)
})

test('a random change of any kind is found at the right record', async () => {
  const { missed, tried } = await tryChanges(sealed, { tamperings: allTamperings, times: 200, seed: 11 })
  expect(missed).toEqual([])
  expect(tried).toBe(200)
})

test('also the seals themselves: one that is removed, cut off with what it is over, or forged', async () => {
  const last = sealed.log.findLast(({ stream }) => stream === 'seal-1')
  const without = await sealed.verify(sealed.log.filter((event) => event !== last))
  expect(without.findings).toMatchObject([
    { stream: 'seal-1', revision: last?.revision, wrong: 'seal_missing' },
  ])
  const cut = await sealed.verify(sealed.log.slice(0, 20))
  expect(cut.findings.map(({ wrong }) => wrong)).toEqual(
    expect.arrayContaining(['seal_cut', 'sealed_removed', 'seal_missing']),
  )
  const unknown = await sealed.verify(sealed.log, { ...sealed.evidence, keysOf: async () => [] })
  expect(unknown.findings[0]).toMatchObject({ stream: 'seal-1', revision: 0, wrong: 'seal_unsigned' })
})

test('without the stored trees a change is found all the same, between two seals', async () => {
  await sealed.engines.readStore.drop(sealCollections.map(({ name }) => name))
  const [tampering] = sealedOnlyTamperings
  const changed = tampering?.apply(sealed.log, () => 3) ?? []
  const { findings } = await sealed.verify(changed)
  expect(findings.map(({ wrong }) => wrong)).toContain('seal_broken')
})
