/**
 * `node scripts/imageDigests.js`: writes the current digest of each image tag into docker-compose.yml and the Dockerfiles. With `--check` it writes
 * nothing, and fails if a digest is missing or is not that of its tag. Needs a network but no Docker: it asks registries by their common protocol,
 * https://github.com/opencontainers/distribution-spec.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const files = ['docker-compose.yml', 'Dockerfile', 'deploy/universal.Dockerfile'].map((name) =>
  join(root, name),
)
/** A default image with a tag. Our own images have none, because they are built here. */
const image = /(?<=_IMAGE(?::-|=))([\w./-]+:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?/g
/** The media types of an index for all architectures come first: the digest for one architecture would be of no use on another. */
const forms = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const limitMs = 30_000

/**
 * The text with each tag's current digest, and a line for each digest that was missing or outdated.
 * @param {string} text
 * @param {(name: string) => Promise<string>} digest
 * @returns {Promise<{ pinned: string, wrong: readonly string[] }>}
 */
export async function pin(text, digest) {
  /** @type {Map<string, string>} */
  const digests = new Map()
  const wrong = []
  for (const [, name = '', has] of text.matchAll(image)) {
    const is = digests.get(name) ?? (await digest(name))
    digests.set(name, is)
    if (is !== has) wrong.push(`${name} is ${is}${has === undefined ? '' : `, and was ${has}`}`)
  }
  return { pinned: text.replace(image, (_, name) => `${name}@${digests.get(name)}`), wrong }
}

/**
 * The current digest of an image for all architectures, as its registry has it.
 * @param {string} name with a tag: `node:24`, `mirror.example/node:24`
 */
export async function digestOf(name) {
  const { url, repository } = placeOf(name)
  let answer = await ask(name, url, {})
  const challenge = answer.status === 401 ? answer.headers.get('www-authenticate') : null
  if (challenge) answer = await ask(name, url, await authorization(name, challenge, repository))
  const digest = answer.headers.get('docker-content-digest') ?? ''
  if (!answer.ok || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`The digest of ${name} cannot be had: the registry answered ${answer.status}.`)
  return digest
}

/**
 * The registry and the repository of an image. As in Docker, a name whose first part is no host belongs to Docker Hub, and a registry on this machine
 * is asked without TLS.
 * @param {string} name
 */
function placeOf(name) {
  const [, path = '', tag = ''] = /^(.+):([\w.-]+)$/.exec(name) ?? []
  const [first = '', ...others] = path.split('/')
  const hasHost = others.length > 0 && /[.:]|^localhost$/.test(first)
  const repository = hasHost ? others.join('/') : path.includes('/') ? path : `library/${path}`
  const host = hasHost ? first : 'registry-1.docker.io'
  const scheme = /^(localhost|127\.0\.0\.1)(:|$)/.test(host) ? 'http' : 'https'
  return { url: `${scheme}://${host}/v2/${repository}/manifests/${tag}`, repository }
}

/**
 * @param {string} name
 * @param {string} url
 * @param {Record<string, string>} headers
 */
async function ask(name, url, headers) {
  try {
    return await fetch(url, {
      method: 'HEAD',
      headers: { accept: forms, ...headers },
      signal: AbortSignal.timeout(limitMs),
    })
  } catch (fault) {
    throw new Error(`The digest of ${name} cannot be had: the registry does not answer.`, { cause: fault })
  }
}

/**
 * Asks for a token. Open registries require one too, and give it to anybody.
 * @param {string} name
 * @param {string} challenge
 * @param {string} repository
 * @returns {Promise<Record<string, string>>}
 */
async function authorization(name, challenge, repository) {
  const said = new Map(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
  )
  const realm = said.get('realm')
  if (!/^bearer /i.test(challenge) || realm === undefined || !URL.canParse(realm))
    throw new Error(`The digest of ${name} cannot be had: its registry wants to know who asks.`)
  const url = new URL(realm)
  const service = said.get('service')
  if (service !== undefined) url.searchParams.set('service', service)
  url.searchParams.set('scope', said.get('scope') ?? `repository:${repository}:pull`)
  const answer = await fetch(url, { signal: AbortSignal.timeout(limitMs) })
  /** @type {{ token?: string, access_token?: string }} */
  const { token, access_token: other } = JSON.parse(await answer.text())
  return { authorization: `Bearer ${token ?? other}` }
}

async function main() {
  const isCheck = argv.includes('--check')
  let areWrong = false
  for (const file of files) {
    const { pinned, wrong } = await pin(readFileSync(file, 'utf8'), digestOf)
    for (const line of wrong) console.log(line)
    areWrong ||= wrong.length > 0
    if (!isCheck) writeFileSync(file, pinned)
  }
  if (isCheck && areWrong) process.exitCode = 1
}

if (argv[1] === fileURLToPath(import.meta.url)) await main()
