#!/usr/bin/env node
/**
 * Checks an audit bundle without a server and without its keys:
 * `flightdeck-verify <bundle> [--key <verifier key>]... [--seal <file>]... [--witness <key>]...`. Exit code 0: whole. 1: not whole, or signed
 * by a key that is not known. 2: it could not be checked. It is built into one file without dependencies.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { BundleFault } from '../../domain/proof/bundleParts.ts'
import { parseVerifierKey, type VerifierKey } from '../../domain/proof/checkpoint.ts'
import { parseWitnessKey } from '../../domain/proof/cosignatures.ts'
import { verifyBundle, type BundleReport } from '../../domain/proof/verifyBundle.ts'
import { cryptography } from '../platform/seals/cryptography.ts'

const usage = `Usage: flightdeck-verify <bundle.ndjson> [--key <verifier key or file>]... [--seal <file of seals>]...
                         [--witness <key of a witness, or file>]... [--json]

  --key      a key that you know to be the log's, as text or in a file with a key per line; repeat it for more
  --seal     seals of the log that you have from elsewhere, such as its file of seals
  --witness  a key of a witness that you trust: one of the seals must have its signature
  --json     prints the whole report as JSON

Exit codes: 0 whole, 1 not whole or signed by an unknown key, 2 could not be checked.`

const shownAtMost = 100

function linesOf(report: BundleReport, isKeyGiven: boolean): readonly string[] {
  if (report.verdict === 'newer_format')
    return ['newer format: get a newer verifier from the server that made this bundle']
  if (report.verdict === 'unknown_key') return unknownKey(report)
  if (report.verdict === 'not_whole')
    return [
      ...report.faults.slice(0, shownAtMost).map((fault) => `${wordOf(fault)}: ${fault.why}`),
      ...(report.faults.length > shownAtMost ? [`${report.faults.length - shownAtMost} more`] : []),
    ]
  return [report.isWitnessed ? 'whole' : 'whole, not witnessed', ...details(report, isKeyGiven)]
}

function unknownKey({ signedBy }: BundleReport): readonly string[] {
  return [
    'unknown key: it is signed by none of the keys that you gave, and none of them names the key that signed it as its successor',
    ...(signedBy === null ? [] : [`signed by: ${signedBy}`]),
    'If the key of the log was replaced, ask its operator for the new one (npm start -- seals).',
  ]
}

function wordOf({ kind, where }: BundleFault): string {
  if (kind === 'removed' && (where === 'manifest' || where === 'header')) return `cut at the ${where}`
  return `${kind} at ${where}`
}

function details(report: BundleReport, isKeyGiven: boolean): readonly string[] {
  const withheld = Object.entries(report.withheld)
  return [
    `task: ${report.taskId}, events: ${report.events}, of ${report.treeSize} in the log`,
    ...withheld.map(([category, count]) => `withheld: ${count} ${category}`),
    ...(report.erased > 0 ? [`erased: ${report.erased}`] : []),
    ...(report.unreadable > 0 ? [`could not be opened by the server: ${report.unreadable}`] : []),
    `signed by: ${report.signedBy}${report.isReplacement ? ', which replaced a key that you gave' : ''}`,
    ...report.cosignatures.map(({ witness, time }) => `cosigned by: ${witness}, at ${momentOf(time)}`),
    ...(isKeyGiven
      ? []
      : ['Whose key that is, this check cannot tell: give the key that you know with --key.']),
  ]
}

function momentOf(seconds: number): string {
  const moment = new Date(seconds * 1_000)
  return Number.isNaN(moment.getTime()) ? `${seconds} s since 1970` : moment.toISOString()
}

/** The keys that were given as text or in files. Throws when one is none, or a file has none: a check without keys would say too much. */
function keysIn<T>(given: readonly string[], parse: (text: string) => T | undefined): readonly (T & {})[] {
  return given.flatMap((each) => {
    const texts = existsSync(each) ? [...textLines(each)].filter((line) => line !== '') : [each]
    if (texts.length === 0) throw new Error(`There is no key in ${each}.`)
    return texts.map((text) => {
      const key = parse(text)
      if (key === undefined || key === null)
        throw new Error(`This is neither a key nor a file of keys: ${text}`)
      return key
    })
  })
}

const chunkBytes = 1_048_576
const longestLine = 64 * chunkBytes
/** Stands for a line that is too long or no text: nothing that a bundle may hold. */
const noLine = '\u0000'

/** The lines of a file, one at a time, however large the file is. */
function* textLines(file: string): Generator<string> {
  const descriptor = openSync(file, 'r')
  try {
    const chunk = Buffer.alloc(chunkBytes)
    let parts: Buffer[] = []
    let length = 0
    const add = (part: Buffer) => {
      length += part.length
      if (length <= longestLine) parts.push(Buffer.from(part))
    }
    const take = () => {
      const line = length > longestLine ? noLine : decoded(Buffer.concat(parts))
      parts = []
      length = 0
      return line
    }
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0 && end < read; end = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, end))
        yield take()
        from = end + 1
      }
      add(chunk.subarray(from, read))
    }
    if (length > 0) yield take()
  } finally {
    closeSync(descriptor)
  }
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r$/, '')
  } catch {
    return noLine
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
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [file, ...more] = positionals
  if (values.help || file === undefined || more.length > 0) {
    process.stdout.write(`${usage}\n`)
    return values.help ? 0 : 2
  }
  const keys = keysIn(values.key, (text) => (parseVerifierKey(cryptography.sha256, text) ? text : undefined))
  const witnesses = keysIn<VerifierKey>(values.witness, (text) => parseWitnessKey(cryptography, text))
  const report = verifyBundle(textLines(file), cryptography, {
    keys,
    seals: allLines(values.seal),
    witnesses,
  })
  const lines = values.json ? [JSON.stringify(report, null, 2)] : linesOf(report, keys.length > 0)
  process.stdout.write(`${lines.join('\n')}\n`)
  return report.verdict === 'whole' ? 0 : report.verdict === 'newer_format' ? 2 : 1
}

try {
  process.exitCode = main()
} catch (fault) {
  process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`)
  process.exitCode = 2
}
