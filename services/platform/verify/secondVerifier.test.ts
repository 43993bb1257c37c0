/** A second verifier, written in Python only from the two pages about the formats, gives the same results as ours. */
import { expect, test } from 'vitest'
import { eventKinds } from '#domain/events.ts'
import { categoriesOf } from '#domain/proof/auditBundle.ts'
import { benignBundleKinds, compareBundles } from '../../../tests/secondVerifier/bundlesOnDisk.ts'
import { expectTelling } from '../../../tests/secondVerifier/compare.ts'
import { benignLogKinds } from '../../../tests/secondVerifier/logMutations.ts'
import { compareLogs } from '../../../tests/secondVerifier/logsOnDisk.ts'
import { secondCategories, whyNoPython } from '../../../tests/secondVerifier/secondVerifier.ts'

const why = whyNoPython()
const times = 40

test('a second verifier puts the content of every kind of event into the same categories as ours', ({
  skip,
}) => {
  skip(why !== undefined, why)
  const theirs = secondCategories()
  const types = [...eventKinds.keys()]
  expect(types.map((type) => [type, theirs.get(type) ?? ['details']])).toEqual(
    types.map((type) => [type, categoriesOf(type)]),
  )
  expect([...theirs.keys()].filter((type) => !eventKinds.has(type))).toEqual([])
})

// Holds findings 2.25.
test('a second verifier agrees with ours on changed logs', async ({ skip }) => {
  skip(why !== undefined, why)
  const compared = await compareLogs({ times, seed: 31 })
  expect(compared.disagreements).toEqual([])
  expectTelling(compared, { times, benign: benignLogKinds })
})

// Holds findings 2.26.
test('a second verifier agrees with ours on changed bundles', async ({ skip }) => {
  skip(why !== undefined, why)
  const compared = await compareBundles({ times, seed: 31 })
  expect(compared.disagreements).toEqual([])
  expectTelling(compared, { times, benign: benignBundleKinds })
})
