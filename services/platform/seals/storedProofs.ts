/** Roots and proofs, computed of the tiles that the sealer has stored. */
import {
  combine,
  consistencyPath,
  inclusionPath,
  nodesOf,
  type Hash,
  type Node,
} from '#domain/proof/merkleTree.ts'
import { leafIn, nodeIn, tileName, tileOf } from '#domain/proof/tiles.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { cryptography } from './cryptography.ts'
import { bytesOf, sealTiles, tileId, type TreeName } from './sealTrees.ts'

const { sha256 } = cryptography

type Tiles = Pick<ReadStore, 'getMany'>

/** The root that the tree had at a size; `undefined` when the stored tiles do not reach so far. */
export async function rootAt(store: Tiles, tree: TreeName, size: number): Promise<Hash | undefined> {
  if (size === 0) return sha256(new Uint8Array(0))
  const [root] = (await combined(store, tree, [nodesOf(0, size)])) ?? []
  return root
}

/** Proves that the leaf is in the tree of that size. */
export function storedInclusion(
  store: Tiles,
  tree: TreeName,
  index: number,
  size: number,
): Promise<readonly Hash[] | undefined> {
  return combined(store, tree, inclusionPath(index, size))
}

/** Proves that the tree of the older size is the beginning of the newer. */
export function storedConsistency(
  store: Tiles,
  tree: TreeName,
  older: number,
  newer: number,
): Promise<readonly Hash[] | undefined> {
  return combined(store, tree, consistencyPath(older, newer))
}

/** One hash for each list of subtrees. */
async function combined(
  store: Tiles,
  tree: TreeName,
  path: readonly (readonly Node[])[],
): Promise<readonly Hash[] | undefined> {
  const names = [...new Set(path.flat().map((node) => tileName(tileOf(node))))]
  const documents = await store.getMany(
    sealTiles.name,
    names.map((name) => tileId(tree, name)),
  )
  const tiles = new Map(names.map((name) => [name, bytesOf(documents.get(tileId(tree, name)))]))
  const hashes = path.map((nodes) => {
    const parts = nodes.map((node) => nodeIn(sha256, tiles.get(tileName(tileOf(node))), node))
    return parts.every((part) => part !== undefined) ? combine(sha256, parts) : undefined
  })
  return hashes.every((hash) => hash !== undefined) ? hashes : undefined
}

const tilesAtOnce = 64
const leavesInTile = 256

/** The hashes of the leaves from the first one on, as far as there are any, a tile at a time. */
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
