/**
 * `npm run sbom`: writes what the product is made of into dist/, from the lock file: a bill of materials in CycloneDX (made by `npm sbom`) and a
 * report of licences. `npm test` makes both, compares the licences with the list below, and asks npm's audit for known vulnerabilities.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './run.js'

const limit = 120_000
/** How many characters of npm's answers are kept: the bill of 900 packages has 750,000. */
const kept = 20_000_000

/** The SPDX ids of licences that only require their own text and the names of authors, including those for fonts and documents. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'PSF-2.0',
  'Unlicense',
])

/**
 * Packages under other licences, each with the reason why it may be used nevertheless. The first match counts.
 * @type {readonly { readonly name: RegExp, readonly licence: string, readonly why: string }[]}
 */
const reviewed = [
  {
    name: /^@anthropic-ai\/claude-code-/,
    licence: 'SEE LICENSE IN LICENSE.md',
    why: "Anthropic's terms. A program of its own that agents run as; optional, and part of no bundle.",
  },
  {
    name: /^@img\/sharp-/,
    licence: 'LGPL-3.0-or-later',
    why: 'libvips, a shared library of its own that sharp loads; part of no bundle.',
  },
  {
    name: /^(ssh2|cpu-features|buildcheck)$/,
    licence: 'MIT',
    why: 'Its manifest names the licence in an old form; the licence file says MIT. Used by tests alone.',
  },
  {
    name: /^xmlhttprequest-ssl$/,
    licence: 'MIT',
    why: 'Its manifest names the licence in an old form; the licence file says MIT. Not used in browsers.',
  },
]

/**
 * @typedef {object} Component
 * @property {string} name
 * @property {string} version
 * @property {string} licence as its manifest says, or empty
 * @property {boolean} isDevelopment installed for building and testing alone
 */

/**
 * The packages of a bill of materials.
 * @param {unknown} bill CycloneDX, as JSON
 * @returns {readonly Component[]}
 */
export function componentsOf(bill) {
  const { components = [] } = /** @type {{ components?: readonly Record<string, unknown>[] }} */ (bill)
  return components.map(({ name, version, licenses, properties }) => ({
    name: String(name),
    version: String(version),
    licence: /** @type {readonly { license?: { id?: string, name?: string }, expression?: string }[]} */ (
      licenses ?? []
    )
      .map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '')
      .join(' AND '),
    isDevelopment: /** @type {readonly { name: string, value: string }[]} */ (properties ?? []).some(
      ({ name, value }) => name === 'cdx:npm:package:development' && value === 'true',
    ),
  }))
}

/**
 * The terms under which a package may be used, or the fault that nobody has reviewed its licence.
 * @param {Component} component
 * @returns {{ readonly licence: string, readonly why: string } | { readonly fault: string }}
 */
export function termsOf({ name, version, licence }) {
  const ids = licence.replace(/[()]/g, '').split(/ (?:AND|OR) /)
  if (ids.every((id) => permissive.has(id))) return { licence, why: '' }
  const known = reviewed.find((terms) => terms.name.test(name))
  if (known) return known
  return { fault: `${name} ${version}: ${licence || 'no licence is named'}` }
}

/**
 * The report: a line for each licence with its packages, and the reasons why packages under other terms may be used.
 * @param {readonly Component[]} components
 */
export function licenceReport(components) {
  /** @type {Map<string, string[]>} */
  const byLicence = new Map()
  const reasons = new Set()
  for (const component of components) {
    const terms = termsOf(component)
    const licence = 'fault' in terms ? 'not reviewed' : terms.licence
    if (!('fault' in terms) && terms.why) reasons.add(`- ${component.name} (${licence}): ${terms.why}`)
    const names = byLicence.get(licence) ?? []
    names.push(`${component.name} ${component.version}${component.isDevelopment ? ' (development)' : ''}`)
    byLicence.set(licence, names)
  }
  const sections = [...byLicence]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([licence, names]) => `## ${licence} (${names.length})\n\n${names.toSorted().join(', ')}\n`)
  const other = reasons.size === 0 ? '' : `## Other terms\n\n${[...reasons].toSorted().join('\n')}\n`
  return `# Licences of the packages in the lock file\n\n${[...sections, other].join('\n')}`
}

/**
 * Writes the bill of materials and the report into dist/. Returns the faults, as lines to show.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<readonly string[]>}
 */
export async function writeBill(root, env) {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error']
  const npm = await run('npm', args, { cwd: root, env, limit, output: 'keep', kept })
  if (!npm.ok) return [`The bill of materials could not be made: npm sbom ${npm.why}.`]
  const bill = npm.output.slice(npm.output.indexOf('{'))
  const components = componentsOf(JSON.parse(bill))
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(join(root, 'dist/sbom.cdx.json'), bill)
  writeFileSync(join(root, 'dist/licences.md'), licenceReport(components))
  return components.flatMap((component) => {
    const terms = termsOf(component)
    return 'fault' in terms ? [`Nobody has looked at this licence yet: ${terms.fault}`] : []
  })
}

/**
 * Asks npm's audit about the packages that ship. `not_run` when the registry does not answer such questions: this is reported, and is no success.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ readonly kind: 'clean' | 'not_run' | 'vulnerable', readonly says: string }>}
 */
export async function auditPackages(root, env) {
  const args = ['audit', '--omit=dev', '--audit-level=high', '--json', '--loglevel=silent']
  const npm = await run('npm', args, { cwd: root, env, limit, output: 'keep', kept })
  return readAudit(npm.output, npm.ok)
}

/**
 * @param {string} output what `npm audit --json` printed
 * @param {boolean} ok whether it ended with 0
 * @returns {{ readonly kind: 'clean' | 'not_run' | 'vulnerable', readonly says: string }}
 */
export function readAudit(output, ok) {
  /** @type {{ vulnerabilities?: Record<string, { severity?: string }>, metadata?: unknown, message?: string } | undefined} */
  let answer
  try {
    answer = JSON.parse(output.slice(output.indexOf('{')))
  } catch {
    answer = undefined
  }
  // Only an answer with its counts is valid: an empty object would look like a clean audit.
  if (answer?.vulnerabilities === undefined || answer.metadata === undefined)
    return {
      kind: 'not_run',
      says: `could not run: ${answer?.message?.split(' - ')[0] ?? 'the package registry gave no answer'}`,
    }
  const grave = Object.entries(answer.vulnerabilities).filter(([, { severity }]) =>
    ['high', 'critical'].includes(severity ?? ''),
  )
  if (grave.length > 0 || !ok)
    return {
      kind: 'vulnerable',
      says: `vulnerable packages: ${grave.map(([name, { severity }]) => `${name} (${severity})`).join(', ')}`,
    }
  return { kind: 'clean', says: 'no known vulnerability of high or critical severity in what ships' }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const faults = await writeBill(root, process.env)
  if (faults.length === 0) console.log('Written: dist/sbom.cdx.json, dist/licences.md')
  else for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
