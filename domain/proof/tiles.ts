/**
 * A Merkle tree stored in tiles, as in c2sp.org/tlog-tiles: a tile of level L has the hashes of up to 256 subtrees with 256^L leaves each. Other
 * hashes are computed from the tiles. Tiles are flat byte arrays, so that a million leaves take 32 MB.
 */
import { combine, nodeHash, nodesOf, type Hash, type Node, type Sha256 } from './merkleTree.ts'

const width = 256
const hashBytes = 32
/** A tile stands for eight levels of the tree, of which it stores only the lowest. */
export const levelsInTile = 8

/** The id of a tile: its level, and its index from the left. */
export type TileId = Node

/** A tree that can grow, and whose leaves can be replaced. After changes to leaves, `settle` recomputes the levels above them. */
export interface TiledTree {
  size: number
  /** The tiles by name, as made by `tileName`. */
  readonly tiles: Map<string, Uint8Array>
  /** The names of the tiles that have changed since the caller last emptied this set. */
  readonly changed: Set<string>
  /** By level: the indexes of the changed tiles whose hash `settle` has yet to put into the level above. */
  readonly unsettled: Map<number, Set<number>>
}

export const emptyTree = (): TiledTree => ({
  size: 0,
  tiles: new Map(),
  changed: new Set(),
  unsettled: new Map(),
})

export const tileName = ({ level, index }: TileId): string => `${level}/${index}`

/** The tile from which a subtree's hash is computed. */
export function tileOf({ level, index }: Node): TileId {
  const first = index * 2 ** (level % levelsInTile)
  return { level: Math.floor(level / levelsInTile), index: Math.floor(first / width) }
}

/** The hash of a complete subtree, computed from `tile`; `undefined` when the tile does not cover the subtree. */
export function nodeIn(
  sha256: Sha256,
  tile: Uint8Array | undefined,
  { level, index }: Node,
): Hash | undefined {
  const span = 2 ** (level % levelsInTile)
  const from = (index * span) % width
  if (tile === undefined || tile.length < (from + span) * hashBytes) return undefined
  return spanHash(sha256, tile, from, span)
}

/** Sets the hash of a leaf that exists, or appends a leaf. Throws a RangeError for an index that would leave a gap. */
export function setLeaf(tree: TiledTree, index: number, leaf: Hash): void {
  if (index > tree.size) throw new RangeError(`Leaf ${index} would leave a gap after ${tree.size}.`)
  put(tree, 0, index, leaf)
  tree.size = Math.max(tree.size, index + 1)
}

/** Recomputes the levels above changed leaves. Must be called before computing a root and before storing tiles. */
export function settle(sha256: Sha256, tree: TiledTree): void {
  for (let level = 0; tree.unsettled.has(level); level += 1) {
    for (const index of tree.unsettled.get(level) ?? []) {
      const tile = tree.tiles.get(tileName({ level, index }))
      if (tile?.length === width * hashBytes) put(tree, level + 1, index, spanHash(sha256, tile, 0, width))
    }
    tree.unsettled.delete(level)
  }
}

/** The root of a tree for which `settle` was called. `tiles` must have at least the tiles of `edgeOf`. */
export function rootOfTiles(sha256: Sha256, { size, tiles }: Pick<TiledTree, 'size' | 'tiles'>): Hash {
  const hashes = nodesOf(0, size).map((node) => {
    const hash = nodeIn(sha256, tiles.get(tileName(tileOf(node))), node)
    if (hash === undefined) throw new RangeError(`Tile ${tileName(tileOf(node))} is not there.`)
    return hash
  })
  return hashes.length === 0 ? sha256(new Uint8Array(0)) : combine(sha256, hashes)
}

/** The tiles that are not full, and therefore change when leaves are appended. */
export function edgeOf(size: number): readonly TileId[] {
  const edge: TileId[] = []
  for (let level = 0, count = size; count > 0; level += 1, count = Math.floor(count / width))
    if (count % width > 0) edge.push({ level, index: Math.floor(count / width) })
  return edge
}

/** How many bytes a tile has in a tree of this size. */
export function tileBytes(size: number, { level, index }: TileId): number {
  const count = Math.floor(size / width ** level)
  return Math.max(0, Math.min(count - index * width, width)) * hashBytes
}

/** The hash of a leaf in a tile of level 0; `undefined` when the tile ends before the leaf. */
export function leafIn(tile: Uint8Array | undefined, index: number): Hash | undefined {
  const at = index % width
  return tile === undefined || tile.length < (at + 1) * hashBytes ? undefined : hashAt(tile, at)
}

function put(tree: TiledTree, level: number, index: number, hash: Hash): void {
  const id = { level, index: Math.floor(index / width) }
  const name = tileName(id)
  const at = (index % width) * hashBytes
  const tile = tree.tiles.get(name) ?? new Uint8Array(0)
  const grown = tile.length >= at + hashBytes ? tile : new Uint8Array(at + hashBytes)
  if (grown !== tile) grown.set(tile)
  grown.set(hash, at)
  tree.tiles.set(name, grown)
  tree.changed.add(name)
  const unsettled = tree.unsettled.get(level)
  if (unsettled === undefined) tree.unsettled.set(level, new Set([id.index]))
  else unsettled.add(id.index)
}

function spanHash(sha256: Sha256, tile: Uint8Array, from: number, span: number): Hash {
  if (span === 1) return hashAt(tile, from)
  const half = span / 2
  return nodeHash(sha256, spanHash(sha256, tile, from, half), spanHash(sha256, tile, from + half, half))
}

function hashAt(tile: Uint8Array, at: number): Hash {
  return tile.slice(at * hashBytes, (at + 1) * hashBytes)
}
