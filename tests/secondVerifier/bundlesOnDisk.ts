/** Changed audit bundles with seals from elsewhere, and the results of both verifiers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyBundle } from '#domain/proof/verifyBundle.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { textLines } from '../../services/operations/textLines.ts'
import { bundleOf, keptEnvelopes, signingKey } from '../domain/auditBundles.ts'
import { bundleChanges, changedMember } from '../domain/bundleTampering.ts'
import { headerOf, sealLine } from '../domain/bundleVectors.ts'
import { pickFrom } from '../server/tampering.ts'
import { comparing, type Comparison, type Said } from './compare.ts'
import { saidOf } from './logsOnDisk.ts'
import { startSecondVerifier } from './secondVerifier.ts'

type Draw = (bound: number) => number

interface BundleOnDisk {
  /** The lines of the bundle, without their newlines. */
  readonly lines: readonly string[]
  /** The lines of the seals that the reader has. */
  readonly seals: readonly string[]
  readonly keys: readonly string[]
}
interface BundleMutation {
  readonly kind: string
  readonly isBenign?: boolean
  readonly apply: (bundle: BundleOnDisk, pick: Draw) => BundleOnDisk | undefined
}

type LinesChange = (lines: readonly string[], pick: Draw) => readonly string[] | undefined
const ofBundle = (kind: string, change: LinesChange, isBenign = false): BundleMutation => ({
  kind,
  isBenign,
  apply: (bundle, pick) => {
    const lines = change(bundle.lines, pick)
    return lines && { ...bundle, lines }
  },
})
const ofSeals = (kind: string, change: LinesChange, isBenign = false): BundleMutation => ({
  kind: `seals: ${kind}`,
  isBenign,
  apply: (bundle, pick) => {
    const seals = change(bundle.seals, pick)
    return seals && { ...bundle, seals }
  },
})

/** Changes a line between the header, all of whose bytes are signed, and the end. */
const ofLine = (kind: string, change: (line: string, pick: Draw) => string): BundleMutation =>
  ofBundle(
    kind,
    (lines, pick) => {
      const at = 1 + pick(lines.length - 1)
      return lines.with(at, change(lines[at] ?? '', pick))
    },
    true,
  )

const reversed = (json: string) =>
  JSON.stringify(Object.fromEntries(Object.entries(Object(JSON.parse(json))).toReversed()))
const memberChanged = (line: string, member: string, to: (value: unknown) => unknown) => {
  const seal: object = Object(JSON.parse(line))
  return JSON.stringify({ ...seal, [member]: to(Reflect.get(seal, member)) })
}
function otherText(text: string, pick: Draw): string {
  const at = pick(text.length)
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}
const ofOneSeal = (kind: string, change: (line: string, pick: Draw) => string, isBenign = false) =>
  ofSeals(
    kind,
    (lines, pick) => {
      const at = pick(lines.length)
      return lines.with(at, change(lines[at] ?? '', pick))
    },
    isBenign,
  )

const benign: readonly BundleMutation[] = [
  ofBundle('nothing', (lines) => lines, true),
  ofLine('spaces in a line', (line) => line.replace(',', ' , ').replace('{', '{\t')),
  ofLine('members in another order', reversed),
  ofLine('an escape', (line) => line.replace('"kind"', '"k\\u0069nd"')),
  ofBundle(
    'a line moved that need not stand anywhere',
    (lines, pick) => {
      const at = lines.flatMap((line, index) => (/^\{"kind":"(proof|end|seal)"/.test(line) ? [index] : []))
      const from = at[pick(at.length)] ?? 1
      return lines.toSpliced(from, 1).toSpliced(1 + pick(lines.length - 2), 0, lines[from] ?? '')
    },
    true,
  ),
  ofSeals('shuffled', (lines) => lines.toReversed(), true),
  ofSeals('one removed', (lines, pick) => lines.toSpliced(pick(lines.length), 1), true),
  ofSeals('one twice', (lines, pick) => [...lines, lines[pick(lines.length)] ?? ''], true),
  ofOneSeal('no heads', (line) => memberChanged(line, 'heads', () => undefined), true),
  ofSeals(
    'lines that are none',
    (lines, pick) => [...lines, ['', '{', '{}', '7', '{"checkpoint":"x"}', 'ü'][pick(6)] ?? ''],
    true,
  ),
]

const ofSealLines: readonly BundleMutation[] = [
  ofOneSeal('a character of the checkpoint', (line, pick) =>
    memberChanged(line, 'checkpoint', (note) => otherText(String(note), pick)),
  ),
  ofOneSeal('a character of the heads', (line, pick) =>
    memberChanged(line, 'heads', (note) => otherText(String(note), pick)),
  ),
  ofOneSeal('heads that are no text', (line) => memberChanged(line, 'heads', () => 7)),
  ofOneSeal('another revision', (line, pick) => memberChanged(line, 'revision', () => pick(5))),
  ofOneSeal('no revision', (line) => memberChanged(line, 'revision', () => undefined)),
]

const fromElsewhere = (kind: string, others: readonly string[]) =>
  ofSeals(kind, (lines, pick) => [...lines, others[pick(others.length)] ?? ''])

async function scene() {
  const [size, sealedAt] = [40, [7, 20, 33]]
  const origin = headerOf(await bundleOf())
  const old = signingKey(`flightdeck.dev/log/${origin.logId}/1`, 6)
  const erased = keptEnvelopes
    .filter(({ type, meta }) => type.startsWith('TerminalOutput') && meta.content !== null)
    .slice(0, 3)
  const sealsOf = async (sizes: readonly number[], seed = 7) =>
    Promise.all(sizes.map(async (at, revision) => sealLine(await bundleOf({ size: at, seed }), revision)))
  const bundles = [
    await bundleOf({ size, sealedAt }),
    await bundleOf({
      size,
      sealedAt: [20, 33],
      sealsFrom: 10,
      asked: [7],
      withheld: ['tools', 'prompts'],
      olderKeys: [old.vkey],
      contentOf: (event) => (erased.includes(event) ? { kind: 'erased' } : undefined),
    }),
  ]
  const seals = await sealsOf([...sealedAt, size, keptEnvelopes.length])
  const bases = bundles.flatMap((lines) => [
    { lines, seals, keys: headerOf(lines).keys.slice(0, 1) },
    { lines, seals: seals.slice(0, 3), keys: headerOf(lines).keys.slice(0, 1) },
  ])
  const mutations: readonly BundleMutation[] = [
    ...Object.entries(bundleChanges).map(([kind, change]) =>
      ofBundle(kind, (lines, pick) => change(lines, pick)?.lines),
    ),
    ofBundle('a member', (lines, pick) => changedMember(lines, pick)?.lines),
    ofBundle('another member', (lines, pick) => changedMember(lines, pick)?.lines),
    ...benign,
    ...ofSealLines,
    fromElsewhere('one of another key', await sealsOf([7, 20, 41], 9)),
    fromElsewhere('one of a size that is not listed', await sealsOf([8, 21, 34, 42])),
  ]
  const other = await bundleOf({ size, sealedAt, seed: 9 })
  const stranger: BundleMutation = {
    kind: 'a bundle of another key',
    apply: (bundle) => ({ ...bundle, lines: other }),
  }
  return { bases, mutations: [...mutations, stranger] }
}

/** The kinds of changes that do not matter, after which the bundle is still whole. */
export const benignBundleKinds = benign.map(({ kind }) => kind)

/** Runs both verifiers on this many changes of two bundles, one with withheld and erased contents, and of the reader's seals. */
export async function compareBundles({ times, seed }: { times: number; seed: number }): Promise<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-second-'))
  const second = startSecondVerifier()
  const compared = comparing()
  try {
    const [file, seals] = [join(folder, 'bundle.ndjson'), join(folder, 'seals.ndjson')]
    const { bases, mutations } = await scene()
    const pick = pickFrom(seed)
    for (let tried = 0; tried < times;) {
      const [base, mutation] = [bases[pick(bases.length)], mutations[pick(mutations.length)]]
      const changed = base && mutation?.apply(base, pick)
      if (!mutation || !changed) continue
      tried += 1
      const newline = pick(10) === 0 ? '' : '\n'
      await writeFile(file, changed.lines.join('\n') + newline)
      await writeFile(seals, `${changed.seals.join('\n')}\n`)
      const { keys } = changed
      const theirs = await second.check({ kind: 'bundle', file, keys, seals: [seals] })
      compared.add(mutation.kind, oursOf(file, seals, keys), saidOf(theirs))
    }
    return compared.done()
  } finally {
    await second.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function oursOf(file: string, seals: string, keys: readonly string[]): Said {
  const report = verifyBundle(textLines(file), cryptography, { keys, seals: textLines(seals) })
  const { verdict, faults } = report
  const isOther = verdict === 'newer_format' || verdict === 'older_format'
  return {
    verdict: isOther ? 'unreadable' : verdict,
    places: faults.flatMap(({ where }) => (where.includes('@') ? [where] : [])),
    words: [verdict, ...faults.map(({ kind, where, why }) => `${kind} ${where}: ${why}`)],
  }
}
