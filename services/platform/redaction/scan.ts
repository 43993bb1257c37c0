/**
 * Removes secrets from text in one pass: each character is read once, however many secrets there are. The state between two pieces of a text is a
 * plain value, so that any thread can continue the scan.
 */
import { automatonOf, childOf, isChained, longestAt, marksIn, type Automaton } from './automaton.ts'
import { formsOf, classes, classesOf, keyBlock, prefixedShapes, webToken } from './secretForms.ts'

export const redacted = '[redacted]'
/** If a text ends within a known secret, the part of the secret before the end is hidden too if it has at least this many characters. */
const tellingPrefix = 8

const jwtBit = 1 << prefixedShapes.length
const beginBit = jwtBit << 1
const endBit = beginBit << 1
/** A bit of `live`: a key block has begun and not ended. */
const blockBit = endBit

/** A line such as `-----BEGIN PRIVATE KEY-----` that has begun and not ended. */
interface Marker {
  readonly from: number
  title: string
  dashes: number
}

/** The state of a scan. Positions are relative to the start of the held text, so the position of a confirmed match may be negative. */
export interface Scan {
  /** Whether line ends stay visible even within hidden text. */
  readonly linesStay: boolean
  node: number
  held: string
  /** The parts of the held text to hide: pairs of start and end, in order, without overlaps. */
  covers: number[]
  /** Whether the text returned so far ends in a hidden part, so that a hidden part that follows directly gets no mark of its own. */
  marked: boolean
  /** The shapes that have begun and not ended, one bit each. */
  live: number
  /** For each shape with a prefix: the position at which it last began. */
  prefixes: number[]
  jwt: {
    starts: number[]
    /**
     * Set when a text that may be the header of a web token has ended with a dot. `from` is where the header begins, and `seen` how many characters
     * of the following `eyJ` were read.
     */
    awaiting: { readonly from: number; seen: number } | null
    /** The start of a confirmed token whose end was not reached yet; `null` when there is none. */
    run: number | null
  }
  begin: Marker | null
  block: { from: number; until: number; end: Marker | null } | null
  /** The number of moves in the automaton so far. They are the cost of a scan in addition to reading each character once. */
  steps: number
}

export function newScan({ linesStay = false }: { linesStay?: boolean } = {}): Scan {
  return {
    linesStay,
    node: 0,
    held: '',
    covers: [],
    marked: false,
    live: 0,
    prefixes: prefixedShapes.map(() => 0),
    jwt: { starts: [], awaiting: null, run: null },
    begin: null,
    block: null,
    steps: 0,
  }
}

/** Builds the automaton for everything to look for: these secrets in all their forms, and the shapes of tokens. Throws `TooMuchToHide`. */
export function soughtFor(secrets: readonly string[]): Automaton {
  return automatonOf([
    ...formsOf(secrets).map((text) => ({ text, mark: 0 })),
    ...prefixedShapes.map(({ prefix }, at) => ({ text: prefix, mark: 1 << at })),
    { text: webToken.prefix, mark: jwtBit },
    { text: keyBlock.begin, mark: beginBit },
    { text: keyBlock.end, mark: endBit },
  ])
}

/**
 * Continues a scan: takes more text and returns what is already safe to show. A possible beginning of a secret is held back until more is known: at
 * most as many characters as the longest form of a secret has, or about 1,000. With `final`, everything is returned and the scan ends.
 */
export function goOn(sought: Automaton, scan: Scan, text: string, final: boolean): string {
  const { labels, outputs, depths, fails, starts } = sought
  const held = scan.held.length
  let { node, steps } = scan

  for (let at = 0; at < text.length; at += 1) {
    let code = text.charCodeAt(at)
    if (node === 0 && scan.live === 0) {
      while (code < 128 ? starts[code] === 0 : childOf(sought, 0, code) === 0) {
        at += 1
        if (at === text.length) break
        code = text.charCodeAt(at)
      }
      if (at === text.length) break
    }
    let next = 0
    for (;;) {
      steps += 1
      if (node === 0) {
        next = code < 128 ? (starts[code] ?? 0) : childOf(sought, 0, code)
        break
      }
      // A faster way for the most frequent case: the next letter of the only word that has begun.
      next =
        labels[node + 1] === code && isChained(outputs[node] ?? 0) ? node + 1 : childOf(sought, node, code)
      if (next !== 0) break
      node = fails[node] ?? 0
    }
    node = next
    const place = held + at
    if (scan.live !== 0) goOnWithShapes(scan, code, place)
    const output = outputs[node] ?? 0
    const longest = longestAt(output)
    if (longest > 0) cover(scan, place + 1 - longest, place + 1)
    const marks = marksIn(output)
    if (marks > 0) beginShapes(scan, marks, place)
  }
  scan.node = node
  scan.steps = steps

  const whole = scan.held + text
  if (final) coverCutSecret(sought, scan, whole.length)
  return release(scan, whole, final ? whole.length : firstUndecided(scan, whole.length, depths[node] ?? 0))
}

/**
 * Returns the held text, although it may be the beginning of a known secret, if that beginning has at most `most` characters and no token or key has
 * begun; otherwise nothing. This is for text that goes on only when a person types. The scan continues, so that the rest of a secret is hidden.
 */
export function reveal({ depths }: Automaton, scan: Scan, most: number): string {
  if (scan.live !== 0 || (depths[scan.node] ?? 0) > most) return ''
  return release(scan, scan.held, scan.held.length)
}

const isOf = (wanted: number, code: number): boolean => code < 128 && ((classesOf[code] ?? 0) & wanted) !== 0

/** Starts the shapes whose prefix ends at `place`. */
function beginShapes(scan: Scan, marks: number, place: number): void {
  if ((marks & (jwtBit - 1)) !== 0) beginPrefixed(scan, marks, place)
  if ((marks & jwtBit) !== 0 && scan.jwt.run === null) {
    scan.jwt.starts.push(place + 1 - webToken.prefix.length)
    scan.live |= jwtBit
  }
  if ((marks & beginBit) !== 0) {
    scan.begin = { from: place + 1 - keyBlock.begin.length, title: '', dashes: 0 }
    scan.live |= beginBit
  }
  const { block } = scan
  const end = place + 1 - keyBlock.end.length
  if ((marks & endBit) !== 0 && block !== null && end > block.from && end < block.until)
    block.end = { from: end, title: '', dashes: 0 }
}

function beginPrefixed(scan: Scan, marks: number, place: number): void {
  for (const [at, { prefix }] of prefixedShapes.entries()) {
    // Nothing to do for a shape that already began earlier: its beginning covers this place and everything after it.
    if ((marks & (1 << at)) === 0 || (scan.live & (1 << at)) !== 0) continue
    scan.prefixes[at] = place + 1 - prefix.length
    scan.live |= 1 << at
  }
}

function goOnWithShapes(scan: Scan, code: number, place: number): void {
  if ((scan.live & (jwtBit - 1)) !== 0) goOnWithPrefixed(scan, code, place)
  if ((scan.live & jwtBit) !== 0) goOnWithWebToken(scan, code, place)
  if ((scan.live & blockBit) !== 0) goOnWithBlock(scan, code, place)
  if ((scan.live & beginBit) !== 0) goOnWithBegin(scan, code)
}

function isSure(scan: Scan, at: number, place: number): boolean {
  const shape = prefixedShapes[at]
  return shape !== undefined && place - (scan.prefixes[at] ?? 0) >= shape.prefix.length + shape.least
}

function goOnWithPrefixed(scan: Scan, code: number, place: number): void {
  for (const [at, shape] of prefixedShapes.entries()) {
    if ((scan.live & (1 << at)) === 0 || isOf(shape.class, code)) continue
    if (isSure(scan, at, place)) cover(scan, scan.prefixes[at] ?? 0, place)
    scan.live &= ~(1 << at)
  }
}

function goOnWithWebToken(scan: Scan, code: number, place: number): void {
  const { jwt } = scan
  if (jwt.run !== null) {
    if (isOf(classes.tokenRun, code)) return
    cover(scan, jwt.run, place)
    jwt.run = null
  }
  if (jwt.awaiting !== null) {
    const isNext = webToken.prefix.charCodeAt(jwt.awaiting.seen) === code
    jwt.awaiting.seen += 1
    if (!isNext) jwt.awaiting = null
    else if (jwt.awaiting.seen === webToken.prefix.length) {
      jwt.run = jwt.awaiting.from
      jwt.awaiting = null
      jwt.starts = []
    }
  }
  if (jwt.starts.length > 0 && !isOf(classes.base64Url, code)) {
    dropLongHeaders(jwt, place)
    const [first] = jwt.starts
    if (code === dot && first !== undefined && place - first >= webToken.shortestHeader)
      jwt.awaiting = { from: first, seen: 0 }
    jwt.starts = []
  }
  if (jwt.run === null && jwt.awaiting === null && jwt.starts.length === 0) scan.live &= ~jwtBit
}

const dot = 0x2e
const dash = 0x2d

/** Drops possible headers of web tokens that are already too long to end with a dot at `place` or later. */
function dropLongHeaders(jwt: Scan['jwt'], place: number): void {
  const isShort = (from: number) => place - from <= webToken.longestHeader
  const first = jwt.starts[0]
  if (first !== undefined && !isShort(first)) jwt.starts = jwt.starts.filter(isShort)
}

function goOnWithMarker(marker: Marker, code: number): 'whole' | 'more' | 'none' {
  if (code === dash) {
    if (marker.dashes === 0 && !keyBlock.title.test(marker.title)) return 'none'
    marker.dashes += 1
    return marker.dashes === keyBlock.dashes ? 'whole' : 'more'
  }
  if (marker.dashes > 0 || !isOf(classes.marker, code) || marker.title.length >= keyBlock.longestTitle)
    return 'none'
  marker.title += String.fromCharCode(code)
  return 'more'
}

function goOnWithBegin(scan: Scan, code: number): void {
  const { begin } = scan
  if (begin === null) return
  const found = goOnWithMarker(begin, code)
  if (found === 'more') return
  scan.begin = null
  scan.live &= ~beginBit
  if (found === 'none') return
  const until = begin.from + keyBlock.longest
  if (scan.block === null) scan.block = { from: begin.from, until, end: null }
  else scan.block.until = until
  scan.live |= blockBit
}

function goOnWithBlock(scan: Scan, code: number, place: number): void {
  const { block } = scan
  if (block === null) return
  // The block is hidden at once, because text after it may be hidden too, and ranges must be in order.
  if (place === block.until) cover(scan, block.from, block.until)
  if (block.end !== null) {
    const found = goOnWithMarker(block.end, code)
    if (found === 'more') return
    block.end = null
    if (found === 'whole') {
      cover(scan, block.from, place + 1)
      return endBlock(scan)
    }
  }
  if (place >= block.until) endBlock(scan)
}

function endBlock(scan: Scan): void {
  scan.block = null
  scan.live &= ~blockBit
}

/** Hides a range. Adjacent and overlapping ranges are merged, so that the total cost stays linear. */
function cover(scan: Scan, from: number, to: number): void {
  const { covers } = scan
  let first = Math.max(0, from)
  let end = to
  while (covers.length > 0 && (covers.at(-1) ?? 0) >= first) {
    end = Math.max(end, covers.pop() ?? 0)
    first = Math.min(first, covers.pop() ?? 0)
  }
  covers.push(first, end)
}

/** Hides the beginning of a secret at the end of the text, if it is long enough to identify the secret. */
function coverCutSecret({ depths, fails, firstMarked }: Automaton, scan: Scan, length: number): void {
  let { node } = scan
  while (node >= firstMarked) node = fails[node] ?? 0
  const depth = depths[node] ?? 0
  if (depth >= tellingPrefix) cover(scan, length - depth, length)
  coverSure(scan, length)
}

function firstUndecided(scan: Scan, length: number, depth: number): number {
  coverSure(scan, length)
  dropLongHeaders(scan.jwt, length)
  let first = Math.max(0, length - depth)
  if (scan.live === 0) return first
  for (const at of prefixedShapes.keys())
    if ((scan.live & (1 << at)) !== 0 && !isSure(scan, at, length))
      first = Math.min(first, scan.prefixes[at] ?? 0)
  const { jwt, begin, block } = scan
  for (const from of [jwt.starts[0], jwt.awaiting?.from, begin?.from, block?.end?.from])
    if (from !== undefined) first = Math.min(first, from)
  return first
}

function coverSure(scan: Scan, length: number): void {
  if (scan.live === 0) return
  for (const at of prefixedShapes.keys())
    if ((scan.live & (1 << at)) !== 0 && isSure(scan, at, length)) cover(scan, scan.prefixes[at] ?? 0, length)
  if (scan.jwt.run !== null) cover(scan, scan.jwt.run, length)
  if (scan.block !== null) cover(scan, scan.block.from, Math.min(length, scan.block.until))
}

/** Returns the text up to `end`, with a mark in place of each hidden part. Keeps the rest of the text in the scan. */
function release(scan: Scan, text: string, end: number): string {
  const { covers } = scan
  const shown: string[] = []
  const left: number[] = []
  let at = 0
  const show = (to: number) => {
    if (to <= at) return
    shown.push(text.slice(at, to))
    scan.marked = false
    at = to
  }
  const hide = (to: number) => {
    if (to <= at) return
    if (!scan.marked) shown.push(redacted)
    scan.marked = true
    at = to
  }
  for (let pair = 0; pair < covers.length; pair += 2) {
    const [from, to] = [covers[pair] ?? 0, covers[pair + 1] ?? 0]
    const until = Math.min(to, end)
    show(Math.min(from, end))
    for (let line = scan.linesStay ? text.indexOf('\n', at) : -1; line !== -1 && line < until;) {
      hide(line)
      show(line + 1)
      line = text.indexOf('\n', at)
    }
    hide(until)
    if (to > end) left.push(Math.max(0, from - end), to - end)
  }
  show(end)
  scan.held = text.slice(end)
  scan.covers = left
  moveBack(scan, end)
  return shown.join('')
}

function moveBack(scan: Scan, by: number): void {
  if (scan.live === 0 || by === 0) return
  const { jwt, begin, block } = scan
  const moved = (marker: Marker | null): Marker | null => marker && { ...marker, from: marker.from - by }
  scan.prefixes = scan.prefixes.map((from) => from - by)
  jwt.starts = jwt.starts.map((from) => from - by)
  if (jwt.awaiting !== null) jwt.awaiting = { ...jwt.awaiting, from: jwt.awaiting.from - by }
  if (jwt.run !== null) jwt.run -= by
  scan.begin = moved(begin)
  if (block !== null) scan.block = { from: block.from - by, until: block.until - by, end: moved(block.end) }
}

export function textWithout(sought: Automaton, text: string): string {
  return goOn(sought, newScan(), text, true)
}

/** Removes secrets from a unified diff, also from the names in the head before the first hunk. Every line stays, with its leading sign. */
export function diffWithout(sought: Automaton, diff: string): string {
  const whole = (text: string) => goOn(sought, newScan({ linesStay: true }), text, true)
  const [head = '', ...hunks] = diff.split(/^(?=@@ )/m)
  const shown = hunks.map((hunk) => {
    const [title = '', ...lines] = hunk.split('\n')
    const bodies = whole(lines.map((line) => line.slice(1)).join('\n')).split('\n')
    return [whole(title), ...lines.map((line, at) => line.slice(0, 1) + (bodies[at] ?? ''))].join('\n')
  })
  return whole(head) + shown.join('')
}
