/** The types of values in environment variables. Each error is the end of a sentence that begins with the variable. */
import { resolve } from 'node:path'
import { z } from 'zod'

const isPort = { error: 'is a port: 1 to 65535' }
export const anyPort = z.coerce.number(isPort).int(isPort).min(1, isPort).max(65_535, isPort)
/** A port number; `fallback` when the variable is not set. */
export const port = (fallback: number) => anyPort.default(fallback)
/** A whole number, 0 or more. */
export const count = z.coerce.number({ error: 'is a number' }).int({ error: 'is a whole number' }).min(0, {
  error: 'is not below 0',
})
/** A whole number of seconds that a timer of Node can wait for: at most 24 days, because a timer set to more than 24.8 days fires at once. */
export const timerSeconds = count.max(2_073_600, { error: 'is at most 2073600' })
export const onOrOff = z.enum(['0', '1'], { error: 'is 1 or 0' }).transform((value) => value === '1')
export const address = z.url({ protocol: /^https?$/, error: 'is an http or https address' })
/** The origin of an address; an address with a path is refused, because the product is served at the root. */
export const origin = address.transform((text, { addIssue }) => {
  const { origin: root, pathname, search, hash } = new URL(text)
  if (`${pathname}${search}${hash}` !== '/')
    addIssue('is an address without a path; Flightdeck needs a host name of its own')
  return root
})
export const hostname = z
  .string()
  .toLowerCase()
  .regex(/^[a-z\d-]+(?:\.[a-z\d-]+)+$/, { error: 'is a host name, as preview.example.com' })
/** A key of 32 bytes, in hex or base64. */
export const key = z.string().regex(/^([0-9a-f]{64}|[\w+/-]{43}=?)$/i, {
  error: 'is 32 bytes in base64 or hex; `openssl rand -base64 32` makes one',
})
/** A PEM key, whose line breaks may be written as `\n` in an environment file. */
export const pem = z.string().transform((text) => text.replaceAll('\\n', '\n'))
/** A private key in the format of ssh-keygen. It is fully checked only when it is used. */
export const sshKey = pem.refine(
  (text) => /^-----BEGIN (?:OPENSSH |RSA |EC )?PRIVATE KEY-----\n/.test(text),
  {
    error: 'is an SSH private key without a passphrase; `ssh-keygen -t ed25519 -N "" -f key` makes one',
  },
)
/** A name and an email address, as git writes them. */
export const person = z.string().transform((text, { addIssue }) => {
  const [, name = '', email = ''] = /^([^<>\p{Cc}]+) <([^<>\s@]+@[^<>\s@]+)>$/u.exec(text) ?? []
  if (email === '') addIssue('is a name and an address, as Flightdeck <bot@example.com>')
  return { name, email }
})
/** Host names; a name that begins with `*.` stands for every host below it. */
export const hosts = z.string().transform((listed, { addIssue }) => {
  const named = listed.split(',').flatMap((name) => name.trim().toLowerCase() || [])
  const wrong = named.filter((name) => !/^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(name))
  if (wrong.length > 0)
    addIssue(`is a list of host names with commas, as example.com or *.example.com: ${wrong.join(', ')}`)
  return named
})
const listOf = (listed: string): string[] =>
  listed.split(',').flatMap((name) => name.trim().toLowerCase() || [])
const isPerson = (name: string): boolean => /^(?:id:\d{1,19}|[a-z\d][a-z\d_-]{0,38})$/.test(name)
const personError = 'is a list of logins at the code host with commas, or of ids there, as ada,id:1001'
/** A list of people at the code host, by login or id. */
export const people = z.string().transform((listed, { addIssue }) => {
  const named = listOf(listed)
  const wrong = named.filter((name) => !isPerson(name))
  if (wrong.length > 0 || named.length === 0) addIssue(`${personError}: ${wrong.join(', ')}`)
  return named
})
/** A list of people at the code host, or `*` for everybody. */
export const peopleOrEverybody = z.union([z.string().trim().pipe(z.literal('*')), people], {
  error: `${personError}; or * by itself, for everybody`,
})
/** A list of organizations at the code host, or of their teams. */
export const organizations = z.string().transform((listed, { addIssue }) => {
  const named = listOf(listed)
  const wrong = named.filter((name) => !/^[a-z\d][a-z\d_-]{0,38}(?:\/[a-z\d][\w.-]{0,99})?$/.test(name))
  if (wrong.length > 0 || named.length === 0)
    addIssue(
      `is a list of organizations or their teams with commas, as acme,example/core: ${wrong.join(', ')}`,
    )
  return named.map((name) => {
    const [organization = '', team = null] = name.split('/')
    return { organization, team }
  })
})
export const unixSocket = z
  .string()
  .regex(/^unix:\/\/\/.+/, { error: 'is the address of a socket, unix:///var/run/docker.sock' })
  .transform((url) => url.slice('unix://'.length))
type Environment = Readonly<Record<string, string | undefined>>

/**
 * Sockets of container engines on this machine: the socket that `DOCKER_HOST` names, none if it names another address, and without `DOCKER_HOST` the
 * usual sockets of Docker and Podman.
 */
export function engineSockets(env: Environment): readonly string[] {
  const host = env['DOCKER_HOST']
  if (host !== undefined && host !== '')
    return host.startsWith('unix:///') ? [host.slice('unix://'.length)] : []
  const [runtime, home] = [env['XDG_RUNTIME_DIR'], env['HOME']]
  return [
    ...(runtime ? [`${runtime}/docker.sock`] : []),
    '/var/run/docker.sock',
    ...(home ? [`${home}/.docker/run/docker.sock`] : []),
    ...(runtime ? [`${runtime}/podman/podman.sock`] : []),
    '/run/podman/podman.sock',
  ]
}

const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']

export function proxiesOf(env: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    proxyNames.flatMap((name) => {
      const value = env[name]
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )
}

/** Pairs of folders such as `/here=/there`, separated by commas. */
export const folders = z.string().transform((listed, { addIssue }) => {
  const pairs = listed.split(',').map((pair) => pair.trim().split('='))
  const isPair = ([here, there, ...more]: readonly string[]) =>
    more.length === 0 && [here, there].every((path) => path !== undefined && /^\/./.test(path))
  if (!pairs.every(isPair)) addIssue('is a list of folders, here and at the engine, as /data=/srv/flightdeck')
  return Object.fromEntries(pairs.map(([here = '', there = '']) => [resolve(here), resolve(there)]))
})
/** A size in gigabytes of 10^9 bytes, converted to bytes; `fallback` is in gigabytes too. */
export const gigabytes = (fallback: number) =>
  z.coerce
    .number({ error: 'is a number' })
    .positive({ error: 'is above 0' })
    .default(fallback)
    .transform((value) => Math.round(value * 1e9))
export const dollars = z.coerce
  .number({ error: 'is a number' })
  .min(0, { error: 'is not below 0' })
  .default(0)
const perMillion = z.number().min(0)
const pricesError = { error: 'is JSON: prices for a million tokens, by how the names of models begin' }
export const prices = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      context.addIssue({ code: 'custom', message: pricesError.error })
      return z.NEVER
    }
  })
  .pipe(
    z.record(
      z.string().min(1),
      z.object({ input: perMillion, output: perMillion, cacheRead: perMillion, cacheWrite: perMillion }),
      pricesError,
    ),
  )
/** Features that sandboxes guarantee, unless an operator lists them as allowed to be missing. */
export const allowedShortcomings = ['seccomp', 'user_namespaces'] as const
export const shortcomings = z.string().transform((listed, { addIssue }) => {
  const named = listed.split(',').flatMap((name) => name.trim() || [])
  const known = allowedShortcomings.filter((name) => named.includes(name))
  if (named.some((name) => !known.some((other) => other === name)))
    addIssue(`is a list with commas of ${allowedShortcomings.join(', ')}`)
  return known
})
/** Toolchains of this machine that sandboxes can use although they are outside of the system's folders. */
export const toolchainNames = ['go', 'rust', 'java', 'maven', 'gradle', 'node', 'python', 'chrome'] as const
type ToolchainNames = readonly (typeof toolchainNames)[number][]
export const toolchains = z.string().transform((listed, { addIssue }): ToolchainNames => {
  const names = listOf(listed)
  if (names.length === 1 && names[0] === 'all') return toolchainNames
  if (names.length === 1 && names[0] === 'none') return []
  const known = toolchainNames.filter((name) => names.includes(name))
  if (known.length !== names.length)
    addIssue(`is all, none, or a list with commas of ${toolchainNames.join(', ')}`)
  return known
})
/**
 * The private addresses that sandboxes may reach if their project lists them. `1` allows all addresses that a project lists as numbers, such as
 * `10.0.0.7`, or as `localhost`. A host name allows a project to list that host by its name.
 */
export const privateEgress = z.string().transform((listed, { addIssue }) => {
  const entries = listOf(listed).map((name) => name.replace(/\.$/, ''))
  const names = entries.filter((entry) => entry !== '0' && entry !== '1')
  const wrong = names.filter((name) => !isHostName(name))
  if (entries.includes('0') && entries.length > 1) wrong.unshift('0')
  if (wrong.length > 0)
    addIssue(
      `is 1 or 0, or a list with commas of 1 and host names, as registry.example.com: ${wrong.join(', ')}`,
    )
  return { inNumbers: entries.includes('1'), names }
})
/** Whether the text is a host name. It must have a dot, so that `yes` is refused, and must not be a numeric address or a name of the loopback. */
const isHostName = (name: string): boolean =>
  name.length <= 253 &&
  /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)+$/.test(name) &&
  !/(^|\.)(0x[\da-f]*|\d+)$/.test(name) &&
  !/(^|\.)localhost$/.test(name)
/** The address of an engine, which is validated by its adapter. */
export const engine = z.string().optional()
