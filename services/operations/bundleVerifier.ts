#!/usr/bin/env node
/**
 * A program that checks an audit bundle without a server and its keys, or compares two bundles. `usage` has its arguments and exit codes. It is built
 * into one file without dependencies.
 */
import { appendFileSync, existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { BundleHeader } from '../../domain/proof/auditBundle.schema.ts'
import { sealIn } from '../../domain/proof/bundleSeals.ts'
import { parseVerifierKey, type VerifierKey } from '../../domain/proof/checkpoint.ts'
import { compareBundles, type BundleComparison } from '../../domain/proof/compareBundles.ts'
import { parseWitnessKey } from '../../domain/proof/checkpoint.ts'
import { parseFingerprint } from '../../domain/proof/logKeys.ts'
import { headerIn } from '../../domain/proof/readBundle.ts'
import { verifyBundle, type BundleReport } from '../../domain/proof/verifyBundle.ts'
import { cryptography } from '../platform/seals/cryptography.ts'
import { textLines } from './textLines.ts'
import { comparisonLines, linesOf, type Pinned } from './verifierReport.ts'

const usage = `Usage: flightdeck-verify <bundle.ndjson> [<second bundle>] [--key <key or file>]... [--seal <file of seals>]...
                         [--witness <key of a witness, or file>]... [--known-keys <file>] [--json]

  --key         a key that you know to be the log's: its fingerprint, the verifier key, or a file with one per line; repeat it for more
  --seal        seals of the log that you have from elsewhere, such as its file of seals
  --witness     a key of a witness that you trust: one of the seals must have its signature
  --known-keys  where the keys of logs are remembered; by default flightdeck/known-keys in your folder for configuration
  --json        prints the whole report as JSON

Without --key, the key of a log is remembered when it is first seen, and has to be the same from then on.
Two bundles of one log are also compared with each other.

Exit codes: 0 whole, 1 not whole, or signed by an unknown key, or in contradiction, 2 could not be checked or compared,
            3 no faults, but the key was seen for the first time.`

interface Given {
  readonly keys: readonly string[]
  readonly seals: readonly string[]
  readonly witnesses: readonly VerifierKey[]
  readonly knownKeys: string
}

interface Checked {
  readonly report: BundleReport
  readonly pinned: Pinned
}

/**
 * Checks a bundle with the given keys. Without given keys, uses the known keys of the bundle's log; without those, uses `beside`, the keys of the
 * bundle with which this one is compared; without those too, any key passes as seen for the first time.
 */
function check(
  file: string,
  { keys, seals, witnesses, knownKeys }: Given,
  beside: readonly string[],
): Checked {
  const logId = headerOf(file)?.logId
  const known = keys.length > 0 || logId === undefined ? [] : knownKeysOf(knownKeys, logId)
  const sources = [
    { from: 'given', keys },
    { from: 'remembered', keys: known },
    { from: 'beside', keys: beside },
  ] as const
  const pinned = sources.find((each) => each.keys.length > 0) ?? { from: 'first_seen', keys: [] }
  const knows = { keys: pinned.keys, seals: allLines(seals), witnesses }
  const report = verifyBundle(textLines(file), cryptography, knows)
  // The keys `beside` come from the other bundle and were not known before either, so the verdict is only `intact` and not `whole`.
  const isNew = pinned.from === 'beside' && report.verdict === 'whole'
  return { report: isNew ? { ...report, verdict: 'intact' } : report, pinned: { ...pinned, file: knownKeys } }
}

function headerOf(file: string): BundleHeader | undefined {
  for (const line of textLines(file)) return headerIn(line)
  return undefined
}

function remember({ report, pinned }: Checked): void {
  const { verdict, logId, signedBy } = report
  if (verdict !== 'intact' || logId === null || signedBy === null) return
  if (!knownKeysOf(pinned.file, logId).includes(signedBy)) rememberKey(pinned.file, logId, signedBy)
}

function codeOf({ report: { verdict } }: Checked): number {
  switch (verdict) {
    case 'whole':
      return 0
    case 'not_whole':
    case 'unknown_key':
      return 1
    case 'newer_format':
    case 'older_format':
      return 2
    case 'intact':
      return 3
  }
}

interface Answer {
  readonly code: number
  readonly lines: readonly string[]
  readonly json: unknown
}

function answerOne(file: string, given: Given): Answer {
  const checked = check(file, given, [])
  remember(checked)
  return { code: codeOf(checked), lines: linesOf(checked.report, checked.pinned), json: checked }
}

function answerTwo(files: readonly [string, string], given: Given): Answer {
  const first = check(files[0], given, [])
  // The first bundle's manifest covers the keys in its header, so they can be trusted for the second bundle.
  const second = check(
    files[1],
    given,
    first.report.verdict === 'intact' ? (headerOf(files[0])?.keys ?? []) : [],
  )
  const both = [first, second]
  const wrong = both.filter((each) => codeOf(each) === 1 || codeOf(each) === 2)
  const about = both.flatMap(({ report, pinned }, at) => [
    `${files[at]}:`,
    ...linesOf(report, pinned).map((line) => `  ${line}`),
  ])
  if (wrong.length > 0)
    return {
      code: Math.min(...wrong.map(codeOf)),
      lines: ['not compared:', ...about],
      json: { first, second },
    }
  const comparison = compareBundles(textLines(files[0]), textLines(files[1]), cryptography)
  if (comparison.verdict !== 'contradict') both.forEach(remember)
  const isFirstSeen = both.some(({ report }) => report.verdict === 'intact')
  return {
    code: codeOfComparison(comparison, isFirstSeen),
    lines: [...comparisonLines(comparison, isFirstSeen), ...about],
    json: { comparison, first, second },
  }
}

function codeOfComparison({ verdict }: BundleComparison, isFirstSeen: boolean): number {
  if (verdict === 'contradict') return 1
  if (verdict === 'not_compared') return 2
  return isFirstSeen ? 3 : 0
}

/** The keys given as text or in files. Throws for an invalid key or a file without keys: otherwise the reader would believe that it was used. */
function keysIn<T>(given: readonly string[], parse: (text: string) => T | undefined): readonly (T & {})[] {
  return given.flatMap((each) => {
    const texts = existsSync(each) ? [...textLines(each)].filter((line) => line.trim() !== '') : [each]
    if (texts.length === 0) throw new Error(`There is no key in ${each}.`)
    return texts.map((text) => {
      const key = parse(text.trim())
      if (key === undefined || key === null)
        throw new Error(`This is neither a key nor a file of keys: ${text}`)
      return key
    })
  })
}

/** Throws when a file has no seal: otherwise the reader would believe that its seals were compared. */
function checkSeals(files: readonly string[]): void {
  for (const file of files) {
    let hasSeal = false
    for (const line of textLines(file)) hasSeal ||= sealIn(line) !== undefined
    if (!hasSeal) throw new Error(`There is no seal in ${file}.`)
  }
}

function* allLines(files: readonly string[]): Generator<string> {
  for (const file of files) yield* textLines(file)
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: 'string', multiple: true, default: [] },
      seal: { type: 'string', multiple: true, default: [] },
      witness: { type: 'string', multiple: true, default: [] },
      'known-keys': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [file, second, ...more] = positionals
  if (values.help || file === undefined || more.length > 0) {
    process.stdout.write(`${usage}\n`)
    return values.help ? 0 : 2
  }
  checkSeals(values.seal)
  const given = {
    keys: keysIn(values.key, (text) =>
      parseVerifierKey(cryptography.sha256, text) ? text : parseFingerprint(text),
    ),
    seals: values.seal,
    witnesses: keysIn<VerifierKey>(values.witness, (text) => parseWitnessKey(cryptography, text)),
    knownKeys: values['known-keys'] ?? usualKnownKeys(process.env['XDG_CONFIG_HOME']),
  }
  const { code, lines, json } =
    second === undefined ? answerOne(file, given) : answerTwo([file, second], given)
  // A bundle may contain any text, so control characters are replaced.
  const shown = lines.map((line) => line.replaceAll(/\p{Cc}/gu, '\uFFFD')).join('\n')
  process.stdout.write(`${values.json ? JSON.stringify(json, null, 2) : shown}\n`)
  return code
}

try {
  process.exitCode = main()
} catch (fault) {
  process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`)
  process.exitCode = 2
}

/** The path of the user's file of known keys. */
function usualKnownKeys(configHome: string | undefined): string {
  // The XDG specification says that a relative folder must be ignored.
  const folder = configHome?.startsWith('/') === true ? configHome : join(homedir(), '.config')
  return join(folder, 'flightdeck', 'known-keys')
}

/** The known keys of a log. Throws when a line of the file is invalid: it may hold the log's key, without which any other key would pass as new. */
function knownKeysOf(file: string, logId: string): readonly string[] {
  if (!existsSync(file)) return []
  return [...textLines(file)].flatMap((line) => {
    if (line.trim() === '') return []
    const [id, key = '', ...more] = line.trim().split(' ')
    if (more.length > 0 || parseVerifierKey(cryptography.sha256, key) === undefined)
      throw new Error(`${file} has a line that is no log id with a verifier key: ${line}`)
    return id === logId ? [key] : []
  })
}

/** Adds the key of a log to the file of known keys. */
function rememberKey(file: string, logId: string, verifierKey: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  appendFileSync(file, `${logId} ${verifierKey}\n`, { mode: 0o600 })
}
