/**
 * 2,000 changes of a stored log and 2,000 of audit bundles: a second verifier, written in Python from the documentation of the formats alone, agrees
 * with ours.
 */
import { expect, test } from 'vitest'
import { benignBundleKinds, compareBundles } from '../../secondVerifier/bundlesOnDisk.ts'
import { expectTelling, type Comparison } from '../../secondVerifier/compare.ts'
import { benignLogKinds, logMutations } from '../../secondVerifier/logMutations.ts'
import { compareLogs } from '../../secondVerifier/logsOnDisk.ts'
import { whyNoPython } from '../../secondVerifier/secondVerifier.ts'

const why = whyNoPython()
const times = 2_000
const seed = 2_031

function report(what: string, { verdicts, samePlace, noPlace, disagreements, kinds }: Comparison): void {
  const told = { what, seed, verdicts, samePlace, noPlace, disagreements, kinds: Object.keys(kinds).length }
  process.stdout.write(`${JSON.stringify(told)}\n`)
}

test('of logs', async ({ skip }) => {
  skip(why !== undefined, why)
  const compared = await compareLogs({ times, seed })
  report('logs', compared)
  expect(compared.disagreements).toEqual([])
  expectTelling(compared, { times, benign: benignLogKinds })
  const wanted = new Set(logMutations.map(({ kind }) => kind))
  expect(Object.keys(compared.kinds).toSorted()).toEqual([...wanted].toSorted())
})

test('of bundles', async ({ skip }) => {
  skip(why !== undefined, why)
  const compared = await compareBundles({ times, seed })
  report('bundles', compared)
  expect(compared.disagreements).toEqual([])
  expectTelling(compared, { times, benign: benignBundleKinds })
})
