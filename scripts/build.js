/**
 * `npm run build`: builds the server as a bundle in dist/server, and the web client in dist/web. Arguments name the parts to build; without any, both
 * are built.
 */
import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parts, sourcesOf, stampOf } from './parts.js'
import { stamped } from './stamps.js'

const builders = { server: buildServer, web: buildWeb }

/** These stay in node_modules: they have native parts, or are drivers that most servers never load. */
const external = [
  '@photostructure/sqlite',
  'sharp',
  '@eventstore/db-client',
  'mongodb',
  'nats',
  'bufferutil',
  'utf-8-validate',
]

/**
 * Escapes what is not ASCII. esbuild leaves such characters in regular expressions, and with one of them V8 keeps the whole source in twice the memory.
 * @param {string} code
 */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Bundles services/main.ts for Node 20 with its packages, because Node takes long to find hundreds of files. As one CommonJS file, it can be started
 * with V8's code cache (`services/start.ts`).
 * @param {string} root
 */
export async function buildServer(root) {
  const { build } = await import('esbuild')
  const target = join(root, 'dist/server')
  const made = `${target}.${process.pid}`
  try {
    const shared = {
      absWorkingDir: root,
      outdir: made,
      bundle: true,
      format: /** @type {const} */ ('cjs'),
      platform: /** @type {const} */ ('node'),
      target: 'node20',
      external,
      // Packages want two versions of this table of media types, which takes a megabyte and some milliseconds of each start.
      alias: { 'mime-types': join(root, 'node_modules/mime-types/index.js') },
      // A script with a code cache can `require` packages, and import them only by an experimental function.
      supported: { 'dynamic-import': false },
      logLevel: /** @type {const} */ ('silent'),
    }
    await build({
      ...shared,
      // The server starts the others as threads, and looks for them in its own folder.
      entryPoints: {
        server: 'services/main.ts',
        textWorker: 'services/runner/redaction/textWorker.ts',
        digestWorker: 'services/platform/verify/digestWorker.ts',
        rebuildWorker: 'services/query/projection/rebuildWorker.ts',
      },
      define: { 'import.meta.url': 'bundleUrl' },
      banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
      sourcemap: true,
      // Without comments and indentation, the source takes less memory.
      minifyWhitespace: true,
      lineLimit: 120,
    })
    const code = inAscii(await readFile(join(made, 'server.js'), 'utf8'))
    const script = `(function (exports, require, module, __filename, __dirname) {${code}\n})`
    const bundleName = `server-${createHash('sha256').update(script).digest('hex').slice(0, 16)}.js`
    await writeFile(join(made, bundleName), script)
    await rm(join(made, 'server.js'))
    await build({
      ...shared,
      entryPoints: { main: 'services/start.ts' },
      define: { bundleName: JSON.stringify(bundleName) },
    })
    // The package of the whole project has ECMAScript modules.
    await writeFile(join(made, 'package.json'), '{"type":"commonjs"}\n')
    // Anybody may run this program by itself, with nothing but Node.
    await build({
      absWorkingDir: root,
      entryPoints: { 'flightdeck-verify': 'services/operations/bundleVerifier.ts' },
      outdir: made,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      logLevel: 'silent',
    })
    // The whole folder is replaced, so that nobody finds half a bundle, and nothing of an older bundle stays.
    await rm(target, { recursive: true, force: true })
    await rename(made, target)
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/**
 * Builds the web client with the settings of vite.config.ts, and also the player of saved replays.
 * @param {string} root
 */
export async function buildWeb(root) {
  const { build } = await import('vite')
  const before = process.env['NODE_ENV']
  // A test runner sets this to `test`, with which React would be built with everything that only its developers need.
  process.env['NODE_ENV'] = 'production'
  try {
    await build({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn' })
    await build({ configFile: join(root, 'vite.replay.config.ts'), logLevel: 'warn' })
  } finally {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const asked = parts.filter((part) => process.argv.length === 2 || process.argv.includes(part, 2))
  try {
    for (const part of asked)
      await stamped(stampOf(root, part), sourcesOf(root, part), () => builders[part](root))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
