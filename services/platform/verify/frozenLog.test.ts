/** What a release wrote is read for ever: the log of a real run is checked by our code and by code that knows the document alone. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { views } from '#domain/views/all.ts'
import { foldView } from '#domain/views/view.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { eventLog } from '#platform/eventlog/eventLog.ts'
import { readFrozenLog } from '../../../tests/server/frozenLog.ts'
import { openTestEngines } from '../../../tests/server/engines.ts'
import { storeOf } from '../../../tests/server/tampering.ts'
import { verifyLog } from './verify.ts'

const { events, contents, documents } = await readFrozenLog('v1')

/** A vault that knows what was sealed, by the event whose id ends the context. */
const vault = {
  open: async (_scope: string, context: string) => {
    const plain = contents.get(context.slice(context.indexOf('#') + 1))
    return plain === undefined ? undefined : new Uint8Array(Buffer.from(plain))
  },
}

describe('the log of version 1', () => {
  test('is whole: every chain, every order, every content', async () => {
    const verified = await verifyLog({ eventStore: storeOf(events), vault }, async (page) =>
      page.map(digestsOf),
    )
    expect(verified).toMatchObject({ findings: [], more: 0, erased: 0, events: events.length })
    expect(contents.size).toBe(events.filter(({ content }) => content !== null).length)
  })

  test('is read by the kinds of today, and folds to the documents that it folded to then', async () => {
    const engines = await openTestEngines()
    const log = eventLog({ ...engines, vault: { ...engines.vault, ...vault } })
    const opened = await Promise.all(events.map(log.open))
    await engines.close()
    for (const view of views) {
      const folded = [...foldView(view, new Map(), opened).values()].toSorted((a, b) =>
        a.id < b.id ? -1 : 1,
      )
      expect(JSON.parse(JSON.stringify(folded))).toEqual(documents.get(view.collection))
    }
  })
})

// From here on nothing of ours is used: this is written from docs/log-format.md.
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jcs(member)}`).join(',')}}`
}

/** The places that are wrong, by the document alone. */
function wrongIn(log: readonly StoredEvent[], shown: ReadonlyMap<string, string>): readonly string[] {
  const ends = new Map<string, StoredEvent>()
  return log.flatMap((event) => {
    const { id, stream, revision, type, version, at, data, content, meta } = event
    const { hash, ...linked } = meta
    const before = ends.get(stream)
    ends.set(stream, event)
    const plain = shown.get(id)
    const task = ends.get(stream.replace(/^terminal-/, 'task-'))
    const anchor = Object(data).terminal
    const named =
      anchor &&
      log.find(
        (one) => one.stream === stream.replace(/^task-/, 'terminal-') && one.revision === anchor.revision,
      )
    const holds =
      revision === (before?.revision ?? -1) + 1 &&
      meta.prev === (before?.meta.hash ?? '') &&
      hash === sha256(jcs({ scheme: 1, id, stream, revision, type, version, at, data, meta: linked })) &&
      (content === null ? null : sha256(Buffer.from(content, 'base64'))) === (meta.content?.sealed ?? null) &&
      (plain === undefined || sha256(plain) === meta.content?.commitment) &&
      (meta.follows === null) === !stream.startsWith('terminal-') &&
      (meta.follows === null || meta.follows <= (task?.revision ?? -1)) &&
      (!anchor || named?.meta.hash === anchor.hash)
    return holds ? [] : [`${stream} @ ${revision}`]
  })
}

describe('a verifier that knows the document alone', () => {
  test('finds the log whole, also with any of its contents withheld or erased', () => {
    expect(wrongIn(events, contents)).toEqual([])
    expect(wrongIn(events, new Map())).toEqual([])
  })

  test('finds each event that was changed by one bit, and each content', () => {
    for (const [index, event] of events.entries()) {
      const flipped = (text: string) => `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`
      const changes: StoredEvent[] = [
        { ...event, id: flipped(event.id) },
        { ...event, type: flipped(event.type) },
        { ...event, at: flipped(event.at) },
        { ...event, data: { ...Object(event.data), added: 1 } },
        { ...event, meta: { ...event.meta, commandId: flipped(event.meta.commandId) } },
        { ...event, meta: { ...event.meta, hash: flipped(event.meta.hash) } },
      ]
      for (const changed of changes) expect(wrongIn(events.with(index, changed), contents)).not.toEqual([])
      const plain = contents.get(event.id)
      const told = new Map(contents).set(event.id, flipped(plain ?? 'a'))
      expect(wrongIn(events, told)).toEqual([`${event.stream} @ ${event.revision}`])
    }
  })

  test('computes what the document shows', async () => {
    const text = await readFile(new URL('../../../docs/log-format.md', import.meta.url), 'utf8')
    const vectors = [...text.matchAll(/```json\n(.*)\n```\n\n(?:SHA-256|Commitment): `([0-9a-f]{64})`/g)]
    expect(vectors).toHaveLength(3)
    for (const [, form = '', digest] of vectors) {
      expect(jcs(JSON.parse(form))).toBe(form)
      expect(sha256(form)).toBe(digest)
    }
    const digests = events.flatMap(({ meta }) => [meta.hash, meta.content?.commitment])
    for (const [, , digest] of vectors) expect(digests).toContain(digest)
  })
})
