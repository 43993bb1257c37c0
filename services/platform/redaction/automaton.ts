/**
 * An Aho-Corasick automaton, which finds many words in one pass. It is in shared memory, so that all threads can use an automaton that one of them
 * has built. In a chain without branches, a node takes 14 bytes.
 */

/** Thrown when the secrets together, or one of them alone, are longer than an automaton can hold. */
export class TooMuchToHide extends Error {
  override readonly name = 'TooMuchToHide'
}

/** A word of the automaton. `mark` has the bits that are set where the word ends; if it is 0, the length of the word is reported there instead. */
export interface Word {
  readonly text: string
  readonly mark: number
}

/** Arrays indexed by node. Node 0 is the root; nodes of words without a mark are below `firstMarked`. */
export interface Automaton {
  readonly labels: Uint16Array
  readonly fails: Int32Array
  readonly depths: Int32Array
  /** For each node: the length of the longest word without a mark that ends here, the marks that end here, and where its children are stored. */
  readonly outputs: Int32Array
  /** Children of the root, by ASCII code. */
  readonly starts: Int32Array
  /** All other children, except those that are the next node: pairs of parent and child, hashed by parent and label. */
  readonly branches: Int32Array
  readonly firstMarked: number
}

/** The maximum number of nodes, which take 110 MB. The secrets of a project in all their forms need fewer nodes. */
export const maxNodes = 8_000_000
const lengthMask = (1 << 18) - 1
const marksAt = 18
export const markBits = 12
const marksMask = (1 << markBits) - 1
const chainBit = 1 << 30
const branchBit = 1 << 31

export const longestAt = (output: number): number => output & lengthMask
/** Whether the node with this `output` has the next node as a child. */
export const isChained = (output: number): boolean => (output & chainBit) !== 0
export const marksIn = (output: number): number => (output >> marksAt) & marksMask

/** Builds an automaton in time and memory that are linear in the words' length. Throws `TooMuchToHide`. */
export function automatonOf(words: readonly Word[]): Automaton {
  const sum = words.reduce((all, { text }) => all + text.length, 1)
  if (sum > maxNodes || words.some(({ text }) => text.length > lengthMask))
    throw new TooMuchToHide(
      'All secrets together, in all the forms in which they may be printed, are too long.',
    )
  const labels = new Uint16Array(new SharedArrayBuffer(2 * sum))
  const fails = new Int32Array(new SharedArrayBuffer(4 * sum))
  const depths = new Int32Array(new SharedArrayBuffer(4 * sum))
  const outputs = new Int32Array(new SharedArrayBuffer(4 * sum))
  const starts = new Int32Array(new SharedArrayBuffer(4 * 128))
  const slots = 2 ** Math.ceil(Math.log2(2 * words.length + 2))
  const branches = new Int32Array(new SharedArrayBuffer(8 * slots))
  const parents = new Int32Array(sum)
  let last = 0
  let firstMarked = 0
  const growing = { labels, fails, depths, outputs, starts, branches, firstMarked }

  const addChild = (parent: number, label: number): number => {
    last += 1
    labels[last] = label
    depths[last] = (depths[parent] ?? 0) + 1
    parents[last] = parent
    if (parent === 0 && label < 128) starts[label] = last
    else if (parent !== 0 && last === parent + 1) outputs[parent] = (outputs[parent] ?? 0) | chainBit
    else {
      outputs[parent] = (outputs[parent] ?? 0) | branchBit
      let slot = slotOf(parent, label, slots)
      while (branches[2 * slot + 1] !== 0) slot = (slot + 1) & (slots - 1)
      branches[2 * slot] = parent
      branches[2 * slot + 1] = last
    }
    return last
  }
  for (const { text, mark } of words.toSorted((a, b) => a.mark - b.mark)) {
    if (mark > 0 && firstMarked === 0) firstMarked = last + 1
    let node = 0
    for (let at = 0; at < text.length; at += 1) {
      const label = text.charCodeAt(at)
      node = childOf(growing, node, label) || addChild(node, label)
    }
    const told = mark === 0 ? text.length : mark << marksAt
    outputs[node] = (outputs[node] ?? 0) | told
  }

  for (const node of byDepth(depths, last)) {
    const parent = parents[node] ?? 0
    const label = labels[node] ?? 0
    let fail = 0
    if (parent !== 0) {
      let from = fails[parent] ?? 0
      fail = childOf(growing, from, label)
      while (fail === 0 && from !== 0) {
        from = fails[from] ?? 0
        fail = childOf(growing, from, label)
      }
    }
    fails[node] = fail
    const [own, inherited] = [outputs[node] ?? 0, outputs[fail] ?? 0]
    const length = longestAt(own) === 0 ? longestAt(inherited) : 0
    outputs[node] = own | length | (marksIn(inherited) << marksAt)
  }
  return { ...growing, firstMarked: firstMarked === 0 ? last + 1 : firstMarked }
}

/** The node that the letter with the code `label` leads to; 0 when there is none. */
export function childOf(
  { labels, outputs, starts, branches }: Omit<Automaton, 'firstMarked'>,
  node: number,
  label: number,
): number {
  if (node === 0 && label < 128) return starts[label] ?? 0
  const output = outputs[node] ?? 0
  if (isChained(output) && labels[node + 1] === label) return node + 1
  if ((output & branchBit) === 0) return 0
  const slots = branches.length / 2
  for (let slot = slotOf(node, label, slots); ; slot = (slot + 1) & (slots - 1)) {
    const child = branches[2 * slot + 1] ?? 0
    if (child === 0) return 0
    if (branches[2 * slot] === node && labels[child] === label) return child
  }
}

/** The node after one more letter. It stands for the longest text that is both the beginning of a word and the end of what was read so far. */
export function moved(automaton: Automaton, from: number, label: number): number {
  let node = from
  for (;;) {
    const next = childOf(automaton, node, label)
    if (next !== 0 || node === 0) return next
    node = automaton.fails[node] ?? 0
  }
}

function slotOf(node: number, label: number, slots: number): number {
  const mixed = Math.imul(node, 0x9e37_79b1) ^ Math.imul(label + 1, 0x85eb_ca6b)
  return (mixed ^ (mixed >>> 15)) & (slots - 1)
}

function byDepth(depths: Int32Array, last: number): Int32Array {
  let deepest = 0
  for (let node = 1; node <= last; node += 1) deepest = Math.max(deepest, depths[node] ?? 0)
  const next = new Int32Array(deepest + 2)
  for (let node = 1; node <= last; node += 1) {
    const after = (depths[node] ?? 0) + 1
    next[after] = (next[after] ?? 0) + 1
  }
  for (let depth = 1; depth < next.length; depth += 1)
    next[depth] = (next[depth] ?? 0) + (next[depth - 1] ?? 0)
  const nodes = new Int32Array(last)
  for (let node = 1; node <= last; node += 1) {
    const depth = depths[node] ?? 0
    const at = next[depth] ?? 0
    nodes[at] = node
    next[depth] = at + 1
  }
  return nodes
}
