import { createHash } from 'node:crypto'
import { assert, constant, integer, nat, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { present } from '../../tests/domain/present.ts'
import vectors from '../../tests/data/proof/vectors.json' with { type: 'json' }
import {
  append,
  combine,
  consistencyPath,
  emptyFrontier,
  inclusionPath,
  leafHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
  type Frontier,
  type Hash,
  type Node,
} from './merkleTree.ts'

const sha256 = (bytes: Uint8Array): Hash => createHash('sha256').update(bytes).digest()
const base64 = (hash: Hash) => Buffer.from(hash).toString('base64')
const leaves = Array.from({ length: 200 }, (_, index) => leafHash(sha256, Buffer.from(`leaf ${index}`)))

/** The frontiers of all sizes, and the hash of every complete subtree. */
function grown() {
  const nodes = new Map<string, Hash>()
  const frontiers: Frontier[] = [emptyFrontier]
  for (const leaf of leaves)
    frontiers.push(
      append(sha256, frontiers.at(-1) ?? emptyFrontier, leaf, ({ level, index }, hash) =>
        nodes.set(`${level}/${index}`, hash),
      ),
    )
  const hashOf = ({ level, index }: Node) => present(nodes.get(`${level}/${index}`))
  const proofOf = (path: readonly (readonly Node[])[]) =>
    path.map((part) => combine(sha256, part.map(hashOf)))
  const headOf = (size: number) => ({ size, root: rootOf(sha256, present(frontiers[size])) })
  return { proofOf, headOf }
}
const { proofOf, headOf } = grown()
const size = integer({ min: 1, max: leaves.length })
const pair = size.chain((newer) => tuple(integer({ min: 0, max: newer }), constant(newer)))

test('roots and proofs are those of another implementation', () => {
  for (const { size, root } of vectors.roots) expect(base64(headOf(size).root)).toBe(root)
  for (const { index, size, proof } of vectors.inclusion)
    expect(proofOf(inclusionPath(index, size)).map(base64)).toEqual(proof)
  for (const { older, newer, proof } of vectors.consistency)
    expect(proofOf(consistencyPath(older, newer)).map(base64)).toEqual(proof)
})

test('every leaf of every tree is proven, and no other leaf, place or tree by its proof', () => {
  assert(
    property(size, nat(), nat(), (size, at, change) => {
      const index = at % size
      const leaf = present(leaves[index])
      const { root } = headOf(size)
      const proof = proofOf(inclusionPath(index, size))
      expect(verifyInclusion(sha256, { leaf, index, size, proof, root })).toBe(true)
      const wrong = (changed: object) =>
        expect(verifyInclusion(sha256, { leaf, index, size, proof, root, ...changed })).toBe(false)
      wrong({ leaf: leafHash(sha256, Buffer.from('another')) })
      wrong({ index: index + 1 })
      wrong({ size: index })
      wrong({ proof: [...proof, leaf] })
      if (proof.length === 0) return
      wrong({ proof: proof.slice(1) })
      wrong({ proof: proof.with(change % proof.length, sha256(leaf)) })
    }),
    { numRuns: 500 },
  )
})

test('every older tree is proven to be the beginning of a newer, and nothing else by its proof', () => {
  assert(
    property(pair, nat(), ([older, newer], change) => {
      const [before, after] = [headOf(older), headOf(newer)]
      const proof = proofOf(consistencyPath(older, newer))
      expect(verifyConsistency(sha256, before, after, proof)).toBe(true)
      const other = sha256(after.root)
      expect(verifyConsistency(sha256, { ...before, root: other }, after, proof)).toBe(false)
      // Everything begins with the empty tree.
      expect(verifyConsistency(sha256, before, { ...after, root: other }, proof)).toBe(older === 0)
      expect(verifyConsistency(sha256, before, after, [...proof, other])).toBe(false)
      expect(verifyConsistency(sha256, after, before, proof)).toBe(older === newer)
      if (proof.length === 0) return
      expect(verifyConsistency(sha256, before, after, proof.slice(1))).toBe(false)
      expect(verifyConsistency(sha256, before, after, proof.with(change % proof.length, other))).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test('what a tree does not have is refused', () => {
  expect(() => inclusionPath(3, 3)).toThrow(RangeError)
  expect(() => inclusionPath(-1, 3)).toThrow(RangeError)
  expect(() => consistencyPath(4, 3)).toThrow(RangeError)
  expect(() => consistencyPath(0.5, 3)).toThrow(RangeError)
})
