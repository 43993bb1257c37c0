/** Computes roots and proofs from the tiles that the sealer has stored. */
import {
  combine,
  consistencyPath,
  inclusionPath,
  nodesOf,
  type Hash,
  type Node,
} from '#domain/proof/merkleTree.ts'
import { leafIn, levelsInTile, nodeIn, tileName, tileOf } from '#domain/proof/tiles.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { cryptography } from './cryptography.ts'
import { bytesOf, sealTiles, tileId, type TreeName } from './sealTrees.ts'

const { sha256 } = cryptography

type Tiles = Pick<ReadStore, 'getMany'>

/** Tiles and subtrees that were already read and hashed. With them, many proofs for one tree cost little more than one. */
export interface KnownTree {
  readonly tiles: Map<string, Uint8Array>
  readonly nodes: Map<string, Hash>
}

export const nothingKnown = (): KnownTree => ({ tiles: new Map(), nodes: new Map() })

/** The root of the tree at a size; `undefined` when the stored tiles do not reach that far. */
export async function rootAt(
  store: Tiles,
  tree: TreeName,
  size: number,
  known?: KnownTree,
): Promise<Hash | undefined> {
  if (size === 0) return sha256(new Uint8Array(0))
  const [root] = (await combined(store, tree, [nodesOf(0, size)], known)) ?? []
  return root
}

/** A proof that the leaf `index` is in the tree of `size` leaves; `undefined` when the stored tiles do not reach that far. */
export function storedInclusion(
  store: Tiles,
  tree: TreeName,
  index: number,
  size: number,
): Promise<readonly Hash[] | undefined> {
  return combined(store, tree, inclusionPath(index, size))
}

/** A proof that the tree of the older size is a prefix of the newer; `undefined` when the stored tiles do not reach that far. */
export function storedConsistency(
  store: Tiles,
  tree: TreeName,
  older: number,
  newer: number,
  known?: KnownTree,
): Promise<readonly Hash[] | undefined> {
  return combined(store, tree, consistencyPath(older, newer), known)
}

/** The hashes of a path: each list of subtrees in it is combined into one hash. `undefined` when a stored tile is missing. */
async function combined(
  store: Tiles,
  tree: TreeName,
  path: readonly (readonly Node[])[],
  known = nothingKnown(),
): Promise<readonly Hash[] | undefined> {
  const names = [...new Set(path.flat().map((node) => tileName(tileOf(node))))]
  const missing = names.filter((name) => !known.tiles.has(name))
  if (missing.length > 0) {
    const documents = await store.getMany(
      sealTiles.name,
      missing.map((name) => tileId(tree, name)),
    )
    for (const name of missing) known.tiles.set(name, bytesOf(documents.get(tileId(tree, name))))
  }
  const hashes = path.map((nodes) => {
    const parts = nodes.map((node) => subtree(known, node))
    return parts.every((part) => part !== undefined) ? combine(sha256, parts) : undefined
  })
  return hashes.every((hash) => hash !== undefined) ? hashes : undefined
}

/** The hash of a subtree: a stored hash or, on levels that are not stored, the hash of its two halves. `undefined` when a stored hash is missing. */
function subtree(known: KnownTree, node: Node): Hash | undefined {
  const { level, index } = node
  const name = `${level}/${index}`
  const found = known.nodes.get(name)
  if (found !== undefined) return found
  const isStored = level % levelsInTile === 0
  const halves = isStored
    ? [nodeIn(sha256, known.tiles.get(tileName(tileOf(node))), node)]
    : [0, 1].map((half) => subtree(known, { level: level - 1, index: 2 * index + half }))
  const hash = halves.every((half) => half !== undefined) ? combine(sha256, halves) : undefined
  if (hash !== undefined) known.nodes.set(name, hash)
  return hash
}

/** The hash of one leaf in the log's tree; `undefined` when the stored tiles do not reach that far. */
export async function storedLeaf(store: Tiles, index: number): Promise<Hash | undefined> {
  const id = tileId('log', tileName({ level: 0, index: Math.floor(index / leavesInTile) }))
  const documents = await store.getMany(sealTiles.name, [id])
  return leafIn(bytesOf(documents.get(id)), index % leavesInTile)
}

const tilesAtOnce = 64
const leavesInTile = 256

/** The stored hashes of the first `size` leaves, in order. Ends early at the first missing hash. */
export async function* storedLeaves(store: Tiles, tree: TreeName, size: number): AsyncGenerator<Hash> {
  for (let from = 0; from * leavesInTile < size; from += tilesAtOnce) {
    const names = Array.from({ length: tilesAtOnce }, (_, at) => tileName({ level: 0, index: from + at }))
    const documents = await store.getMany(
      sealTiles.name,
      names.map((name) => tileId(tree, name)),
    )
    for (const [at, name] of names.entries()) {
      const tile = bytesOf(documents.get(tileId(tree, name)))
      for (let offset = 0; offset < leavesInTile; offset += 1) {
        if ((from + at) * leavesInTile + offset >= size) return
        const leaf = leafIn(tile, offset)
        if (leaf === undefined) return
        yield leaf
      }
    }
  }
}
