/** `npm test`: everything that can be checked, stage by stage, on a fresh clone. The last line is the totals. `--long` adds what needs longer. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { goEnvironment, installEnvironment, testEnvironment } from './environment.js'
import { installPackages, packagesAreCurrent } from './install.js'
import { staleParts } from './parts.js'
import { closingLines, nothing, oneCheck, suiteResults, sum } from './results.js'
import { run } from './run.js'
import { scratchRoot } from './scratch.js'
import { auditPackages, writeBill } from './supplyChain.js'
import { canInstall, findProgram, installForSystem } from './system.js'

/** @typedef {import('./results.js').Results} Results */

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const temporary = scratchRoot(process.env)
const scratch = mkdtempSync(join(temporary, 'flightdeck-test-'))
const files = { tally: join(scratch, 'tally.json'), notes: join(scratch, 'notes.jsonl') }
/** @type {NodeJS.ProcessEnv} */
const env = { ...testEnvironment(process.env, files), TMPDIR: temporary }
const minute = 60_000

/** Programs that tests use, and the Debian packages that bring them. */
const programs = {
  git: 'git',
  'chromium-headless-shell': 'chromium-headless-shell',
  'nats-server': 'nats-server',
  bwrap: 'bubblewrap',
}

const unitAndContracts = ['unit-domain', 'unit', 'contracts']
/** They run in a browser's place, or run git, sandboxes, agents' programs and engines' servers: long, and the same on every Node. */
const outside = ['unit-web', 'outside']

process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** What takes long and needs none of the packages begins at once, beside the first stages. */
const ferretDb = findProgram('go', process.env)
  ? run(process.execPath, [join(root, 'scripts/ferretdb.js')], {
      cwd: root,
      env: goEnvironment(process.env),
      limit: 15 * minute,
      output: 'keep',
    })
  : undefined

/** Checks that compute on one core begin with the stage before them, which leaves one free or waits. */
const beside = { boundaries: Promise.resolve(nothing), types: Promise.resolve(nothing) }

/** @type {[name: string, stage: () => Promise<Results>][]} */
const stages = [
  ['prepare', prepare],
  ['build', buildBesideBoundaries],
  ['boundaries, beside it', () => beside.boundaries],
  ['lint', () => script('lint', 5 * minute)],
  ['packages: licences and known vulnerabilities', checkPackages],
  ['FerretDB, for MongoDB', ferretDbIsBuilt],
  ['unit and contract tests', unitTestsBesideTypes],
  ['types, beside them', () => beside.types],
  // In one run: where a browser computes, a test of the server waits for an agent, and the other way round.
  [
    'tests of the server, and end-to-end tests',
    () => suite(process.execPath, ['server', 'e2e'], 20 * minute),
  ],
]
if (process.argv.includes('--long', 2)) {
  stages.push(
    ['unit and contract tests on Node 24', () => onNode24([...unitAndContracts, ...outside])],
    ['long tests', () => suite(process.execPath, ['long'], 120 * minute)],
  )
}

const results = []
/** @type {string[]} */
const times = []
for (const [name, stage] of stages) {
  console.log(`\n== ${name}`)
  const begun = performance.now()
  const result = await stage()
  results.push(result)
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  times.push(`time: ${name}: ${seconds} s`)
  console.log(`== ${name}: ${result.failed.length === 0 ? 'passed' : 'FAILED'} in ${seconds} s`)
}
const total = sum(results)
console.log(`\n${[...times, ...closingLines(total, textOf(files.notes) ?? '')].join('\n')}`)
process.exitCode = total.failed.length === 0 ? 0 : 1

/** Packages of npm and of the system, both at once. They get their settings and certificates of the shell's environment, and no key. */
async function prepare() {
  const ofSystem = systemPackages()
  if (packagesAreCurrent(root)) {
    await ofSystem
    return oneCheck('prepare', true)
  }
  console.log('Installing packages…')
  const [fault] = await Promise.all([installPackages(root, process.env), ofSystem])
  if (fault) console.log(fault)
  return oneCheck('prepare', !fault)
}

/** What cannot be had is said; what needs it is skipped or fails. */
async function systemPackages() {
  const lacking = Object.entries(programs).filter(([program]) => !findProgram(program, process.env))
  const hasBrowser = findProgram('chromium', process.env) !== undefined
  // Where it cannot be installed, the whole browser does as well.
  const names = lacking
    .map(([, name]) => name)
    .filter((name) => canInstall() || !hasBrowser || name !== 'chromium-headless-shell')
  if (names.length === 0) return
  if (!canInstall()) {
    console.log(`Missing here: ${names.join(', ')}. Install them; what needs them is skipped or fails.`)
    return
  }
  console.log(`Installing ${names.join(', ')}…`)
  const where = { cwd: root, env: process.env }
  const failed = await installForSystem(names, where)
  // Not every system has the engine of the browser apart.
  if (failed.includes('chromium-headless-shell')) {
    failed.splice(failed.indexOf('chromium-headless-shell'), 1)
    if (!hasBrowser) failed.push(...(await installForSystem(['chromium'], where)))
  }
  if (failed.length > 0)
    console.log(`Could not be installed: ${failed.join(', ')}. What needs them is skipped or fails.`)
}

function buildBesideBoundaries() {
  beside.boundaries = script('boundaries', 5 * minute)
  return build()
}

async function build() {
  const stale = staleParts(root)
  if (stale.length === 0) return oneCheck('build', true)
  const builder = [join(root, 'scripts/build.js'), ...stale]
  return check('build', process.execPath, builder, 10 * minute)
}

/** npm gets the shell's environment, as in `prepare`. Where the registry answers no audit, the report says so and counts no check. */
async function checkPackages() {
  const faults = await writeBill(root, process.env)
  for (const fault of faults) console.log(fault)
  const audit = await auditPackages(root, process.env)
  console.log(`The audit of packages ${audit.says}.`)
  appendFileSync(files.notes, `${JSON.stringify({ what: 'audit of packages', against: audit.says })}\n`)
  const licences = oneCheck('licences', faults.length === 0)
  return audit.kind === 'not_run'
    ? licences
    : sum([licences, oneCheck('audit of packages', audit.kind === 'clean')])
}

function unitTestsBesideTypes() {
  beside.types = script('types', 15 * minute)
  return suite(process.execPath, [...unitAndContracts, ...outside], 15 * minute)
}

/**
 * A script of package.json.
 * @param {string} name
 * @param {number} limit
 */
function script(name, limit) {
  return check(name, 'npm', ['run', '--silent', name], limit)
}

/**
 * A command that is one check; what it printed is shown when it fails.
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 * @param {number} limit
 */
async function check(name, command, args, limit) {
  const { ok, why, output } = await run(command, args, { cwd: root, env, limit, output: 'keep' })
  if (!ok) console.log(`${output.trimEnd()}\n${why}`)
  return oneCheck(name, ok)
}

/** No check: where it is not there, the suites that need it are skipped with the reason. */
async function ferretDbIsBuilt() {
  const built = await ferretDb
  if (built === undefined) console.log('It cannot be built: there is no Go.')
  else if (!built.ok) console.log(`It could not be built: ${built.output.trim() || built.why}`)
  return nothing
}

async function findNode24() {
  // Debian's and nvm's Node 24 are as good as npm's, but this one can be had everywhere that npm ci works.
  const args = ['--yes', '-p', 'node@24', '--', 'node', '-p', 'process.execPath']
  const npx = await run('npx', args, {
    cwd: scratch,
    env: installEnvironment(process.env),
    limit: 5 * minute,
    output: 'keep',
  })
  return { ...npx, path: npx.output.trim().split('\n').at(-1) }
}

/** @param {string[]} projects */
async function onNode24(projects) {
  const { ok, why, path } = await findNode24()
  if (ok && path) return suite(path, projects, 15 * minute)
  console.log(`Node 24 could not be had from the npm registry: npx ${why}.`)
  return { ...nothing, skipped: [{ name: `${projects.join(', ')} on Node 24`, reason: 'no Node 24' }] }
}

/**
 * Projects of vitest.config.ts, on the Node that is named.
 * @param {string} node
 * @param {string[]} projects
 * @param {number} limit
 */
async function suite(node, projects, limit) {
  rmSync(files.tally, { force: true })
  const vitest = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...projects.flatMap((name) => ['--project', name]),
  ]
  const colour = process.stdout.isTTY ? [] : ['--no-color']
  const reporters = ['--reporter=default', `--reporter=${join(root, 'tests/report/tally.ts')}`]
  const { ok, why } = await run(node, [...vitest, ...reporters, ...colour], {
    cwd: root,
    // A test that starts `node` by its name gets the same one.
    env: { ...env, PATH: `${dirname(node)}${delimiter}${env.PATH ?? ''}` },
    limit,
    output: 'show',
  })
  if (!ok) console.log(`The run ${why}.`)
  return suiteResults(textOf(files.tally), ok)
}

/** @param {string} path */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
