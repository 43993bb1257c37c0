/**
 * `node scripts/imageDigests.js`: writes into docker-compose.yml and the Dockerfile which image, by its digest, each of their tags is now.
 * With `--check` it writes nothing, and fails where one has no digest or another than its tag. Needs a network, and no Docker: registries
 * are asked by the protocol that they all speak, https://github.com/opencontainers/distribution-spec.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const files = ['docker-compose.yml', 'Dockerfile'].map((name) => join(root, name))
/** A default with a tag: ours have none, and are built here. */
const image = /(?<=_IMAGE(?::-|=))([\w./-]+:[\w.-]+)(?:@(sha256:[0-9a-f]{64}))?/g
/** Of all architectures first: the digest of one would be of no use on another. */
const forms = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const limitMs = 30_000

/**
 * The text with each tag's digest behind it, and what is not so yet, a line each.
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
 * The digest of the image for all architectures, as its registry has it now.
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
 * Where a registry has the image. As with Docker, a name whose first part is no host is one of Docker Hub, and this machine is asked
 * without TLS.
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
 * Registries that are open to all want a token all the same, which they give to anybody.
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
