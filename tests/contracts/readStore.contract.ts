/** What every read store must do. Collections have fresh names, so a store that already contains documents can be used. */
import * as fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NotFolded } from '#platform/ports/faults.ts'
import {
  changeCatalog,
  type Change,
  type Collection,
  type Document,
  type Find,
  type ReadStore,
  type Served,
} from '#platform/ports/readStore.ts'
import { randomRuns } from '../longRun.ts'

export interface OpenReadStore {
  readonly store: ReadStore
  /** Opens one more store on the same data, as another process does. */
  readonly another: () => Promise<ReadStore>
  /** Closes the store and opens another one on the same data. */
  readonly reopen: (served?: readonly Served[]) => Promise<ReadStore>
  readonly close: () => Promise<void>
  /** More documents than are written in one step; 700 by default. */
  readonly many?: number
}

export function readStoreContract(name: string, open: () => Promise<OpenReadStore>): void {
  describe(`read store: ${name}`, () => {
    let opened: OpenReadStore
    let store: ReadStore
    let tasks: string
    let projection: string
    beforeEach(async () => {
      opened = await open()
      store = opened.store
      tasks = freshName()
      projection = freshName()
      await store.prepare([taskCollection(tasks)])
    })
    afterEach(() => opened.close())

    const put = (document: Document, position: string): Change => ({
      kind: 'put',
      collection: tasks,
      document,
      position,
    })
    const remove = (id: string, position: string): Change => ({
      kind: 'remove',
      collection: tasks,
      id,
      position,
    })
    const apply = (...changes: Change[]) => store.apply(changes, { projection, position: '1' })

    test('a document comes back as it was put, and the last put counts', async () => {
      const document = {
        id: 'a',
        title: 'naïve 👩‍💻 \u0000 "',
        nested: { list: [1, null, { deep: true }] },
        none: null,
      }
      await apply(put({ id: 'a', title: 'first' }, '1'), put(document, '2'))
      expect(await store.get(tasks, 'a')).toEqual(document)
      expect(await store.get(tasks, 'b')).toBeUndefined()
    })

    test('every kind of read shows the last put, also of what was read before and what another store wrote', async () => {
      const shown = async () => [
        await store.get(tasks, 'a'),
        (await store.getMany(tasks, ['a'])).get('a'),
        ...(await store.find(tasks, {
          where: {},
          sort: { field: 'order', direction: 'ascending' },
          limit: 9,
        })),
      ]
      const document = (title: string) => ({ id: 'a', order: 1, title })
      await apply(put(document('one'), '1'))
      expect(await shown()).toEqual(Array(3).fill(document('one')))
      await apply(put(document('two'), '2'))
      expect(await shown()).toEqual(Array(3).fill(document('two')))
      const other = await opened.another()
      await other.apply([put(document('three'), '3')], null)
      expect(await shown()).toEqual(Array(3).fill(document('three')))
      await other.apply([remove('a', '4')], null)
      expect(await shown()).toEqual([undefined, undefined])
      await other.close()
    })

    test('a put that is older than what is stored is a no-op', async () => {
      await apply(put({ id: 'a', title: 'newer' }, '100'))
      await apply(put({ id: 'a', title: 'older' }, '99'))
      expect(await store.get(tasks, 'a')).toEqual({ id: 'a', title: 'newer' })
    })

    test('a batch that is applied twice changes nothing, also where one event changes a document twice', async () => {
      const batch = [
        put({ id: 'a', n: 1 }, '5'),
        put({ id: 'a', n: 2 }, '5'),
        remove('b', '6'),
        put({ id: 'c', n: 3 }, '7'),
      ]
      await apply(...batch)
      const once = await store.getMany(tasks, ['a', 'b', 'c'])
      await apply(...batch)
      expect(await store.getMany(tasks, ['a', 'b', 'c'])).toEqual(once)
      expect(once.get('a')).toEqual({ id: 'a', n: 2 })
    })

    test('a removed document is gone, and an older put does not bring it back', async () => {
      await apply(put({ id: 'a', ownerId: 'ada', order: 1 }, '10'), remove('a', '20'))
      await apply(put({ id: 'a', ownerId: 'ada', order: 1 }, '15'))
      expect(await store.get(tasks, 'a')).toBeUndefined()
      expect((await store.getMany(tasks, ['a'])).size).toBe(0)
      expect(await store.find(tasks, page({ where: { ownerId: 'ada' } }))).toEqual([])
      expect(await store.count(tasks, {})).toBe(0)
    })

    test('a document that never was can be removed, and an older put stays a no-op', async () => {
      await apply(remove('a', '20'))
      await apply(put({ id: 'a' }, '19'))
      expect(await store.get(tasks, 'a')).toBeUndefined()
      await apply(put({ id: 'a' }, '21'))
      expect(await store.get(tasks, 'a')).toEqual({ id: 'a' })
    })

    test('positions order as numbers, also beyond what a double holds', async () => {
      await apply(put({ id: 'a', n: 1 }, '18446744073709551614'), put({ id: 'b', n: 1 }, '10'))
      await apply(put({ id: 'a', n: 2 }, '18446744073709551615'), put({ id: 'b', n: 2 }, '9'))
      await apply(put({ id: 'a', n: 3 }, '9999999999999999999'))
      expect(await store.get(tasks, 'a')).toEqual({ id: 'a', n: 2 })
      expect(await store.get(tasks, 'b')).toEqual({ id: 'b', n: 1 })
    })

    test('a checkpoint moves forward, never back, and is there after a restart', async () => {
      expect(await store.checkpoint(projection)).toBeNull()
      await store.apply([], { projection, position: '9' })
      await store.apply([], { projection, position: '100' })
      await store.apply([], { projection, position: '99' })
      expect(await store.checkpoint(projection)).toBe('100')
      expect(await store.checkpoint('another')).toBeNull()
      await store.apply([put({ id: 'a' }, '101')], { projection, position: '101' })
      store = await opened.reopen()
      await store.ready()
      expect(await store.checkpoint(projection)).toBe('101')
      expect(await store.get(tasks, 'a')).toEqual({ id: 'a' })
    })

    test('getMany gives those that exist, by id', async () => {
      await apply(put({ id: 'a', n: 1 }, '1'), put({ id: 'b', n: 2 }, '2'))
      const found = await store.getMany(tasks, ['b', 'nobody', 'a', 'b'])
      expect(new Map(found)).toEqual(
        new Map([
          ['a', { id: 'a', n: 1 }],
          ['b', { id: 'b', n: 2 }],
        ]),
      )
      expect((await store.getMany(tasks, [])).size).toBe(0)
    })

    test('fields are matched by value: text, number, truth, null or missing, any of a list, inside an object', async () => {
      await apply(
        put({ id: 'a', order: 1, ownerId: 'ada', open: true, pull: { number: 7 }, until: null }, '1'),
        put({ id: 'b', order: 2, ownerId: '7', open: false, pull: { number: 8 } }, '1'),
        put({ id: 'c', order: 3, ownerId: 'eve', open: true, pull: { number: 9 }, until: 'monday' }, '1'),
      )
      const ids = async (where: Find['where']) =>
        (await store.find(tasks, page({ where }))).map(({ id }) => id)
      expect(await ids({})).toEqual(['a', 'b', 'c'])
      expect(await ids({ ownerId: 'ada' })).toEqual(['a'])
      expect(await ids({ 'pull.number': 8 })).toEqual(['b'])
      expect(await ids({ 'pull.number': '8' })).toEqual([])
      expect(await ids({ open: true })).toEqual(['a', 'c'])
      expect(await ids({ open: false, ownerId: '7' })).toEqual(['b'])
      expect(await ids({ until: null })).toEqual(['a', 'b'])
      expect(await ids({ ownerId: ['eve', 'ada', 'nobody'] })).toEqual(['a', 'c'])
      expect(await ids({ 'pull.number': [8, 9] })).toEqual(['b', 'c'])
      expect(await ids({ ownerId: [] })).toEqual([])
      expect(await ids({ id: 'b' })).toEqual(['b'])
      expect(await store.count(tasks, { open: true })).toBe(2)
    })

    test('a field that is no plain name is refused', async () => {
      for (const field of [`a') OR 1=1 --`, '$where', 'a b', '', '1a', 'a"']) {
        await expect(store.find(tasks, page({ where: { [field]: 1 } }))).rejects.toThrow(RangeError)
        await expect(store.find(tasks, page({ sort: { field, direction: 'ascending' } }))).rejects.toThrow(
          RangeError,
        )
        await expect(store.count(tasks, { [field]: 1 })).rejects.toThrow(RangeError)
      }
    })

    test('paging by the last of each page meets every document once, in either direction, among many ties', async () => {
      const documents = Array.from({ length: 57 }, (_, index) => ({
        id: `d${index}`,
        ownerId: 'ada',
        order: index % 5,
      }))
      await apply(...documents.map((document) => put(document, '1')))
      for (const direction of ['ascending', 'descending'] as const) {
        const query = page({ where: { ownerId: 'ada' }, sort: { field: 'order', direction }, limit: 10 })
        const seen: Document[] = []
        for (let next: readonly Document[] = await store.find(tasks, query); next.length > 0;) {
          seen.push(...next)
          const last = next.at(-1)
          next = await store.find(tasks, {
            ...query,
            after: { value: Number(last?.['order']), id: last?.id ?? '' },
          })
        }
        expect(seen).toEqual(modelFind(documents, { ...query, limit: 1_000 }))
      }
    })

    test('find, count and paging agree with a plain list of documents', async () => {
      await fc.assert(
        fc.asyncProperty(
          someChanges,
          fc.array(someFind, { minLength: 1, maxLength: 4 }),
          async (changes, finds) => {
            await store.drop([tasks])
            await store.prepare([taskCollection(tasks)])
            const model = new Map<string, { position: number; document: Document | undefined }>()
            for (const { id, position, document } of changes) {
              if (position >= (model.get(id)?.position ?? 0)) model.set(id, { position, document })
            }
            await apply(
              ...changes.map(({ id, position, document }) =>
                document === undefined ? remove(id, String(position)) : put(document, String(position)),
              ),
            )
            const documents = [...model.values()].flatMap(({ document }) => document ?? [])
            for (const find of finds) {
              expect(await store.find(tasks, find)).toEqual(modelFind(documents, find))
              expect(await store.count(tasks, find.where)).toBe(
                documents.filter((document) => matches(document, find.where)).length,
              )
            }
          },
        ),
        { numRuns: randomRuns(150) },
      )
    })

    test('prepare may be repeated, with more collections and indexes, and keeps what is there', async () => {
      await apply(put({ id: 'a', order: 1 }, '1'))
      const more = freshName()
      await store.prepare([{ name: tasks, indexes: [['status', 'order'], ['id']] }, taskCollection(more)])
      await store.prepare([taskCollection(tasks), taskCollection(more)])
      expect(await store.find(tasks, page({}))).toEqual([{ id: 'a', order: 1 }])
      expect(await store.find(more, page({}))).toEqual([])
    })

    test('a collection that is dropped is forgotten, with what was removed from it, and no other is', async () => {
      const others = freshName()
      await store.prepare([taskCollection(others)])
      await apply(
        ...Array.from({ length: opened.many ?? 600 }, (_, n) => put({ id: `d${n}` }, '50')),
        remove('b', '50'),
        {
          kind: 'put',
          collection: others,
          document: { id: 'o' },
          position: '50',
        },
      )
      await store.drop([tasks, freshName()])
      await store.prepare([taskCollection(tasks)])
      expect(await store.count(tasks, {})).toBe(0)
      await apply(put({ id: 'a', again: true }, '2'), put({ id: 'b', again: true }, '3'))
      expect(await store.count(tasks, { again: true })).toBe(2)
      expect(await store.get(others, 'o')).toEqual({ id: 'o' })
    })

    test('a checkpoint is forgotten alone', async () => {
      await store.apply([put({ id: 'a' }, '5')], { projection, position: '5' })
      const another = freshName()
      await store.apply([], { projection: another, position: '7' })
      await store.forget(projection)
      expect(await store.checkpoint(projection)).toBeNull()
      expect(await store.checkpoint(another)).toBe('7')
      expect(await store.get(tasks, 'a')).toEqual({ id: 'a' })
      await store.apply([], null)
      expect(await store.checkpoint(projection)).toBeNull()
    })

    describe('generations', () => {
      beforeEach(async () => {
        store = await opened.reopen([{ collection: tasks, readsFrom: 1 }])
      })
      const make = async (number: number) => {
        const name = `${tasks}_g${number}`
        await store.prepare([taskCollection(name)])
        return name
      }
      const live = async (name: string, version = 1) =>
        changeCatalog(store, (catalog) => ({
          ...catalog,
          live: { ...catalog.live, [tasks]: { name, version } },
        }))

      test('a catalog is replaced by whoever has read the last one, and comes back as it was', async () => {
        const read = await store.catalog()
        const [one, other] = [1, 2].map((epoch) => ({
          ...read,
          revision: read.revision + 1,
          log: { logId: 'l', epoch },
        }))
        if (!one || !other) throw new Error('There are two.')
        const done = await Promise.all([store.replaceCatalog(one), store.replaceCatalog(other)])
        expect(done.toSorted()).toEqual([false, true])
        const kept = done[0] ? one : other
        expect(await store.catalog()).toEqual(kept)
        expect(await store.replaceCatalog(one)).toBe(false)
        store = await opened.reopen()
        expect(await store.catalog()).toEqual(kept)
      })

      test('a collection is read and written where the catalog says, from the moment that it does', async () => {
        const [first, second] = [await make(1), await make(2)]
        await live(first)
        await apply(put({ id: 'a', order: 1, of: 'first' }, '1'))
        await store.apply(
          [{ kind: 'put', collection: second, document: { id: 'a', order: 1, of: 'second' }, position: '1' }],
          null,
        )
        expect(await store.get(tasks, 'a')).toMatchObject({ of: 'first' })
        await live(second)
        expect(await store.get(tasks, 'a')).toMatchObject({ of: 'second' })
        expect((await store.getMany(tasks, ['a'])).get('a')).toMatchObject({ of: 'second' })
        expect(await store.find(tasks, page({}))).toMatchObject([{ of: 'second' }])
        expect(await store.count(tasks, { of: 'second' })).toBe(1)
        expect(await store.get(first, 'a')).toMatchObject({ of: 'first' })
        expect(await store.generations()).toEqual(expect.arrayContaining([first, second]))
        await store.drop([first])
        expect(await store.generations()).not.toContain(first)
        expect(await store.get(tasks, 'a')).toMatchObject({ of: 'second' })
      })

      test('of a served collection nothing is read before it has a generation of a version that can be', async () => {
        store = await opened.reopen([{ collection: tasks, readsFrom: 2 }])
        const asked = () => [
          store.get(tasks, 'a'),
          store.getMany(tasks, ['a']),
          store.find(tasks, page({})),
          store.count(tasks, {}),
          apply(put({ id: 'a' }, '1')),
        ]
        expect(await refusals(asked())).toEqual(Array.from({ length: 5 }, () => expect.any(NotFolded)))
        const name = await make(1)
        await live(name, 1)
        expect(await refusals(asked())).toEqual(Array.from({ length: 5 }, () => expect.any(NotFolded)))
        await live(name, 2)
        await Promise.all(asked())
      })

      test('what is folded aside is seen by nobody until it lands, and then it is all there', async () => {
        const name = await make(1)
        const documents = Array.from({ length: opened.many ?? 700 }, (_, n) => ({
          id: `d${n}`,
          ownerId: 'ada',
          order: n,
          pull: { number: n },
        }))
        const parts = await Promise.all([0, 1].map((part) => store.aside(part)))
        for (const [index, part] of parts.entries()) {
          await part.prepare([{ name, indexes: [] }])
          const own = documents.filter(({ order }) => order % 2 === index)
          const changes = own.map((document): Change => ({
            kind: 'put',
            collection: name,
            document,
            position: '5',
          }))
          await part.apply(changes, null)
          expect(
            (
              await part.getMany(
                name,
                own.map(({ id }) => id),
              )
            ).size,
          ).toBe(own.length)
        }
        await parts[0]?.apply([{ kind: 'remove', collection: name, id: 'd0', position: '6' }], null)
        await Promise.all(parts.map((part) => part.land([name])))
        for (const part of parts) await part.close()
        await live(name)
        const query = page({ where: { ownerId: 'ada' }, limit: 1_000 })
        expect(await store.find(tasks, query)).toEqual(documents.slice(1))
        expect(await store.count(tasks, { 'pull.number': 7 })).toBe(1)
        await apply(put({ id: 'd0', order: 1 }, '5'))
        expect(await store.get(tasks, 'd0')).toBeUndefined()
      })

      test('what lands on what is there replaces what is not newer', async () => {
        const part = await store.aside(0)
        const name = await make(1)
        await part.prepare([{ name, indexes: [] }])
        const putInto = (of: string, id: string, position: string): Change => ({
          kind: 'put',
          collection: name,
          document: { id, of },
          position,
        })
        await store.apply([putInto('there', 'a', '5'), putInto('there', 'b', '7')], null)
        await part.apply(
          [putInto('aside', 'a', '5'), putInto('aside', 'b', '6'), putInto('aside', 'c', '1')],
          null,
        )
        await part.land([name])
        await part.close()
        const found = await store.getMany(name, ['a', 'b', 'c'])
        expect([...found.values()].map(({ id, of }) => `${id} ${String(of)}`).toSorted()).toEqual([
          'a aside',
          'b there',
          'c aside',
        ])
      })

      test('somebody who reads all the while meets one generation or the next, each of them whole', async () => {
        const size = 50
        const over = new AbortController()
        const seen = new Set<number>()
        await live(await filled(1))
        const reading = (async () => {
          while (!over.signal.aborted) {
            const found = await store.find(tasks, page({}))
            const of = new Set(found.map((document) => Number(document['of'])))
            expect([found.length, of.size]).toEqual([size, 1])
            for (const number of of) seen.add(number)
            await new Promise(setImmediate)
          }
        })()
        for (let number = 2; number <= 6; number += 1) {
          await live(await filled(number))
          await new Promise(setImmediate)
        }
        over.abort()
        await reading
        expect(seen.size).toBeGreaterThan(1)

        async function filled(number: number): Promise<string> {
          const name = await make(number)
          const changes = Array.from({ length: size }, (_, n): Change => ({
            kind: 'put',
            collection: name,
            document: { id: `d${n}`, order: n, of: number },
            position: '1',
          }))
          await store.apply(changes, null)
          return name
        }
      })
    })
  })
}

async function refusals(asked: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  return (await Promise.allSettled(asked)).map((answer) =>
    answer.status === 'rejected' ? answer.reason : 'not refused',
  )
}

function freshName(): string {
  return `c${randomUUID().replaceAll('-', '')}`
}

export function taskCollection(name: string): Collection {
  return {
    name,
    indexes: [['ownerId', 'order'], ['open', 'order'], ['ownerId', 'createdAt'], ['pull.number']],
  }
}

function page(find: Partial<Find>): Find {
  return { where: {}, sort: { field: 'order', direction: 'ascending' }, limit: 100, ...find }
}

const owner = fc.constantFrom('ada', 'grace', 'Ada', 'ädä', '👩', '~', '')
const someId = fc.constantFrom(...'abcdefghijkl', 'Z', 'é', '👩')
const someDocument = fc.record(
  {
    ownerId: owner,
    order: fc.integer({ min: -3, max: 3 }),
    createdAt: fc.constantFrom('2025-01-01', '2025-01-02', '2025-01-03'),
    open: fc.option(fc.boolean()),
    pull: fc.record({ number: fc.integer({ min: 1, max: 3 }) }),
  },
  { requiredKeys: ['ownerId', 'order', 'createdAt'] },
)
const someChanges = fc.array(
  fc
    .tuple(someId, fc.integer({ min: 1, max: 30 }), fc.option(someDocument, { nil: undefined, freq: 4 }))
    .map(([id, position, fields]) => ({ id, position, document: fields && { id, ...fields } })),
  { maxLength: 40 },
)
const someWhere = fc.record(
  {
    ownerId: fc.oneof(owner, fc.uniqueArray(owner, { maxLength: 3 })),
    open: fc.option(fc.boolean()),
    'pull.number': fc.oneof(
      fc.integer({ min: 1, max: 3 }),
      fc.constant(null),
      fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
    ),
  },
  { requiredKeys: [] },
)
const someSort = <V extends string | number>(field: string, value: fc.Arbitrary<V>) =>
  fc.record({
    sort: fc.record({ field: fc.constant(field), direction: fc.constantFrom('ascending', 'descending') }),
    after: fc.option(fc.record({ value, id: someId }), { nil: undefined }),
  })
const someFind: fc.Arbitrary<Find> = fc
  .tuple(
    someWhere,
    fc.integer({ min: 0, max: 8 }),
    fc.oneof(
      someSort('order', fc.integer({ min: -4, max: 4 })),
      someSort('ownerId', owner),
      someSort('createdAt', fc.constantFrom('2025-01-01', '2025-01-02')),
    ),
  )
  .map(([where, limit, { sort, after }]) => ({
    where,
    limit,
    sort,
    ...(after === undefined ? {} : { after }),
  }))

/** The same search over a plain array. */
function modelFind(documents: readonly Document[], { where, sort, limit, after }: Find): Document[] {
  const sign = sort.direction === 'ascending' ? 1 : -1
  const compare = (a: { value: unknown; id: string }, b: { value: unknown; id: string }) =>
    sign * (compareValues(a.value, b.value) || compareValues(a.id, b.id))
  const place = (document: Document) => ({ value: fieldOf(document, sort.field), id: document.id })
  return documents
    .filter(
      (document) => matches(document, where) && (after === undefined || compare(place(document), after) > 0),
    )
    .toSorted((a, b) => compare(place(a), place(b)))
    .slice(0, limit)
}

function matches(document: Document, where: Find['where']): boolean {
  return Object.entries(where).every(([field, wanted]) => {
    const value = fieldOf(document, field) ?? null
    return Array.isArray(wanted) ? wanted.includes(value) : value === wanted
  })
}

function fieldOf(document: Document, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => new Map(Object.entries(value ?? {})).get(key), document)
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}
