/** Seals and other bundles that the reader has: what they confirm, what they contradict, and what cannot be compared. */
import { describe, expect, test } from 'vitest'
import { present } from '../../tests/domain/present.ts'
import { bundleOf, keptEnvelopes, plaintextOf, signingKey } from '../../tests/domain/auditBundles.ts'
import { headerOf, sealLine } from '../../tests/domain/bundleVectors.ts'
import { cryptography } from '../../services/platform/seals/cryptography.ts'
import type { Envelope } from './auditBundle.schema.ts'
import { blobsIn } from './bundleContents.ts'
import { envelopeHash, originOf } from './bundleHashes.ts'
import { compareBundles } from './compareBundles.ts'
import { verifyBundle } from './verifyBundle.ts'

const size = keptEnvelopes.length
const sealedAt = [10, 20, 30] as const
const whole = await bundleOf({ sealedAt })
const { keys } = headerOf(whole)
const check = (lines: readonly string[], seals: readonly string[] = [], known: readonly string[] = keys) =>
  verifyBundle(lines, cryptography, { keys: known, seals })
const wheres = ({ faults }: ReturnType<typeof check>) =>
  faults.map(({ kind, where }) => `${kind} at ${where}`)

/** The log as it would be if it had gone on otherwise from some place: with right hashes, under the same key. */
function divergedFrom(index: number): readonly Envelope[] {
  const heads = new Map<string, string>()
  const anchors = new Map<string, string>()
  return keptEnvelopes.map((event, at) => {
    const data =
      at === index
        ? { ...Object(event.data), forged: true }
        : JSON.parse(
            [...anchors].reduce((text, [old, now]) => text.replaceAll(old, now), JSON.stringify(event.data)),
          )
    const linked = { ...event, data, meta: { ...event.meta, prev: heads.get(event.stream) ?? '' } }
    const hash = envelopeHash(cryptography, linked)
    if (hash !== event.meta.hash) anchors.set(event.meta.hash, hash)
    heads.set(event.stream, hash)
    return { ...linked, meta: { ...linked.meta, hash } }
  })
}
const sealsOf = async (all: readonly Envelope[], sizes: readonly number[], seed = 7) =>
  Promise.all(sizes.map(async (at, revision) => sealLine(await bundleOf({ all, size: at, seed }), revision)))
const genuine = await sealsOf(keptEnvelopes, [...sealedAt, size])
const other = divergedFrom(25)

describe('seals from elsewhere', () => {
  test('bear the bundle out: those in its list, and its own', () => {
    expect(check(whole, ['', '{"torn', ...genuine])).toMatchObject({
      verdict: 'whole',
      isWitnessed: true,
      seals: { given: 4, compared: 4, unreadable: 1, newestCompared: size },
    })
    // Older ones say nothing of what came later.
    expect(check(whole, genuine.slice(0, 2))).toMatchObject({
      verdict: 'whole',
      isWitnessed: false,
      seals: { compared: 2, newestCompared: 20 },
    })
    expect(check(whole)).toMatchObject({ verdict: 'whole', isWitnessed: false, seals: { given: 0 } })
  })

  // Holds findings 2.3.
  test('recorder H3: of another history under the same key contradict it, at any size', async () => {
    const forked = await sealsOf(other, [...sealedAt, 40, size])
    // Up to the fork both are the same.
    expect(check(whole, forked.slice(0, 2)).verdict).toBe('whole')
    expect(wheres(check(whole, [present(forked[2])]))).toEqual(['changed at seal 30'])
    expect(wheres(check(whole, [present(forked[3])]))).toEqual(['changed at seal 40'])
    expect(wheres(check(whole, [present(forked[4])]))).toEqual([`changed at seal ${size}`])
  })

  // Holds findings 2.4.
  test('recorder H3: go past the bundle without it: then its own seal was made beside them', async () => {
    const lines = await bundleOf({ size: 40, sealedAt })
    const [before, past] = [await sealsOf(keptEnvelopes, sealedAt), await sealsOf(keptEnvelopes, [size])]
    const at = (seal: string | undefined, revision: number) =>
      JSON.stringify({ ...JSON.parse(seal ?? ''), revision })
    expect(wheres(check(lines, [...before, at(past[0], 3)]))).toEqual(['removed at seal 40'])
    expect(wheres(check(lines, [at(past[0], 0)]))).toEqual(['removed at seal 40'])
    expect(wheres(check(lines, [...before, at(past[0], 0)]))).toEqual(['removed at seal 40'])
    // With a gap between them, nothing is known of what stood there.
    expect(check(lines, [...before, at(past[0], 4)])).toMatchObject({
      verdict: 'whole',
      seals: { given: 4, compared: 3, newer: 1 },
    })
  })

  test('have heads that are no text: a fault, as nobody signed them', () => {
    const odd = JSON.stringify({ ...JSON.parse(genuine[0] ?? ''), heads: 7 })
    expect(wheres(check(whole, [odd]))).toEqual(['unsigned at seal 10'])
  })

  // Holds findings 2.6.
  test('recorder H3: that are older than the list are counted, unless the bundle was asked for them', async () => {
    const some = await bundleOf({ sealedAt: [20, 30], sealsFrom: 20 })
    expect(check(some, genuine.slice(0, 1))).toMatchObject({
      verdict: 'whole',
      isWitnessed: false,
      seals: { given: 1, compared: 0, older: 1 },
    })
    const forked = await sealsOf(divergedFrom(5), [10])
    const asked = await bundleOf({ sealedAt: [20, 30], sealsFrom: 20, asked: [10] })
    expect(check(asked, genuine.slice(0, 1))).toMatchObject({ verdict: 'whole', seals: { compared: 1 } })
    expect(wheres(check(asked, forked))).toEqual(['changed at seal 10'])
    // What was asked for is no seal of the log for that.
    const between = await sealsOf(keptEnvelopes, [25])
    expect(wheres(check(await bundleOf({ sealedAt, asked: [25] }), between))).toEqual(['changed at seal 25'])
  })

  // Holds findings 2.10.
  test('recorder H4: that another key signed are named, whether or not the reader knows a key', async () => {
    const forged = await bundleOf({ all: other, seed: 9, sealedAt })
    for (const known of [[], [signingKey(originOf(headerOf(whole)), 9).vkey]]) {
      const found = check(forged, genuine, known)
      expect(found).toMatchObject({ verdict: 'not_whole', faults: [{ kind: 'unsigned', where: 'seals' }] })
      expect(found.faults[0]?.why).toMatch(/^4 of them carry this log's id .* key id [0-9a-f]{8}\.$/)
    }
    // Also when the forger lists the true key beside their own.
    const listed = await bundleOf({ all: other, seed: 9, sealedAt, olderKeys: keys })
    expect(wheres(check(listed, genuine, []))).toEqual(['changed at seal 30', `changed at seal ${size}`])
    expect(check(listed, [], keys).verdict).toBe('unknown_key')
    // A seal whose signature was changed is no better.
    const broken = present(genuine[3]).replace(/(.{8})(\\n","heads")/, 'AAAAAAA=$2')
    expect(wheres(check(whole, [broken]))).toEqual(['unsigned at seals'])
  })

  test('have heads that are signed too', async () => {
    const broken = present(genuine[1]).replace(/(.{8})(\\n"\})/, 'AAAAAAA=$2')
    expect(wheres(check(whole, [broken]))).toEqual(['unsigned at seal 20'])
    const { heads } = headerOf(await bundleOf({ all: other }))
    const mixed = JSON.stringify({ ...JSON.parse(present(genuine[3])), heads })
    expect(wheres(check(whole, [mixed]))).toEqual([`changed at seal ${size}`])
  })

  test("that an older key signed are the log's: the manifest signs the header that names it", async () => {
    const older = signingKey(originOf(headerOf(whole)), 6).vkey
    const lines = await bundleOf({ sealedAt, olderKeys: [older] })
    const seals = await sealsOf(keptEnvelopes, sealedAt, 6)
    expect(check(lines, seals)).toMatchObject({ verdict: 'whole', seals: { compared: 3 } })
    expect(wheres(check(whole, seals))).toEqual(['unsigned at seals'])
  })

  test('of other logs say nothing, and are counted', async () => {
    const lines = genuine.map((line) =>
      line.replaceAll(headerOf(whole).logId, '11111111-1111-4111-8111-111111111111'),
    )
    expect(check(whole, lines)).toMatchObject({
      verdict: 'whole',
      isWitnessed: false,
      seals: { given: 4, compared: 0, ofOtherLogs: 4 },
    })
  })

  test('recorder M6: the header of a bundle does not bear the bundle out', () => {
    expect(check(whole, whole)).toMatchObject({ isWitnessed: false, seals: { given: 0 } })
  })
})

describe('two bundles', () => {
  test('of one log agree, and the one that goes on from the other is named', async () => {
    const shorter = await bundleOf({ size: 30, sealedAt: [10, 20] })
    expect(compareBundles(shorter, whole, cryptography)).toMatchObject({
      verdict: 'agree',
      extension: { longer: 'second' },
    })
    expect(compareBundles(whole, whole, cryptography)).toMatchObject({
      verdict: 'agree',
      extension: { longer: 'neither', events: 0 },
    })
  })

  // Holds findings 2.5.
  test('recorder H3: of two histories under one key contradict each other, though each is whole', async () => {
    const forked = await bundleOf({ all: other, sealedAt })
    for (const lines of [whole, forked]) expect(check(lines).verdict).toBe('whole')
    const { verdict, contradictions } = compareBundles(whole, forked, cryptography)
    expect(verdict).toBe('contradict')
    const places = contradictions.map(({ where }) => where)
    expect(places).toEqual(expect.arrayContaining(['seal 30', `seal ${size}`]))
    expect(places.some((where) => /^(task|terminal)-.*@\d+$/.test(where))).toBe(true)
    // One is older: its own seal is not among those of the other.
    const older = await bundleOf({ all: other, size: 40, sealedAt })
    expect(compareBundles(older, whole, cryptography)).toMatchObject({ verdict: 'contradict' })
  })

  test('cannot be compared without a proof of how their trees fit, which can be asked for', async () => {
    const older = await bundleOf({ size: 15 })
    const newer = await bundleOf({ sealedAt: [30], sealsFrom: 30 })
    expect(compareBundles(older, newer, cryptography)).toMatchObject({
      verdict: 'not_compared',
      why: 'too_old',
      size: 15,
    })
    const asked = await bundleOf({ sealedAt: [30], sealsFrom: 30, asked: [15] })
    expect(compareBundles(older, asked, cryptography)).toMatchObject({ verdict: 'agree' })
  })
})

describe('what the server found when it made a bundle', () => {
  const isContent = ({ meta }: Envelope) => meta.content !== null
  const changed = present(keptEnvelopes.find((event) => event.stream.startsWith('task-') && isContent(event)))

  // Holds findings 2.1.
  test('recorder H2: a content that was changed in the log is a fault, and one without a key is not', async () => {
    const lines = (kind: 'changed' | 'missing_key') =>
      bundleOf({ contentOf: (event) => (event === changed ? { kind } : undefined) })
    expect(wheres(check(await lines('changed')))).toEqual([
      `changed at ${changed.stream}@${changed.revision}`,
    ])
    expect(check(await lines('missing_key'))).toMatchObject({ verdict: 'whole', missingKey: 1 })
  })

  // Holds findings 2.12.
  test('recorder M4: each blob that an event names is listed, and one that was changed is a fault', async () => {
    const naming = keptEnvelopes.filter(
      (event) => /^(task|terminal)-/.test(event.stream) && blobsIn(event).length > 0,
    )
    expect(naming.length).toBeGreaterThan(0)
    expect(check(whole).blobs.kept).toBe(new Set(naming.flatMap(blobsIn)).size)
    expect(check(await bundleOf({ blobState: 'missing' }))).toMatchObject({ verdict: 'whole' })
    const found = wheres(check(await bundleOf({ blobState: 'changed' })))
    expect(found).toContain(`changed at ${naming[0]?.stream}@${naming[0]?.revision}`)
  })

  // Holds findings 2.19.
  test('recorder L4: a withheld content may be disclosed later, with the right text', async () => {
    const lines = await bundleOf({ withheld: ['prompts'] })
    const at = lines.findIndex((line) => line.includes('"kind":"withheld"'))
    const record = JSON.parse(present(lines[at]))
    const shown = (text: string) =>
      lines.with(at, JSON.stringify({ ...record, content: { kind: 'disclosed', text } }))
    const text = plaintextOf(record.event.id)
    expect(check(shown(text))).toMatchObject({ verdict: 'whole', disclosedLater: 1 })
    expect(wheres(check(shown(`${text} `)))).toEqual([
      `changed at ${record.event.stream}@${record.event.revision}`,
    ])
  })
})

// Holds findings 2.18.
describe('recorder L3: the right reason is given', () => {
  const cosigned = (note: string) => `${note}\u2014 witness.example AAAAAAAA\n`
  const manifestAt = whole.length - 1

  test('for a signature that was added to the header: it is not the header that was signed', () => {
    const header = JSON.parse(present(whole[0]))
    const lines = whole.with(0, JSON.stringify({ ...header, checkpoint: cosigned(header.checkpoint) }))
    const [first, ...more] = check(lines).faults
    expect(first).toMatchObject({ kind: 'changed', where: 'header' })
    expect(more.every(({ kind, why }) => kind === 'changed' && why.includes('has other signatures'))).toBe(
      true,
    )
  })

  test('for a keyid that was changed: the key did sign', () => {
    const manifest = JSON.parse(present(whole[manifestAt]))
    const signatures = [{ ...manifest.signatures[0], keyid: 'another' }]
    expect(check(whole.with(manifestAt, JSON.stringify({ ...manifest, signatures }))).faults).toEqual([
      { kind: 'changed', where: 'manifest', why: 'Its keyid is not the key that signed it.' },
    ])
  })
})

// Holds findings 2.24.
test('recorder D7: empty lines, carriage returns, a byte order mark and lines behind the manifest are refused', () => {
  const at = 5
  const event = present(whole[at])
  expect(wheres(check(whole.toSpliced(at, 0, '')))).toEqual([`unreadable at line ${at + 1}`])
  expect(wheres(check(whole.with(at, `${event}\r`)))).toContain(`unreadable at line ${at + 1}`)
  expect(wheres(check(whole.with(0, `\ufeff${whole[0]}`)))).toContain('unreadable at line 1')
  expect(wheres(check([...whole, present(whole.find((line) => line.includes('"kind":"seal"')))]))).toContain(
    `added at line ${whole.length + 1}`,
  )
  // Spaces within a line have no meaning, and the last newline makes no line.
  expect(check([...whole.with(at, event.replace('{', '{ ')), '']).verdict).toBe('whole')
})
