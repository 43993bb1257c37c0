/**
 * The Merkle tree of RFC 6962 and its proofs. The hash function is a parameter, so that the server, the client and the offline verifier can share
 * this code.
 */

/** A SHA-256 hash, which has 32 bytes. */
export type Hash = Uint8Array
export type Sha256 = (bytes: Uint8Array) => Hash

/** A complete subtree: it has 2^level leaves, of which the first is leaf `index * 2^level` of the tree. */
export interface Node {
  readonly level: number
  readonly index: number
}

/** The hash of a leaf. Leaves and inner nodes are hashed with different prefixes, so that no leaf can be taken for an inner node. */
export function leafHash(sha256: Sha256, leaf: Uint8Array): Hash {
  const bytes = new Uint8Array(1 + leaf.length)
  bytes.set(leaf, 1)
  return sha256(bytes)
}

export function nodeHash(sha256: Sha256, left: Hash, right: Hash): Hash {
  const bytes = new Uint8Array(1 + left.length + right.length)
  bytes[0] = 1
  bytes.set(left, 1)
  bytes.set(right, 1 + left.length)
  return sha256(bytes)
}

/** The hashes of a tree's largest complete subtrees, from the left. They are all that is needed to append a leaf. */
export interface Frontier {
  readonly size: number
  readonly hashes: readonly Hash[]
}

export const emptyFrontier: Frontier = { size: 0, hashes: [] }

/**
 * The frontier with one more leaf.
 * @param onNode is called with each subtree that the leaf completes, starting with the leaf itself
 */
export function append(
  sha256: Sha256,
  { size, hashes }: Frontier,
  leaf: Hash,
  onNode: (node: Node, hash: Hash) => void = () => undefined,
): Frontier {
  const edge = [...hashes]
  let hash = leaf
  let node: Node = { level: 0, index: size }
  onNode(node, hash)
  // For each 1 at the end of the old size, in binary, the new leaf completes a subtree.
  for (let rest = size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
    const left = edge.pop()
    if (left === undefined) throw new RangeError('This frontier does not have the hashes of its size.')
    hash = nodeHash(sha256, left, hash)
    node = { level: node.level + 1, index: Math.floor(node.index / 2) }
    onNode(node, hash)
  }
  return { size: size + 1, hashes: [...edge, hash] }
}

/** The root of the tree with this frontier. The root of an empty tree is the hash of zero bytes. */
export function rootOf(sha256: Sha256, { hashes }: Frontier): Hash {
  return folded(sha256, hashes) ?? sha256(new Uint8Array(0))
}

/**
 * The complete subtrees that the leaves from `start` (included) to `end` (excluded) form, largest first. `start` must be a multiple of the size of
 * the first subtree.
 */
export function nodesOf(start: number, end: number): readonly Node[] {
  const nodes: Node[] = []
  for (let at = start; at < end;) {
    const size = largestPower(end - at)
    nodes.push({ level: Math.log2(size), index: at / size })
    at += size
  }
  return nodes
}

/**
 * The proof that leaf `index` is in a tree of `size` leaves: a list of subtrees for each hash, from the leaf's sibling up. `combine` joins the hashes
 * of a list. Throws a RangeError when the tree has no such leaf.
 */
export function inclusionPath(index: number, size: number): readonly (readonly Node[])[] {
  checkNumbers(index, size)
  if (index >= size) throw new RangeError(`A tree of ${size} leaves has no leaf ${index}.`)
  return siblingsOf(index, 0, size)
}

/** Like `inclusionPath`, for the proof that a tree of `older` leaves is a prefix of a tree of `newer` leaves. Throws when `older` is larger. */
export function consistencyPath(older: number, newer: number): readonly (readonly Node[])[] {
  checkNumbers(older, newer)
  if (older > newer)
    throw new RangeError(`A tree of ${older} leaves cannot be the beginning of one of ${newer}.`)
  if (older === 0 || older === newer) return []
  return consistencyOf(older, 0, newer, true)
}

/** Combines the hashes of adjacent subtrees, given from the left, into one hash. */
export function combine(sha256: Sha256, hashes: readonly Hash[]): Hash {
  const hash = folded(sha256, hashes)
  if (hash === undefined) throw new RangeError('There is nothing to combine.')
  return hash
}

/** Whether the proof shows that the tree with this root has this leaf (RFC 9162, 2.1.3.2). */
export function verifyInclusion(
  sha256: Sha256,
  {
    leaf,
    index,
    size,
    proof,
    root,
  }: { leaf: Hash; index: number; size: number; proof: readonly Hash[]; root: Hash },
): boolean {
  if (!isCount(index) || !isCount(size) || index >= size) return false
  let at = index
  let last = size - 1
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sha256, sibling, hash)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else {
      hash = nodeHash(sha256, hash, sibling)
    }
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && isSame(hash, root)
}

/** The size and root of a tree. */
export interface TreeHead {
  readonly size: number
  readonly root: Hash
}

/** Whether the proof shows that the older tree is a prefix of the newer tree (RFC 9162, 2.1.4.2). */
export function verifyConsistency(
  sha256: Sha256,
  older: TreeHead,
  newer: TreeHead,
  proof: readonly Hash[],
): boolean {
  if (!isCount(older.size) || !isCount(newer.size) || older.size > newer.size) return false
  if (older.size === newer.size) return proof.length === 0 && isSame(older.root, newer.root)
  // The empty tree is a prefix of every other tree.
  if (older.size === 0) return proof.length === 0 && isSame(older.root, sha256(new Uint8Array(0)))
  const [first, ...rest] = largestPower(older.size) === older.size ? [older.root, ...proof] : proof
  if (first === undefined) return false
  let at = older.size - 1
  let last = newer.size - 1
  while (at % 2 === 1) {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  let [oldHash, newHash] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      oldHash = nodeHash(sha256, sibling, oldHash)
      newHash = nodeHash(sha256, sibling, newHash)
      while (at % 2 === 0 && at !== 0) {
        at /= 2
        last = Math.floor(last / 2)
      }
    } else {
      newHash = nodeHash(sha256, newHash, sibling)
    }
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && isSame(oldHash, older.root) && isSame(newHash, newer.root)
}

export function isSame(one: Hash, other: Hash): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

/** The subtrees of an inclusion proof for leaf `index`, among the leaves from `start` (included) to `end` (excluded). */
function siblingsOf(index: number, start: number, end: number): readonly (readonly Node[])[] {
  if (end - start === 1) return []
  const middle = start + split(end - start)
  return index < middle
    ? [...siblingsOf(index, start, middle), nodesOf(middle, end)]
    : [...siblingsOf(index, middle, end), nodesOf(start, middle)]
}

/**
 * The subtrees of a consistency proof (RFC 6962, 2.1.2), among the leaves from `start` (included) to `end` (excluded). `isWhole` is the RFC's flag b:
 * if these leaves are the whole older tree, the proof needs no hash for them, because the verifier knows the older root.
 */
function consistencyOf(
  older: number,
  start: number,
  end: number,
  isWhole: boolean,
): readonly (readonly Node[])[] {
  if (older === end) return isWhole ? [] : [nodesOf(start, end)]
  const middle = start + split(end - start)
  return older <= middle
    ? [...consistencyOf(older, start, middle, isWhole), nodesOf(middle, end)]
    : [...consistencyOf(older, middle, end, false), nodesOf(start, middle)]
}

function folded(sha256: Sha256, hashes: readonly Hash[]): Hash | undefined {
  return hashes.reduceRight<Hash | undefined>(
    (right, left) => (right === undefined ? left : nodeHash(sha256, left, right)),
    undefined,
  )
}

/** The largest power of two that is smaller than `size`. */
function split(size: number): number {
  const power = largestPower(size)
  return power === size ? size / 2 : power
}

/** The largest power of two that is at most `size`. */
function largestPower(size: number): number {
  let power = 1
  while (power * 2 <= size) power *= 2
  return power
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function checkNumbers(...values: readonly number[]): void {
  if (!values.every(isCount)) throw new RangeError('Sizes and indices are whole numbers from 0.')
}
