/** Compares the file of seals with the seals of the log, line by line: `docs/log-format.md`, "The file of seals". */
import { sealStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import { parseCheckpoint, parseNote } from '#domain/proof/checkpoint.ts'
import { identityIn } from '#domain/proof/sealNotes.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { outsideSeal, sealsFrom } from '#platform/seals/recordedSeals.ts'
import type { OutsideSeal, SealLine } from '#platform/seals/sealsFile.ts'

export interface LineFault {
  readonly wrong: 'seal_missing' | 'seals_file'
  readonly stream: string
  readonly revision: number | null
  readonly sentence: string
}

/** A seal in the file that the log does not have, or has in another form. Its claim is compared with the log, like the claim of any other seal. */
export interface StrangeSeal {
  readonly epoch: number
  readonly seal: OutsideSeal
}

export interface LineReport {
  readonly faults: readonly LineFault[]
  readonly told: readonly string[]
  readonly strange: readonly StrangeSeal[]
  readonly count: number
}

export interface Comparing {
  readonly store: Pick<EventStore, 'readStream'>
  readonly identity: LogIdentity
  /** For each epoch of the log, the number of recorded seals. */
  readonly recorded: ReadonlyMap<number, number>
  /** Whether the file was copied before the log, in which case the last seals may be missing in the file. */
  readonly isOlder: boolean
}

interface Lines extends Comparing {
  readonly faults: LineFault[]
  readonly told: string[]
  readonly strange: StrangeSeal[]
  /** For each epoch, the revisions of the seals that were found in the file. */
  readonly seen: Map<number, Set<number>>
  newest: { readonly epoch: number; readonly revision: number }
  /** The page of the log's seals that was read last. */
  page: { readonly epoch: number; readonly from: number; readonly seals: ReadonlyMap<number, OutsideSeal> }
}

const pageSize = 500
const maxSentences = 1_000

export async function compareLines(
  lines: AsyncIterable<SealLine>,
  comparing: Comparing,
): Promise<LineReport> {
  const checking: Lines = {
    ...comparing,
    faults: [],
    told: [],
    strange: [],
    seen: new Map(),
    newest: { epoch: 1, revision: -1 },
    page: { epoch: 0, from: 0, seals: new Map() },
  }
  for await (const line of lines) {
    await compare(checking, line)
    if (checking.faults.length + checking.told.length < maxSentences) continue
    fault(
      checking,
      line.number,
      null,
      'is the last that was compared: too much is wrong with those before it',
    )
    return reportOf(checking)
  }
  for (const epoch of new Set([...comparing.recorded.keys(), ...checking.seen.keys()]))
    tellMissing(checking, epoch)
  return reportOf(checking)
}

function reportOf({ faults, told, strange, seen }: Lines): LineReport {
  return { faults, told, strange, count: [...seen.values()].reduce((sum, { size }) => sum + size, 0) }
}

async function compare(lines: Lines, { number, text, seal }: SealLine): Promise<void> {
  const of = seal && identityIn(parseCheckpoint(parseNote(seal.checkpoint)?.text ?? '')?.origin ?? '')
  if (!seal || !of) {
    if (!seal && (await isTorn(lines, text)))
      lines.told.push(`Line ${number} of the file of seals breaks off.`)
    else fault(lines, number, null, 'is no seal')
    return
  }
  if (of.logId !== lines.identity.logId) return fault(lines, number, null, `is of another log, ${of.logId}`)
  const place = { epoch: of.epoch, revision: seal.revision }
  const known = await sealOf(lines, place)
  const seen = lines.seen.get(of.epoch) ?? new Set<number>()
  lines.seen.set(of.epoch, seen)
  const isRepeated = seen.has(seal.revision)
  seen.add(seal.revision)
  if (!known) {
    lines.strange.push({ epoch: of.epoch, seal })
  }
  if (!known && !isCutOff(lines, place)) {
    const stream = sealStream(of.epoch)
    const sentence = `${stream} @ ${seal.revision} was written outside, in line ${number} of the file of seals, and is not in the log any more: it was removed.`
    lines.faults.push({ wrong: 'seal_missing', stream, revision: seal.revision, sentence })
    return
  }
  const wrong = differenceOf(known ?? seal, seal, text)
  if (wrong !== undefined) {
    if (known) lines.strange.push({ epoch: of.epoch, seal })
    return fault(lines, number, place, wrong)
  }
  const isNewer = comparePlaces(place, lines.newest) > 0
  if (isNewer) lines.newest = place
  else if (!isRepeated)
    fault(
      lines,
      number,
      place,
      `stands after ${sealStream(lines.newest.epoch)} @ ${lines.newest.revision}: lines were moved`,
    )
  else if (parseNote(seal.checkpoint)?.signatures.length === 1)
    lines.told.push(`Line ${number} of the file of seals stands twice.`)
}

/**
 * How the line differs from the log, in words that follow the line's name; `undefined` when it does not. Additional signatures under the checkpoint
 * are those of witnesses and do not count.
 */
function differenceOf(known: OutsideSeal, seal: OutsideSeal, text: string): string | undefined {
  const isCosigned = seal.checkpoint.startsWith(known.checkpoint) && parseNote(seal.checkpoint) !== undefined
  if (!isCosigned) return 'has another checkpoint than the log'
  if (seal.heads !== known.heads) return 'has other heads than the log'
  const expected = JSON.stringify({ ...known, checkpoint: seal.checkpoint })
  return text === expected ? undefined : 'is not the line that was written of this seal'
}

/** Whether the line is the beginning of one of the log's seals, cut off because the process was killed or the disk was full. */
async function isTorn(lines: Lines, text: string): Promise<boolean> {
  const start = '{"revision":'
  const revision = /^\{"revision":(\d{1,15}),/.exec(text)?.[1]
  if (revision === undefined) return start.startsWith(text) || /^\{"revision":\d{1,15}$/.test(text)
  for (const epoch of lines.recorded.keys()) {
    const known = await sealOf(lines, { epoch, revision: Number(revision) })
    const whole = JSON.stringify(known) ?? ''
    const checkpoint = whole.slice(0, whole.indexOf('","heads"'))
    const cosigned = text.slice(checkpoint.length)
    if (whole.startsWith(text)) return true
    if (known && text.startsWith(checkpoint) && /^\u2014[^"]*$/.test(cosigned)) return true
  }
  return lines.identity.epoch > 1 && hasBeginningOfSeal(text)
}

/** Whether the text looks like the beginning of a seal. A seal that a restore cut off can only be recognized by its form. */
function hasBeginningOfSeal(text: string): boolean {
  const form = text.replace(/\d+/, '0').replaceAll(/:"[^"]*/g, ':"')
  return !text.endsWith('}') && '{"revision":0,"at":"","checkpoint":"","heads":""}'.startsWith(form)
}

/** The seal with this epoch and revision in the log; `undefined` when the log has none. */
async function sealOf(
  lines: Lines,
  { epoch, revision }: { readonly epoch: number; readonly revision: number },
): Promise<OutsideSeal | undefined> {
  const from = revision - (revision % pageSize)
  const isRead = lines.page.epoch === epoch && lines.page.from === from && lines.page.seals.has(revision)
  if (!isRead) {
    const seals = new Map<number, OutsideSeal>()
    for await (const seal of sealsFrom(lines.store, { epoch }, from)) {
      if (seal.revision >= from + pageSize) break
      seals.set(seal.revision, outsideSeal(lines.identity.logId, seal))
    }
    lines.page = { epoch, from, seals }
  }
  return lines.page.seals.get(revision)
}

/** Whether the log lacks this seal because a restore cut the seal off: its epoch is over, and the log has fewer seals of that epoch. */
const isCutOff = ({ identity, recorded }: Lines, { epoch, revision }: Lines['newest']): boolean =>
  epoch < identity.epoch && revision >= (recorded.get(epoch) ?? 0)

/**
 * Reports which seals of an epoch are missing in the file. For seals that a restore cut off from the log, only the file shows how many there were.
 */
function tellMissing(lines: Lines, epoch: number): void {
  const recorded = lines.recorded.get(epoch) ?? 0
  const isOver = epoch < lines.identity.epoch
  const seen = [...(lines.seen.get(epoch) ?? [])]
    .filter((revision) => isOver || revision < recorded)
    .toSorted((one, other) => one - other)
  const isEndMissing = (seen.at(-1) ?? -1) < recorded - 1
  const ends = isEndMissing ? [...seen, recorded] : seen
  for (const [index, next] of ends.entries()) {
    const from = (ends[index - 1] ?? -1) + 1
    if (from === next) continue
    const what = from === next - 1 ? `seal ${from}` : `seals ${from} to ${next - 1}`
    const sentence = `The file of seals lacks ${what} of epoch ${epoch}.`
    const isEnd = isEndMissing && index === ends.length - 1
    if (isEnd && (isOver || lines.isOlder || from === next - 1)) lines.told.push(sentence)
    else lines.faults.push({ wrong: 'seals_file', stream: sealStream(epoch), revision: from, sentence })
  }
}

function fault({ faults }: Lines, number: number, place: Lines['newest'] | null, what: string): void {
  const name = place === null ? '' : ` (${sealStream(place.epoch)} @ ${place.revision})`
  const sentence = `Line ${number} of the file of seals${name} ${what}.`
  const [stream, revision] = [sealStream(place?.epoch ?? 1), place?.revision ?? null]
  faults.push({ wrong: 'seals_file', stream, revision, sentence })
}

const comparePlaces = (one: Lines['newest'], other: Lines['newest']): number =>
  one.epoch - other.epoch || one.revision - other.revision
