/** `npm start`: installs and builds what has changed since the last start, then serves in this process. */
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installEnvironment } from './environment.js'
import { installPackages, packagesAreCurrent } from './install.js'
import { staleParts } from './parts.js'
import { run } from './run.js'
import { canInstall, findProgram, installForSystem } from './system.js'
import { faultOfGit, faultOfNode, limitationOfGit } from './versions.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const env = process.env
const asksForHelp = process.argv.includes('--help', 2)

const answer = versionOfGit()
// The comparison takes as long as git takes to answer.
const [hasPackages, stale] = [packagesAreCurrent(root), staleParts(root)]
const git = await answer
const fault = faultOfNode(process.versions.node) ?? faultOfGit(git) ?? (await install()) ?? (await build())
if (fault) {
  console.error(fault)
  process.exit(1)
}
const limitation = limitationOfGit(git)
if (limitation) console.log(limitation)
if (!asksForHelp) await installBubblewrap()
// The server runs in this process, so that every signal, even one that cannot be caught, reaches the server directly.
await import(pathToFileURL(join(root, 'dist/server/main.js')).href)

/** @returns {Promise<string | undefined>} what `git --version` prints; nothing where there is no git */
function versionOfGit() {
  return new Promise((resolve) =>
    execFile('git', ['--version'], { timeout: 10_000 }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    ),
  )
}

/** @returns {Promise<string | undefined>} a fault */
async function install() {
  if (hasPackages) return undefined
  console.log('Installing packages (first start only)…')
  return installPackages(root, env)
}

/** @returns {Promise<string | undefined>} a fault */
async function build() {
  if (stale.length === 0) return undefined
  console.log(`Building the ${stale.join(' and the ')}${stale.includes('web') ? ' client' : ''}…`)
  // Built in a process of its own, because a bundler leaves threads and settings behind that a server must not have.
  const builder = [join(root, 'scripts/build.js'), ...stale]
  const built = await run(process.execPath, builder, {
    cwd: root,
    env: installEnvironment(env),
    limit: 300_000,
    output: 'keep',
  })
  return built.ok ? undefined : `${built.output.trim()}\nBuilding failed: the build ${built.why}.`
}

/**
 * Installs bubblewrap, which makes the sandbox that agents run in. A start never fails here without it: the server decides whether it can run
 * without.
 */
async function installBubblewrap() {
  const another = env.SANDBOX === 'none' || env.SANDBOX === 'container'
  if (another || process.platform !== 'linux' || findProgram('bwrap', env)) return
  if (!canInstall()) {
    console.log(
      'bubblewrap, which makes the sandbox for agents, is missing here: sudo apt-get install bubblewrap. Without it a container engine is used if one is there.',
    )
    return
  }
  console.log('Installing bubblewrap, which makes the sandbox that agents run in…')
  const failed = await installForSystem(['bubblewrap'], { cwd: root, env })
  if (failed.length > 0) console.log('It could not be installed. Try: apt-get install bubblewrap')
}
