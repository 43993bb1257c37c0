/** 10,000 random changes of a sealed log, and as many of an audit bundle: each is found at the right record. */
import { expect, test } from 'vitest'
import { bundleOf } from '../../domain/auditBundles.ts'
import { verifyBundle } from '../../../domain/proof/verifyBundle.ts'
import { cryptography } from '../../../services/platform/seals/cryptography.ts'
import { changedMember, tryBundleChanges } from '../../domain/bundleTampering.ts'
import { headerOf } from '../../domain/bundleVectors.ts'
import { allTamperings, openSealedLog, tryChanges, tryUnsealedChanges } from '../../server/sealedLog.ts'
import { pickFrom } from '../../server/tampering.ts'

const times = 10_000

test('of the stored log', async () => {
  const sealed = await openSealedLog()
  try {
    const { tried, found, missed } = await tryChanges(sealed, {
      tamperings: allTamperings,
      times,
      seed: 2_026,
    })
    expect(missed).toEqual([])
    expect(tried).toBe(times)
    expect(Object.keys(found).toSorted()).toEqual(
      [...new Set(allTamperings.map(({ kind }) => kind))].toSorted(),
    )
    process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
    expect((await sealed.verify(sealed.log)).findings).toEqual([])
  } finally {
    await sealed.close()
  }
})

test('of a stored log that nobody sealed, by its chains alone', async () => {
  const { tried, missed } = await tryUnsealedChanges(60)
  expect(missed).toEqual([])
  expect(tried).toBeGreaterThanOrEqual(2_000)
})

test('of a bundle', async () => {
  const { tried, found, missed } = tryBundleChanges(await bundleOf(), {
    times,
    pick: pickFrom(2_026),
    keys: [],
  })
  expect(missed).toEqual([])
  expect(tried).toBe(times)
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
})

test('of any member of a bundle', async () => {
  const whole = await bundleOf({ sealedAt: [7, 20, 33], links: ['link'] })
  const keys = headerOf(whole).keys
  const pick = pickFrom(2_027)
  const kinds = new Map<string, number>()
  const missed: string[] = []
  for (let tried = 0; tried < 3_000;) {
    const changed = changedMember(whole, pick)
    if (changed === undefined) continue
    tried += 1
    kinds.set(changed.kind, (kinds.get(changed.kind) ?? 0) + 1)
    if (verifyBundle(changed.lines, cryptography, { keys }).verdict === 'whole') missed.push(changed.kind)
  }
  expect(missed).toEqual([])
  process.stdout.write(`${kinds.size} kinds of 3,000 changes\n`)
})
