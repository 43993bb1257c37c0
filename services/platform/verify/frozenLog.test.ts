/** The log that an earlier release wrote stays readable: our code, and code written from the documentation alone, check the log of a real run. */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { views } from '#domain/views/registry.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { eventLog } from '#platform/eventlog/eventLog.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { readFrozenLog } from '../../../tests/server/frozenLog.ts'
import { openTestEngines } from '../../../tests/server/engines.ts'
import { storeOf } from '../../../tests/server/tampering.ts'
import { verifyLog } from './verify.ts'
import { foldView } from '../../../tests/domain/fold.ts'

const { events, contents, documents } = await readFrozenLog('v1')

/** A vault that opens contents without keys, by the event's id at the end of the context. */
const vault: Pick<Vault, 'open' | 'openAll'> = {
  open: async (_scope, context) => plainOf(context),
  openAll: async (_scope, pieces) => pieces.map(({ context }) => plainOf(context)),
}
function plainOf(context: string): Uint8Array | undefined {
  const plain = contents.get(context.slice(context.indexOf('#') + 1))
  return plain === undefined ? undefined : new Uint8Array(Buffer.from(plain))
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

// The code below uses none of the product's code: it is written from docs/log-format.md alone.
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jcs(member)}`).join(',')}}`
}

/** The events that break a rule of the document. */
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

  // Holds findings 1.128.
  test('recorder D4: computes the seal, its line in the file of seals and the restore that the document shows', async () => {
    const text = await readFile(new URL('../../../docs/log-format.md', import.meta.url), 'utf8')
    const shown = (name: string): string => new RegExp(`\`\`\`${name}\\n(.*)\\n\`\`\``).exec(text)?.[1] ?? ''
    const [, name = '', id = '', key64 = ''] = /`(flightdeck[^+`]+)\+([0-9a-f]{8})\+([^`]+)`/.exec(text) ?? []
    const raw = Buffer.from(key64, 'base64').subarray(1)
    const key = createPublicKey({
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]),
      format: 'der',
      type: 'spki',
    })
    const idUnder = (origin: string) =>
      sha256(Buffer.concat([Buffer.from(`${origin}\n\u0001`), raw])).slice(0, 8)
    expect(idUnder(name)).toBe(id)
    expect(text).toContain(
      `\`${sha256(raw)
        .slice(0, 32)
        .replaceAll(/.{4}(?=.)/g, '$& ')}\``,
    )
    const isSigned = (origin: string, size: number, root: string, signature: string) =>
      verify(
        null,
        Buffer.from(`${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\n`),
        key,
        Buffer.from(signature, 'hex'),
      )
    const ends = new Map(events.map((event) => [event.stream, event]))
    const root = treeOf(events.map(({ meta }) => Buffer.from(meta.hash, 'hex')))
    const heads = treeOf(
      [...ends.values()].map((e) => Buffer.from(`${e.stream}\n${e.revision}\n${e.meta.hash}\n`)),
    )
    const seal = JSON.parse(shown('seal'))
    expect(seal).toMatchObject({
      size: events.length,
      root,
      heads: { streams: ends.size, root: heads },
      keyId: id,
    })
    expect(isSigned(name, seal.size, root, seal.signature)).toBe(true)
    expect(isSigned(`${name}/heads/${seal.size}`, ends.size, heads, seal.heads.signature)).toBe(true)
    const noteOf = (origin: string, size: number, of: string, signature: string) =>
      `${origin}\n${size}\n${Buffer.from(of, 'hex').toString('base64')}\n\n\u2014 ${name} ${Buffer.from(id + signature, 'hex').toString('base64')}\n`
    expect(JSON.parse(shown('line'))).toEqual({
      revision: 0,
      at: '2026-11-23T22:37:00.000Z',
      checkpoint: noteOf(name, seal.size, root, seal.signature),
      heads: noteOf(`${name}/heads/${seal.size}`, ends.size, heads, seal.heads.signature),
    })
    const { epoch, tree } = JSON.parse(shown('restore'))
    const next = name.replace(/1$/, String(epoch))
    expect(tree).toMatchObject({ size: events.length, root, keyId: idUnder(next) })
    expect(isSigned(`${next}/restored`, tree.size, root, tree.signature)).toBe(true)
  })
})

/** The root by RFC 6962, in hex. */
function treeOf(leaves: readonly Uint8Array[]): string {
  const hashOf = (from: number, to: number): string => {
    const [leaf] = leaves.slice(from, from + 1)
    if (to - from === 1 && leaf) return sha256(Buffer.concat([Buffer.of(0), leaf]))
    let left = 1
    while (left * 2 < to - from) left *= 2
    return sha256(Buffer.from(`01${hashOf(from, from + left)}${hashOf(from + left, to)}`, 'hex'))
  }
  return hashOf(0, leaves.length)
}
