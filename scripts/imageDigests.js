/**
 * `node scripts/imageDigests.js`: writes into docker-compose.yml and the Dockerfile which image, by its digest, each of their tags is now.
 * With `--check` it writes nothing, and fails where one has no digest or another than its tag. Needs Docker with buildx, and a network.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './run.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const files = ['docker-compose.yml', 'Dockerfile'].map((name) => join(root, name))
/** A default with a tag: ours have none, and are built here. */
const image = /(?<=_IMAGE(?::-|=))([\w./-]+:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?/g

const isCheck = process.argv.includes('--check')
/** @type {Map<string, string>} */
const digests = new Map()
let wrong = 0
for (const file of files) {
  const text = readFileSync(file, 'utf8')
  for (const [, name = '', has] of text.matchAll(image)) {
    const digest = digests.get(name) ?? (await digestOf(name))
    digests.set(name, digest)
    if (digest === has) continue
    wrong += 1
    console.log(`${name} is ${digest}${has === undefined ? '' : `, and was ${has}`}`)
  }
  if (!isCheck)
    writeFileSync(
      file,
      text.replace(image, (_, name) => `${name}@${digests.get(name)}`),
    )
}
if (isCheck && wrong > 0) process.exitCode = 1

/**
 * Of the image for all architectures, as the registry has it now.
 * @param {string} name
 */
async function digestOf(name) {
  const asked = ['buildx', 'imagetools', 'inspect', name, '--format', '{{.Manifest.Digest}}']
  const ended = await run('docker', asked, { cwd: root, env: process.env, limit: 120_000, output: 'keep' })
  const found = /^sha256:[0-9a-f]{64}$/m.exec(ended.output)?.[0]
  if (!ended.ok || found === undefined)
    throw new Error(`The digest of ${name} cannot be had: ${ended.why} ${ended.output}`.trim())
  return found
}
