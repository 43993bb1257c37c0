/**
 * The trees that are sealed: one over all events of the log in order, and one over the last event of each stream. Their hashes are stored as
 * documents beside the read models. So a new event costs few hashes, and a restart reads only the right edge and the last event of each stream. The
 * trees can be discarded and computed again from the log.
 */
import { z } from 'zod'
import type { Position } from '#domain/kernel/event.ts'
import { logStream, sealStream } from '#domain/kernel/streams.ts'
import { LogRestored, RestoredEpoch, type LogIdentity } from '#domain/log.ts'
import { leafOf } from '#domain/proof/bundleHashes.ts'
import { leafHash, type Hash } from '#domain/proof/merkleTree.ts'
import { headLeaf } from '#domain/proof/sealNotes.ts'
import {
  edgeOf,
  emptyTree,
  rootOfTiles,
  setLeaf,
  settle,
  tileBytes,
  tileName,
  type TiledTree,
} from '#domain/proof/tiles.ts'
import { LogSealed } from '#domain/seal.ts'
import { isDamaged, type LogRecord } from '#platform/ports/eventStore.ts'
import { allDocuments, type Change, type Collection, type ReadStore } from '#platform/ports/readStore.ts'
import { cryptography } from './cryptography.ts'

const { sha256 } = cryptography

export const sealTiles: Collection = { name: 'seal_tiles', indexes: [] }
/** For each stream, the last event in the trees. */
export const sealHeads: Collection = { name: 'seal_heads', indexes: [['ordinal']] }
export const sealStates: Collection = { name: 'seal_states', indexes: [] }
/** The heads come first: if they are dropped and the rest is not, as after a kill, the trees are seen to be incomplete. */
export const sealCollections: readonly Collection[] = [sealHeads, sealTiles, sealStates]
const stateId = 'trees'

/** `log` is the tree over all events, `heads` the tree over the last events of all streams. */
export type TreeName = 'log' | 'heads'

export const Tile = z.object({ hashes: z.base64() })
export const StreamHead = z.object({
  /** The stream's index among all streams, in the order in which they began. */
  ordinal: z.int().nonnegative(),
  revision: z.int().nonnegative(),
  hash: z.string(),
  /** The index of the stream's last event among all events of the log. */
  index: z.int().nonnegative(),
})
export type StreamHead = z.infer<typeof StreamHead>

const Last = z.object({
  stream: z.string(),
  revision: z.int().nonnegative(),
  hash: z.string(),
  position: z.string(),
})
const State = z.object({
  logId: z.string(),
  epoch: z.int().positive(),
  size: z.int().nonnegative(),
  streams: z.int().nonnegative(),
  unsealed: z.int().nonnegative(),
  last: Last.nullable(),
})
export type TreesState = z.infer<typeof State>

/** The trees in the memory of a process. Only one process adds to them. */
export interface SealTrees {
  readonly identity: LogIdentity
  readonly log: TiledTree
  readonly headsTree: TiledTree
  readonly heads: Map<string, StreamHead>
  /** Streams that got events since the trees were last stored. */
  readonly touched: Set<string>
  last: z.infer<typeof Last> | null
  /** The number of events that the newest seal does not cover, not counting the event that records this seal. */
  unsealed: number
  /** A newer epoch that the log has entered, whose events this process must not seal. */
  newerEpoch: number | null
}

type TreeStore = Pick<ReadStore, 'prepare' | 'get' | 'getMany' | 'find' | 'apply' | 'drop'>

/** The stored trees; empty ones if there are none. Stored trees that are incomplete, or of another log or epoch, are removed. */
export async function openSealTrees(store: TreeStore, identity: LogIdentity): Promise<SealTrees> {
  await store.prepare(sealCollections)
  const state = await storedState(store)
  if (state?.logId !== identity.logId || state.epoch !== identity.epoch)
    return state === undefined ? noTrees(identity) : clearedTrees(store, identity)
  const trees = noTrees(identity)
  const edge = edgeOf(state.size)
  const tiles = await store.getMany(
    sealTiles.name,
    edge.map((id) => tileId('log', tileName(id))),
  )
  for (const id of edge) {
    const bytes = bytesOf(tiles.get(tileId('log', tileName(id)))).subarray(0, tileBytes(state.size, id))
    trees.log.tiles.set(tileName(id), new Uint8Array(bytes))
  }
  trees.log.size = state.size
  for await (const [stream, head] of allStoredHeads(store)) {
    // The stream began after the state was stored.
    if (head.ordinal >= state.streams) continue
    if (head.ordinal !== trees.headsTree.size) return clearedTrees(store, identity)
    trees.heads.set(stream, head)
    setLeaf(trees.headsTree, head.ordinal, hashOfHead(stream, head))
  }
  const isWhole =
    edge.every((id) => trees.log.tiles.get(tileName(id))?.length === tileBytes(state.size, id)) &&
    trees.heads.size === state.streams
  if (!isWhole) return clearedTrees(store, identity)
  settle(sha256, trees.headsTree)
  trees.last = state.last
  trees.unsealed = state.unsealed
  return trees
}

/** The stored state of the trees; `undefined` when there is none. */
export async function storedState(store: Pick<ReadStore, 'get'>): Promise<TreesState | undefined> {
  const document = await store.get(sealStates.name, stateId)
  return document && State.parse(document)
}

export async function clearedTrees(store: TreeStore, identity: LogIdentity): Promise<SealTrees> {
  await store.drop(sealCollections.map(({ name }) => name))
  await store.prepare(sealCollections)
  return noTrees(identity)
}

function noTrees(identity: LogIdentity): SealTrees {
  return {
    identity,
    log: emptyTree(),
    headsTree: emptyTree(),
    heads: new Map(),
    touched: new Set(),
    last: null,
    unsealed: 0,
    newerEpoch: null,
  }
}

/** Adds the next record of the log, with the hash to seal for it. */
export function addRecord(trees: SealTrees, record: LogRecord, hash: string): void {
  const { stream, position, type } = record
  // Revisions are at least 0, but that of a damaged record may be unknown (-1).
  const revision = Math.max(record.revision, 0)
  const data = isDamaged(record) ? undefined : record.data
  const index = trees.log.size
  setLeaf(trees.log, index, leafHash(sha256, leafOf(hash)))
  const ordinal = trees.heads.get(stream)?.ordinal ?? trees.heads.size
  trees.heads.set(stream, { ordinal, revision, hash, index })
  trees.touched.add(stream)
  trees.last = { stream, revision, hash, position }
  if (type === LogSealed.type && stream === sealStream(trees.identity.epoch)) {
    const seal = LogSealed.data.safeParse(data).data
    trees.unsealed = seal === undefined ? trees.unsealed : index - seal.size
  } else trees.unsealed += 1
  const restored = stream === logStream && type === LogRestored.type
  const epoch = restored ? RestoredEpoch.safeParse(data).data?.epoch : undefined
  if (epoch !== undefined && epoch > trees.identity.epoch) trees.newerEpoch = epoch
}

/** The roots of both trees after the last added event. */
export function rootsOf(trees: SealTrees): { readonly log: Hash; readonly heads: Hash } {
  settleTrees(trees)
  return { log: rootOfTiles(sha256, trees.log), heads: rootOfTiles(sha256, trees.headsTree) }
}

function settleTrees(trees: SealTrees): readonly string[] {
  const touched = [...trees.touched]
  for (const stream of touched) {
    const head = trees.heads.get(stream)
    if (head) setLeaf(trees.headsTree, head.ordinal, hashOfHead(stream, head))
  }
  settle(sha256, trees.log)
  settle(sha256, trees.headsTree)
  return touched
}

/** Stores what has changed since the last call. The state is stored last, so that after a crash some work is only repeated. */
export async function storeTrees(store: Pick<ReadStore, 'apply'>, trees: SealTrees): Promise<void> {
  const { last, identity, log, headsTree, heads } = trees
  if (last === null) return
  const { position } = last
  const touched = settleTrees(trees)
  const changes: Change[] = [
    ...tileChanges('log', log, position),
    ...tileChanges('heads', headsTree, position),
    ...touched.map((stream): Change => {
      const document = { id: stream, ...heads.get(stream) }
      return { kind: 'put', collection: sealHeads.name, document, position }
    }),
    {
      kind: 'put',
      collection: sealStates.name,
      document: {
        id: stateId,
        ...identity,
        size: log.size,
        streams: heads.size,
        unsealed: trees.unsealed,
        last,
      },
      position,
    },
  ]
  await store.apply(changes, null)
  log.changed.clear()
  headsTree.changed.clear()
  for (const stream of touched) trees.touched.delete(stream)
  const edge = new Set(edgeOf(log.size).map(tileName))
  for (const name of log.tiles.keys()) if (!edge.has(name)) log.tiles.delete(name)
}

function tileChanges(tree: TreeName, { tiles, changed }: TiledTree, position: Position): readonly Change[] {
  return [...changed].flatMap((name): Change[] => {
    const bytes = tiles.get(name)
    if (bytes === undefined) return []
    const document = { id: tileId(tree, name), hashes: Buffer.from(bytes).toString('base64') }
    return [{ kind: 'put', collection: sealTiles.name, document, position }]
  })
}

export const tileId = (tree: TreeName, name: string): string => `${tree}/${name}`

export function bytesOf(document: unknown): Uint8Array {
  return document === undefined ? new Uint8Array(0) : Buffer.from(Tile.parse(document).hashes, 'base64')
}

/** All streams, each with its last event in the trees. */
export async function* allStoredHeads(
  store: Pick<ReadStore, 'find'>,
): AsyncGenerator<readonly [string, StreamHead]> {
  for await (const document of allDocuments(store, sealHeads.name, 'ordinal'))
    yield [document.id, StreamHead.parse(document)]
}

function hashOfHead(stream: string, { revision, hash }: StreamHead): Hash {
  return leafHash(sha256, headLeaf(cryptography, { stream, revision, hash }))
}
