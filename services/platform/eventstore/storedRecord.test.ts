/** Which stored records are read as events, and which are refused. */
import { expect, test } from 'vitest'
import { sampleEvent } from '../../../tests/contracts/eventStore.samples.ts'
import { recordOfText } from './storedRecord.ts'

const { data, meta, ...rest } = sampleEvent('task-1', 1)
const row = { ...rest, position: '7', data: JSON.stringify(data), meta: JSON.stringify(meta) }
const hash = 'b'.repeat(64)

test('what was appended is an event, also with other spaces and escapes', () => {
  const event = { ...rest, data, meta, position: '7' }
  expect(recordOfText(row)).toEqual(event)
  expect(recordOfText({ ...row, data: JSON.stringify(data, null, 2) })).toEqual(event)
  const braces = { text: '{"a":1,"a":2}', a: [{ b: 1 }, { b: 2 }], 10: 'ten', 2: 'two' }
  expect(recordOfText({ ...row, data: ` ${JSON.stringify(braces)}` })).toMatchObject({ data: braces })
})

test('the usual form of the metadata is read as any other form is', () => {
  const content = { sealed: 'c'.repeat(64), commitment: 'd'.repeat(64) }
  for (const changed of [
    { actor: { kind: 'user', userId: 'ada' }, causationId: 'cause', follows: null, content: null, prev: '' },
    { actor: { kind: 'system', service: 'runner' }, causationId: null, follows: 120, content, prev: hash },
    { commandId: 'with "quotes" and \\', follows: 0 },
  ]) {
    const changedMeta = { ...meta, ...changed }
    const text = JSON.stringify(changedMeta)
    expect(recordOfText({ ...row, meta: text })).toEqual(recordOfText({ ...row, meta: ` ${text}` }))
    expect(recordOfText({ ...row, meta: text })).toMatchObject({ meta: changedMeta })
  }
  for (const refused of [{ hash: hash.toUpperCase() }, { prev: 'b' }, { follows: -1 }, { follows: 0.5 }])
    expect(recordOfText({ ...row, meta: JSON.stringify({ ...meta, ...refused }) })).toMatchObject({
      damage: 'wrong_envelope',
    })
  expect(recordOfText({ ...row, meta: row.meta.replace(/"follows":\w+/, '"follows":007') })).toMatchObject({
    damage: 'no_json',
  })
})

// Holds findings 1.94.
test('recorder M5: a name that occurs twice, at any depth, is damage', () => {
  const twice = (text: string) => text.replace('{', '{"revision":1,"hash":"x",')
  for (const damaged of [
    { data: twice(row.data) },
    { data: row.data.replace('"nested":{', '"nested":{"list":1,') },
    { meta: twice(row.meta) },
    { data: '{"a":1,"\\u0061":2}' },
  ])
    expect(recordOfText({ ...row, ...damaged })).toMatchObject({ damage: 'repeated_name', revision: 1 })
})

// Holds findings 1.77.
test('what is no JSON, has not the members of an event or is too large is damage, and says its hash where that can be read', () => {
  const cut = row.data.slice(0, -1)
  expect(recordOfText({ ...row, data: cut })).toMatchObject({
    damage: 'no_json',
    hash,
    beginning: expect.stringContaining(cut.slice(0, 40)),
  })
  expect(recordOfText({ ...row, meta: row.meta.slice(0, -1) })).toMatchObject({ damage: 'no_json', hash })
  expect(recordOfText({ ...row, meta: '{}' })).toMatchObject({ damage: 'wrong_envelope', hash: null })
  expect(recordOfText({ ...row, data: '[]' })).toMatchObject({ damage: 'wrong_envelope', hash })
  expect(recordOfText({ ...row, at: 'yesterday' })).toMatchObject({ damage: 'wrong_envelope' })
  expect(recordOfText({ ...row, version: 0 })).toMatchObject({ damage: 'wrong_envelope' })
  expect(recordOfText({ ...row, data: null, meta: null })).toMatchObject({
    damage: 'too_large',
    beginning: ' ',
  })
  const deepFor = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  // Twice, since facts that are the same as those of the record before are not checked again.
  for (const depth of [200_000, 200, 200])
    expect(recordOfText({ ...row, data: `{"a":${deepFor(depth)}}` })).toMatchObject({ damage: 'too_large' })
})

test.each<[string, Partial<Record<keyof typeof row, unknown>>]>([
  ['no id', { id: '' }],
  ['an id that is no text', { id: 7 }],
  ['no type', { type: '' }],
  ['no stream', { stream: '' }],
  ['a revision below 0', { revision: -1 }],
  ['a revision that is not whole', { revision: 0.5 }],
  ['a version that is text', { version: '1' }],
  ['a version beyond the safe integers', { version: 2 ** 53 }],
  ['a time without a zone', { at: '2026-01-01T00:00:00.000' }],
  ['a day that does not exist', { at: '2026-02-30T00:00:00.000Z' }],
  ['a content that is no text', { content: 7 }],
  ['no position', { position: '0' }],
])('a record with %s is damage', (_, changed) => {
  expect(recordOfText(Object.assign({ ...row }, changed))).toMatchObject({ damage: 'wrong_envelope' })
})

test.each(['2026-01-01T00:00:00Z', '2028-02-29T23:59:59.123456Z'])('a time may be %s', (at) => {
  expect(recordOfText({ ...row, at })).toMatchObject({ at })
})
