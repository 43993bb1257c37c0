/** Bundles that are made to mislead their reader: none is accepted as whole, and the verifier names the fault. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { present } from '../../tests/domain/present.ts'
import { bundleOf, keptEnvelopes, signingKey } from '../../tests/domain/auditBundles.ts'
import { cryptography } from '../../services/platform/seals/cryptography.ts'
import { BundleRecord, type Envelope } from './auditBundle.schema.ts'
import { orderFaults } from './bundleChain.ts'
import { envelopeHash, originOf } from './bundleHashes.ts'
import type { BundledEvent } from './bundleParts.ts'
import { verifyBundle } from './verifyBundle.ts'

const whole = await bundleOf()
const recordsOf = (lines: readonly string[]) => lines.map((line) => BundleRecord.parse(JSON.parse(line)))
const records = recordsOf(whole)
const header = present(records.find((record) => record.kind === 'header'))
const report = (lines: readonly string[], keys: readonly string[] = [], seals: readonly string[] = []) =>
  verifyBundle(lines, cryptography, { keys, seals })
const wheres = (lines: readonly string[]) =>
  report(lines).faults.map(({ kind, where }) => `${kind} at ${where}`)
const indexOf = (isWanted: (record: BundleRecord) => boolean) => records.findIndex(isWanted)
const eventIndex = indexOf((record) => record.kind === 'event' && record.event.meta.content !== null)
const eventLine = present(whole[eventIndex])
const place = (index: number) => {
  const record = records[index]
  return record?.kind === 'event' ? `${record.event.stream}@${record.event.revision}` : ''
}

describe('JSON that parsers read differently', () => {
  test.each([
    ['a member of the event', eventLine.replace('"event":{', '"event":{"type":"TaskDeleted",')],
    ['a member of the facts', eventLine.replace('"data":{', '"data":{"forged":1,"forged":2,')],
    ['a kind', eventLine.replace('{"kind":"event"', '{"kind":"header","kind":"event"')],
    [
      'a name that is written in another way',
      eventLine.replace('"event":{', '"event":{"\\u0074ype":"TaskDeleted",'),
    ],
  ])('a line with %s twice is no record', (_, line) => {
    expect(wheres(whole.with(eventIndex, line))).toContain(`unreadable at line ${eventIndex + 1}`)
  })

  test.each(['{"kind":"event",', '"event":{', '"meta":{', '"content":{'])(
    'a prototype is no member: %s',
    (before) => {
      const line = eventLine.replace(before, `${before}"__proto__":{"forged":true},`)
      expect(line).not.toBe(eventLine)
      expect(report(whole.with(eventIndex, line)).verdict).toBe('not_whole')
      const facts = eventLine.replace('"data":{', '"data":{"__proto__":{"forged":true},')
      expect(wheres(whole.with(eventIndex, facts))).toContain(`changed at ${place(eventIndex)}`)
    },
  )

  test('a header with a prototype is no header', () => {
    const line = present(whole[0]).replace('"format"', '"__proto__":{"forged":true},"format"')
    expect(wheres(whole.with(0, line))).toContain('unreadable at line 1')
  })
})

test('facts that are nested too deeply to be hashed are a change of that record', () => {
  for (const depth of [1_000, 20_000, 200_000]) {
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`
    const line = eventLine.replace('"data":{', `"data":{"deep":${deep},`)
    expect(wheres(whole.with(eventIndex, line))).toContain(`changed at ${place(eventIndex)}`)
  }
})

test('facts with half of a character are a change of that record', () => {
  const line = eventLine.replace('"data":{', '"data":{"half":"\\ud800",')
  expect(wheres(whole.with(eventIndex, line))).toContain(`changed at ${place(eventIndex)}`)
})

test('a header of a newer version further down does not hide what is wrong', () => {
  const newer = JSON.stringify({ ...header, version: 3 })
  const lines = [...whole.toSpliced(eventIndex, 1), newer]
  expect(report(lines).verdict).toBe('not_whole')
  expect(wheres(lines)).toEqual(
    expect.arrayContaining([`removed at ${place(eventIndex)}`, `unreadable at line ${lines.length}`]),
  )
})

describe('a content that is hidden', () => {
  const disclosed = records.flatMap((record, index) =>
    record.kind === 'event' && record.content.kind === 'disclosed' ? [index] : [],
  )
  const hiddenAs = (index: number, content: unknown) =>
    whole.with(index, JSON.stringify({ ...records[index], content }))
  test.each([
    { kind: 'erased' },
    { kind: 'missing_key' },
    { kind: 'changed' },
    ...(['prompts', 'answers', 'tools', 'output', 'details'] as const).map((category) => ({
      kind: 'withheld',
      category,
    })),
  ])('as %o is named: the log did not say so', (content) => {
    for (const index of disclosed)
      expect(wheres(hiddenAs(index, content))).toContain(`changed at ${place(index)}`)
  })
})

describe('two tasks of one log', () => {
  /** The kept log as it would be with another task in the place of its own. */
  function ofAnotherTask(): readonly Envelope[] {
    const other = '11111111-1111-4111-8111-111111111111'
    const heads = new Map<string, string>()
    const hashes = new Map<string, string>()
    const Anchored = z.looseObject({ terminal: z.looseObject({ hash: z.string() }) })
    return keptEnvelopes.map((event) => {
      const stream = event.stream.replace(header.taskId, other)
      const anchored = Anchored.safeParse(event.data).data
      const data = anchored
        ? { ...anchored, terminal: { ...anchored.terminal, hash: hashes.get(anchored.terminal.hash) } }
        : event.data
      const linked = { ...event, stream, data, meta: { ...event.meta, prev: heads.get(stream) ?? '' } }
      const hash = envelopeHash(cryptography, linked)
      heads.set(stream, hash)
      hashes.set(event.meta.hash, hash)
      return { ...linked, meta: { ...linked.meta, hash } }
    })
  }

  test('the events of one with the proofs and the manifest of the other', async () => {
    const others = recordsOf(await bundleOf({ all: ofAnotherTask() }))
    expect(report(others.map((record) => JSON.stringify(record)))).toMatchObject({ verdict: 'intact' })
    const textsOf = (list: readonly BundleRecord[]) => list.map((record) => JSON.stringify(record))
    const isEvent = (record: BundleRecord) => record.kind === 'event'
    const isRest = (record: BundleRecord) => record.kind !== 'event' && record.kind !== 'header'
    const mixed = textsOf([header, ...records.filter(isEvent), ...others.filter(isRest)])
    expect(wheres(mixed)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^unproven at/), 'changed at header']),
    )
    // Also with the names of the first on the proofs of the second.
    const renamed = mixed.map((line) =>
      line.startsWith('{"kind":"manifest"')
        ? present(whole.at(-1))
        : line.replaceAll('11111111-1111-4111-8111-111111111111', header.taskId),
    )
    expect(report(renamed).verdict).toBe('not_whole')
    expect(wheres(renamed)).toEqual(expect.arrayContaining([expect.stringMatching(/^unproven at task-/)]))
    const both = textsOf([...records.slice(0, -1), ...others.filter(isEvent), present(records.at(-1))])
    expect(wheres(both).filter((where) => where.startsWith('added at'))).toHaveLength(2)
  })
})

test('a key that cannot be one is not taken for the wish to trust any', () => {
  expect(report(whole, ['']).verdict).toBe('unknown_key')
  expect(report(whole, ['nonsense']).verdict).toBe('unknown_key')
})

test('many references to the end of a long terminal are checked in a moment', () => {
  const bundled = (isWanted: (event: Envelope) => boolean) => {
    const record = records.find((each) => each.kind === 'event' && isWanted(each.event))
    return present(record?.kind === 'event' ? record : undefined)
  }
  const long = 200_000
  const copies = ({ event, content }: BundledEvent, count: number) =>
    Array.from({ length: count }, (_, revision) => ({ event: { ...event, revision }, content }))
  const line = bundled(({ stream }) => stream.startsWith('terminal-'))
  const end = bundled(({ data }) => z.object({ terminal: z.object({}) }).safeParse(data).success)
  const data = { terminal: { revision: long - 1, hash: line.event.meta.hash } }
  const streams = new Map([
    [line.event.stream, copies(line, long)],
    [end.event.stream, copies({ ...end, event: { ...end.event, data } }, 20_000)],
  ])
  const begun = performance.now()
  expect(orderFaults(header, streams)).toEqual([])
  // One by one it would be 4,000,000,000 comparisons.
  expect(performance.now() - begun).toBeLessThan(60_000)
})

test('a bundle that another key of the same name signed is not of this log', async () => {
  const forged = await bundleOf({ seed: 9 })
  const lines = [
    present(forged[0]).replace(signingKey(originOf(header), 9).vkey, header.keys[0] ?? ''),
    ...forged.slice(1),
  ]
  expect(wheres(lines)).toContain('unsigned at checkpoint')
})
