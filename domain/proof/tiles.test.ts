import { createHash } from 'node:crypto'
import { assert, integer, array, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import { append, emptyFrontier, leafHash, nodesOf, rootOf, type Hash } from './merkleTree.ts'
import {
  edgeOf,
  emptyTree,
  leafIn,
  nodeIn,
  rootOfTiles,
  setLeaf,
  settle,
  tileBytes,
  tileName,
  tileOf,
} from './tiles.ts'
import { randomRuns } from '../../tests/longRun.ts'

const sha256 = (bytes: Uint8Array): Hash => new Uint8Array(createHash('sha256').update(bytes).digest())
const leaf = (number: number) =>
  leafHash(sha256, Uint8Array.of(number >> 16, (number >> 8) & 255, number & 255))
const rootOfLeaves = (leaves: readonly Hash[]) =>
  rootOf(
    sha256,
    leaves.reduce((frontier, each) => append(sha256, frontier, each), emptyFrontier),
  )

test('a tree in tiles has the root of RFC 6962 at every size, also beyond two levels of tiles', () => {
  const tree = emptyTree()
  let frontier = emptyFrontier
  for (let index = 0; index < 66_000; index += 1) {
    setLeaf(tree, index, leaf(index))
    frontier = append(sha256, frontier, leaf(index))
    if (index > 600 && index < 65_400 && index % 997 !== 0) continue
    settle(sha256, tree)
    expect(rootOfTiles(sha256, tree)).toEqual(rootOf(sha256, frontier))
  }
})

test('the right edge is all that is needed to go on', () => {
  assert(
    property(integer({ min: 0, max: 1_500 }), integer({ min: 1, max: 600 }), (first, more) => {
      const tree = emptyTree()
      for (let index = 0; index < first; index += 1) setLeaf(tree, index, leaf(index))
      settle(sha256, tree)
      const edge = new Map(
        edgeOf(first).map((id) => [tileName(id), tree.tiles.get(tileName(id)) ?? new Uint8Array(0)]),
      )
      for (const id of edgeOf(first)) expect(edge.get(tileName(id))).toHaveLength(tileBytes(first, id))
      const next = { ...emptyTree(), size: first, tiles: edge }
      for (let index = first; index < first + more; index += 1) setLeaf(next, index, leaf(index))
      settle(sha256, next)
      const leaves = Array.from({ length: first + more }, (_, index) => leaf(index))
      expect(rootOfTiles(sha256, next)).toEqual(rootOfLeaves(leaves))
    }),
    { numRuns: randomRuns(20) },
  )
})

test('leaves can be replaced, and the root is that of the leaves as they are now', () => {
  assert(
    property(integer({ min: 1, max: 700 }), array(nat(699), { maxLength: 20 }), (size, replaced) => {
      const tree = emptyTree()
      const leaves = Array.from({ length: size }, (_, index) => leaf(index))
      for (const [index, each] of leaves.entries()) setLeaf(tree, index, each)
      settle(sha256, tree)
      for (const at of replaced) {
        leaves[at % size] = leaf(10_000 + at)
        setLeaf(tree, at % size, leaf(10_000 + at))
      }
      settle(sha256, tree)
      expect(rootOfTiles(sha256, tree)).toEqual(rootOfLeaves(leaves))
    }),
    { numRuns: randomRuns(30) },
  )
})

test('each subtree is in its tile, and none is where the tile ends', () => {
  const tree = emptyTree()
  for (let index = 0; index < 1_000; index += 1) setLeaf(tree, index, leaf(index))
  settle(sha256, tree)
  for (const node of nodesOf(0, 1_000))
    expect(nodeIn(sha256, tree.tiles.get(tileName(tileOf(node))), node)).toHaveLength(32)
  expect(nodeIn(sha256, tree.tiles.get('0/3'), { level: 5, index: 31 })).toBeUndefined()
  expect(leafIn(tree.tiles.get('0/3'), 999)).toEqual(leaf(999))
  expect(leafIn(tree.tiles.get('0/3'), 1_000)).toBeUndefined()
  expect(() => setLeaf(tree, 1_001, leaf(0))).toThrow(RangeError)
})
