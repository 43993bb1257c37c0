#!/usr/bin/env node
/**
 * Checks an audit bundle without a server and without its keys: `flightdeck-verify <bundle> [--key <vkey>]... [--seal <file>]...`. Exit code 0:
 * whole. 1: not whole, or signed by a key that is not known. 2: it could not be checked. It is built into one file without dependencies.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Cryptography } from '../../domain/proof/bundleHashes.ts'
import type { BundleFault } from '../../domain/proof/bundleParts.ts'
import { verifyBundle, type BundleReport } from '../../domain/proof/verifyBundle.ts'

const usage = `Usage: flightdeck-verify <bundle.ndjson> [--key <verifier key or file>]... [--seal <file of seals>]... [--json]

  --key   a key that you know to be the log's, as text or in a file with a key per line; repeat it for more
  --seal  seals of the log that you have from elsewhere, such as its file of seals
  --json  prints the whole report as JSON

Exit codes: 0 whole, 1 not whole or signed by an unknown key, 2 could not be checked.`

const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')
const cryptography: Cryptography = {
  sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
  utf8: (text) => new TextEncoder().encode(text),
  isSignedBy: (publicKey, message, signature) =>
    verify(
      null,
      message,
      createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: 'der', type: 'spki' }),
      signature,
    ),
}

const shownAtMost = 100

function linesOf(report: BundleReport, isKeyGiven: boolean): readonly string[] {
  if (report.verdict === 'newer_format')
    return ['newer format: get a newer verifier from the server that made this bundle']
  if (report.verdict === 'unknown_key')
    return ['unknown key: it is signed, by none of the keys that you gave']
  if (report.verdict === 'not_whole')
    return [
      ...report.faults.slice(0, shownAtMost).map((fault) => `${wordOf(fault)}: ${fault.why}`),
      ...(report.faults.length > shownAtMost ? [`${report.faults.length - shownAtMost} more`] : []),
    ]
  return [report.isWitnessed ? 'whole' : 'whole, not witnessed', ...details(report, isKeyGiven)]
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
    `signed by: ${report.signedBy}`,
    ...(isKeyGiven
      ? []
      : ['Whose key that is, this check cannot tell: give the key that you know with --key.']),
  ]
}

/** Keys in a file, or the text itself where there is no such file. */
function keysIn(given: string): readonly string[] {
  if (/^\S+\+[0-9a-f]{8}\+\S+$/.test(given)) return [given]
  return textLines(given).filter((line) => line !== '')
}

function textLines(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n')
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      key: { type: 'string', multiple: true, default: [] },
      seal: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [file, ...more] = positionals
  if (values.help || file === undefined || more.length > 0) {
    process.stdout.write(`${usage}\n`)
    return values.help ? 0 : 2
  }
  const keys = values.key.flatMap(keysIn)
  const report = verifyBundle(textLines(file), cryptography, keys, values.seal.flatMap(textLines))
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
