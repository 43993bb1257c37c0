/** `npm test`: runs every check stage by stage, also on a fresh clone. The last line has the totals. `--long` adds the checks that take longer. */
import { appendFileSync, chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { goEnvironment, installEnvironment, testEnvironment } from './environment.js'
import { hasEngine } from './containersEngine.js'
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
const notes = join(scratch, 'notes.jsonl')
const isLong = process.argv.includes('--long', 2)
/** @type {NodeJS.ProcessEnv} */
const env = {
  ...testEnvironment(process.env, notes),
  TMPDIR: temporary,
  ...(isLong && { FLIGHTDECK_TEST_LONG: '1' }),
}
const minute = 60_000

/** Programs that tests use, and the Debian packages that bring them. */
const programs = {
  git: 'git',
  'chromium-headless-shell': 'chromium-headless-shell',
  'nats-server': 'nats-server',
  bwrap: 'bubblewrap',
  'ssh-keygen': 'openssh-client',
}

const unitAndContracts = ['unit-domain', 'unit', 'contracts', 'outside', 'unprivileged']

process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** These take long and need none of the packages, so they begin at once, together with the first stages. */
const programsInMaking = [
  { name: 'codex', making: inMaking('codex.js', installEnvironment(process.env)) },
  { name: 'opencode', making: inMaking('opencode.js', installEnvironment(process.env)) },
  { name: 'gemini', making: inMaking('gemini.js', installEnvironment(process.env)) },
  ...(findProgram('go', process.env)
    ? [{ name: 'FerretDB, for MongoDB', making: inMaking('ferretdb.js', goEnvironment(process.env)) }]
    : []),
]

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {() => Promise<Results>} work
 * @property {readonly string[]} [begins] stages that begin with this one, because it waits or leaves a core free, and are reported in their turn
 */

/** @type {Stage[]} */
const stages = [
  { name: 'prepare', work: prepare },
  { name: 'build', work: build, begins: ['boundaries'] },
  { name: 'boundaries', work: () => script('boundaries', 5 * minute) },
  { name: 'lint', work: () => script('lint', 5 * minute) },
  { name: 'packages: licences and known vulnerabilities', work: checkPackages },
  { name: 'programs for tests: codex, opencode, gemini, and FerretDB for MongoDB', work: programsAreMade },
  {
    name: 'unit tests of the client',
    work: () => suite(process.execPath, ['unit-web'], 10 * minute),
    begins: ['types'],
  },
  { name: 'types', work: () => script('types', 15 * minute) },
  // A browser needs all processors, so no other stage runs at the same time.
  { name: 'end-to-end tests', work: () => suite(process.execPath, ['e2e'], 15 * minute) },
  {
    name: 'tests of the server',
    work: () => suite(process.execPath, ['server'], 25 * minute),
    begins: ['unit and contract tests'],
  },
  { name: 'unit and contract tests', work: unitTestsBesideServer },
  { name: 'tests of the services in containers', work: testsInContainers },
]
if (isLong) {
  stages.push(
    { name: 'unit and contract tests on Node 24', work: () => onNode24([...unitAndContracts, 'unit-web']) },
    { name: 'long tests', work: () => suite(process.execPath, ['long'], 180 * minute) },
  )
}

const results = []
/** @type {string[]} */
const times = []
/** Stages that were begun together with an earlier one. */
const begun = new Map()
for (const { name, work, begins = [] } of stages) {
  console.log(`\n== ${name}`)
  for (const other of stages.filter((stage) => begins.includes(stage.name)))
    begun.set(other.name, timed(other.work))
  const { result, seconds } = await (begun.get(name) ?? timed(work))
  results.push(result)
  times.push(`time: ${name}: ${seconds} s`)
  console.log(`== ${name}: ${result.failed.length === 0 ? 'passed' : 'FAILED'} in ${seconds} s`)
}
const total = sum(results)
console.log(`\n${[...times, ...closingLines(total, textOf(notes) ?? '')].join('\n')}`)
process.exitCode = total.failed.length === 0 ? 0 : 1

/** @param {Stage['work']} work */
async function timed(work) {
  const start = performance.now()
  const result = await work()
  return { result, seconds: ((performance.now() - start) / 1_000).toFixed(1) }
}

/** Installs packages of npm and of the system at the same time. Both get the settings and certificates of the shell's environment, but no key. */
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

/** Reports system packages that cannot be installed; the tests that need them are skipped or fail. */
async function systemPackages() {
  const lacking = Object.entries(programs).filter(([program]) => !findProgram(program, process.env))
  const hasBrowser = findProgram('chromium', process.env) !== undefined
  // If this package cannot be installed, the whole browser is used instead.
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
  // Some systems do not package the browser's engine separately.
  if (failed.includes('chromium-headless-shell')) {
    failed.splice(failed.indexOf('chromium-headless-shell'), 1)
    if (!hasBrowser) failed.push(...(await installForSystem(['chromium'], where)))
  }
  if (failed.length > 0)
    console.log(`Could not be installed: ${failed.join(', ')}. What needs them is skipped or fails.`)
}

async function build() {
  const stale = staleParts(root)
  if (stale.length === 0) return oneCheck('build', true)
  const builder = [join(root, 'scripts/build.js'), ...stale]
  return check('build', process.execPath, builder, 10 * minute)
}

/** npm gets the shell's environment, as in `prepare`. When the registry does not answer an audit, the report says so and counts no check. */
async function checkPackages() {
  const faults = await writeBill(root, process.env)
  for (const fault of faults) console.log(fault)
  const audit = await auditPackages(root, process.env)
  console.log(`The audit of packages ${audit.says}.`)
  appendFileSync(notes, `${JSON.stringify({ what: 'audit of packages', against: audit.says })}\n`)
  const licences = oneCheck('licences', faults.length === 0)
  return audit.kind === 'not_run'
    ? licences
    : sum([licences, oneCheck('audit of packages', audit.kind === 'clean')])
}

/** Runs the unit tests on the processor time that the server's tests leave free, because those often wait. */
function unitTestsBesideServer() {
  return suite(process.execPath, unitAndContracts, 25 * minute, { nice: 9, workers: 2, output: 'keep' })
}

/** Builds the product's images, which takes longer than all other tests, and so runs only if there is a container engine. */
async function testsInContainers() {
  if (hasEngine()) return suite(process.execPath, ['containers'], 60 * minute)
  const note = {
    what: 'the services in containers',
    against: 'not run, as there is no container engine here',
  }
  appendFileSync(notes, `${JSON.stringify(note)}\n`)
  return nothing
}

/**
 * Runs a script of package.json as one check.
 * @param {string} name
 * @param {number} limit
 */
function script(name, limit) {
  return check(name, 'npm', ['run', '--silent', name], limit)
}

/**
 * Runs a command as one check; its output is shown when it fails.
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

/**
 * @param {string} name of a script that fetches or builds a program
 * @param {NodeJS.ProcessEnv} environment
 */
function inMaking(name, environment) {
  return run(process.execPath, [join(root, 'scripts', name)], {
    cwd: root,
    env: environment,
    limit: 15 * minute,
    output: 'keep',
  })
}

/** Not a check: when a program is missing, the suites that need it are skipped with the reason. */
async function programsAreMade() {
  for (const { name, making } of programsInMaking) {
    const made = await making
    if (!made.ok) console.log(`${name} is not there: ${made.output.trim() || made.why}`)
  }
  if (!findProgram('go', process.env)) console.log('FerretDB cannot be built: there is no Go.')
  return nothing
}

async function findNode24() {
  // A Node 24 of Debian or nvm would do as well, but npm's is available wherever `npm ci` works.
  const args = ['--yes', '-p', 'node@24', '--', 'node', '-p', 'process.execPath']
  const npx = await run('npx', args, {
    cwd: scratch,
    env: installEnvironment(process.env),
    limit: 5 * minute,
    output: 'keep',
  })
  return { ...npx, path: npx.output.trim().split('\n').at(-1) }
}

/**
 * Copies a program so that every user may run it: some tests do not run as root, and only root may be able to read npm's cache.
 * @param {string} program
 */
function forEverybody(program) {
  const copy = join(scratch, 'node')
  chmodSync(scratch, 0o711)
  copyFileSync(program, copy)
  chmodSync(copy, 0o755)
  return copy
}

/** @param {string[]} projects */
async function onNode24(projects) {
  const { ok, why, path } = await findNode24()
  if (ok && path) return suite(forEverybody(path), projects, 15 * minute)
  console.log(`Node 24 could not be had from the npm registry: npx ${why}.`)
  return { ...nothing, skipped: [{ name: `${projects.join(', ')} on Node 24`, reason: 'no Node 24' }] }
}

/**
 * Runs projects of vitest.config.ts on the given Node.
 * @param {string} node
 * @param {string[]} projects
 * @param {number} limit
 * @param {{ nice?: number, workers?: number, output?: 'show' | 'keep' }} [how] files at a time, when not as vitest.config.ts says; output that is kept is shown when the run has ended
 */
async function suite(node, projects, limit, { nice = 0, workers, output = 'show' } = {}) {
  const tally = join(mkdtempSync(join(scratch, 'suite-')), 'tally.json')
  const vitest = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...projects.flatMap((name) => ['--project', name]),
    ...(workers === undefined ? [] : ['--maxWorkers', String(workers)]),
  ]
  const colour = process.stdout.isTTY ? [] : ['--no-color']
  const reporters = ['--reporter=default', `--reporter=${join(root, 'tests/report/tally.ts')}`]
  const ended = await run(node, [...vitest, ...reporters, ...colour], {
    cwd: root,
    // Tests that start `node` by its name get the same Node.
    env: {
      ...env,
      FLIGHTDECK_TEST_TALLY: tally,
      PATH: `${dirname(node)}${delimiter}${env.PATH ?? ''}`,
    },
    limit,
    output,
    nice,
  })
  if (output === 'keep') console.log(ended.output.trimEnd())
  if (!ended.ok) console.log(`The run ${ended.why}.`)
  return suiteResults(textOf(tally), ended.ok)
}

/** @param {string} path */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
