/** A stand-in for GitHub for each test, a browser that follows redirects as a person would, and real git. */
import { execFile } from 'node:child_process'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { devNull, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { requestsTo } from '#platform/codehost/request.ts'
import type { CodeHost, HostTokens } from '#platform/ports/codeHost.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import { startCodeHost } from '../../services/codehost/codehost.ts'
import { startGitHub, type GitHubOptions, type RunningGitHub } from '../standins/github/github.ts'

export const clientId = 'Iv1.flightdeck'
export const clientSecret = 'only for tests'
/** The registration of the App with which a local code host is started. */
export const registered: AppRegistration = {
  appId: null,
  slug: 'flightdeck',
  name: 'Flightdeck',
  htmlUrl: null,
  clientId,
  clientSecret,
  privateKey: null,
  webhookSecret: null,
}
export const redirectUri = 'http://localhost:8080/api/auth/github/callback'
export const origin = 'http://localhost:8080'

/** One key for all hosts of a file, since making one takes longer than starting a host. */
export const { privateKey: appPrivateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})

const path = process.env['PATH'] ?? '/usr/bin:/bin'

/** A folder that is removed with the test. */
export interface Folder {
  readonly path: string
  remove(): Promise<void>
}

export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'flightdeck-codehost-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

export interface LocalCodeHost {
  readonly url: string
  readonly api: string
  readonly codeHost: CodeHost
  readonly log: readonly string[]
  readonly webhooks: RunningGitHub['webhooks']
  readonly app: RunningGitHub['app']
  readonly reportCheck: RunningGitHub['reportCheck']
  readonly limits: RunningGitHub['limits']
  stop(): Promise<void>
}

/**
 * The data of a local code host that was started once and has its samples. Creating the samples takes two dozen git processes, so tests that are not
 * about them start with a copy of this data.
 */
async function dataWithSamples(): Promise<Folder> {
  const folder = await temporaryFolder()
  const { stop } = await startLocal(folder.path)
  await stop()
  return folder
}

let shared: Promise<Folder> | undefined
/** Data with samples that all files of a process share, until it exits. */
export function sharedSamples(): Promise<Folder> {
  shared ??= dataWithSamples().then((samples) => {
    process.once('exit', () => rmSync(samples.path, { recursive: true, force: true }))
    return samples
  })
  return shared
}

/** Starts a local code host in `dataDir` with an adapter for it; `on` is the data that it starts with. */
export async function startLocal(
  dataDir: string,
  { on, ...options }: Partial<GitHubOptions> & { readonly on?: Folder } = {},
): Promise<LocalCodeHost> {
  if (on) await cp(on.path, dataDir, { recursive: true })
  const log: string[] = []
  const running = await startGitHub({ ...basicsOf(dataDir, log), appPrivateKey, ...options })
  const { url, webhooks, app, limits, reportCheck, stop } = running
  return { ...adapterOf(url, options.clock), log, webhooks, app, limits, reportCheck, stop }
}

/** Starts the local code host as the product contains it, with this data. */
export async function startPlain(
  dataDir: string,
  on: Folder,
): Promise<Pick<LocalCodeHost, 'url' | 'api' | 'codeHost' | 'log' | 'stop'>> {
  await cp(on.path, dataDir, { recursive: true })
  const log: string[] = []
  const { url, stop } = await startCodeHost(basicsOf(dataDir, log))
  return { ...adapterOf(url), log, stop }
}

const basicsOf = (dataDir: string, log: string[]) => ({
  dataDir,
  host: '127.0.0.1',
  port: 0,
  clientId,
  clientSecret,
  seeds: [],
  environment: { PATH: path, HOME: dataDir },
  log: (line: string) => log.push(line),
})

function adapterOf(url: string, clock?: Clock): Pick<LocalCodeHost, 'url' | 'api' | 'codeHost'> {
  const api = `${url}/api/v3`
  const codeHost = githubCodeHost({
    serverUrl: url,
    requests: requestsTo({ apiUrl: api, serverUrl: url, paced: false }),
    app: async () => registered,
    ...(clock ? { clock } : {}),
  })
  return { url, api, codeHost }
}

/** The verifier and the challenge of PKCE. */
export function proofKey(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** Opens the authorize page as a person who chooses `login`, and returns the address to which the browser is then redirected. */
export async function authorize(address: string, login: string): Promise<URL> {
  const url = new URL(address)
  url.searchParams.set('login', login)
  const response = await fetch(url, { redirect: 'manual' })
  const back = response.headers.get('location')
  if (response.status !== 302 || back === null) throw new Error(`not sent back: ${await response.text()}`)
  return new URL(back)
}

/** A complete sign-in. */
export async function signIn(codeHost: CodeHost, login: string): Promise<HostTokens> {
  const { verifier, challenge } = proofKey()
  const back = await authorize(
    await codeHost.authorizeUrl({ state: 'the state', redirectUri, codeChallenge: challenge, origin }),
    login,
  )
  return codeHost.exchangeCode({
    code: back.searchParams.get('code') ?? '',
    redirectUri,
    codeVerifier: verifier,
  })
}

export interface GitAnswer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs real git without the shell's environment except PATH, and with credentials in the way the runner gives them. */
export function git(
  cwd: string,
  args: readonly string[],
  access?: { readonly authorization: string },
): Promise<GitAnswer> {
  const settings: [string, string][] = [
    ['user.name', 'Ada Lovelace'],
    ['user.email', 'ada@example.com'],
    ['init.defaultBranch', 'main'],
  ]
  if (access) settings.push(['http.extraHeader', `Authorization: ${access.authorization}`])
  const env: Record<string, string> = {
    PATH: path,
    HOME: cwd,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_COUNT: String(settings.length),
  }
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return new Promise((answer) => {
    execFile('git', args, { cwd, env, timeout: 30_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0
      answer({ code, stdout, stderr })
    })
  })
}

/** Runs git like `git`, and throws when it fails. */
export async function gitDone(
  cwd: string,
  args: readonly string[],
  access?: { readonly authorization: string },
): Promise<string> {
  const answer = await git(cwd, args, access)
  if (answer.code !== 0) throw new Error(`git ${args.join(' ')}: ${answer.stderr}`)
  return answer.stdout.trim()
}

/** Writes files and commits them on a branch, which is created if necessary. */
export async function commit(
  tree: string,
  branch: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const current = await git(tree, ['symbolic-ref', '--short', 'HEAD'])
  if (current.stdout.trim() !== branch) {
    const exists = await git(tree, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])
    await gitDone(tree, exists.code === 0 ? ['checkout', '-q', branch] : ['checkout', '-q', '-b', branch])
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(tree, name)), { recursive: true })
    await writeFile(join(tree, name), text)
  }
  await gitDone(tree, ['add', '--all'])
  await gitDone(tree, ['commit', '-q', '-m', `Change ${Object.keys(files).join(', ')}`])
  return gitDone(tree, ['rev-parse', 'HEAD'])
}

/** Creates a repository that belongs to the person, with one commit on `main`. */
export async function localRepository(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  await mkdir(folder, { recursive: true })
  await gitDone(folder, ['init', '-q'])
  return commit(folder, 'main', files)
}

export interface HostWithEngine {
  readonly local: LocalCodeHost
  readonly folder: Folder
  /** The tokens of the two people. */
  readonly ada: string
  readonly grace: string
  /** A working tree that is a clone of `ada/engine`. */
  readonly tree: string
  close(): Promise<void>
}

/** A local code host on which Ada and Grace are signed in, and Ada's repository `engine` has these branches. */
export async function hostWithEngine(
  branches: Readonly<Record<string, Readonly<Record<string, string>>>>,
  options: Partial<GitHubOptions> = {},
): Promise<HostWithEngine> {
  const folder = await temporaryFolder()
  const local = await startLocal(join(folder.path, 'data'), { ...options, on: await sharedSamples() })
  const ada = (await signIn(local.codeHost, 'ada')).accessToken
  const grace = (await signIn(local.codeHost, 'grace')).accessToken
  const tree = await makeRepository(local, ada, join(folder.path, 'engine'), branches)
  const close = async () => {
    await local.stop()
    await folder.remove()
  }
  return { local, folder, ada, grace, tree, close }
}

/** Creates a public repository, named after the folder of its clone. Each branch is one commit on top of the branch before it. Returns the clone. */
export async function makeRepository(
  local: LocalCodeHost,
  token: string,
  tree: string,
  branches: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<string> {
  const wanted = { name: basename(tree), description: '', isPrivate: false }
  const access = await local.codeHost.gitAccess(token, await local.codeHost.createRepository(token, wanted))
  await gitDone(dirname(tree), ['clone', '-q', access.url, tree], access)
  for (const [branch, files] of Object.entries(branches)) await commit(tree, branch, files)
  await gitDone(tree, ['push', '-q', 'origin', ...Object.keys(branches)], access)
  return tree
}

/** Local code hosts for the tests of a file: each test has a folder of its own, and the hosts of a test end with it. */
export interface LocalHosts {
  /** The path of the test's folder. */
  folder(): string
  /** The folder in which the test's hosts keep their data. */
  dataDir(): string
  start(options?: Partial<GitHubOptions>): Promise<LocalCodeHost>
  stop(local: LocalCodeHost): Promise<void>
  /** Pushes changes to a branch of one of ada's repositories; returns the commit. */
  pushed(
    local: LocalCodeHost,
    token: string,
    name: string,
    branch: string,
    files: Record<string, string>,
  ): Promise<string>
}

/** By default, a host without data starts with a copy of the samples, and with `ownSamples` it makes them. */
export function useLocalHosts({ ownSamples = false } = {}): LocalHosts {
  let folder: Folder | undefined
  const running: LocalCodeHost[] = []
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(async () => {
    for (const local of running.splice(0)) await local.stop()
    await folder?.remove()
  })
  const place = () => folder?.path ?? ''
  const dataDir = () => join(place(), 'data')
  return {
    folder: place,
    dataDir,
    async start(options = {}) {
      const isFirst = !ownSamples && !existsSync(dataDir())
      const local = await startLocal(dataDir(), { ...options, ...(isFirst && { on: await sharedSamples() }) })
      running.push(local)
      return local
    },
    async stop(local) {
      running.splice(running.indexOf(local), 1)
      await local.stop()
    },
    async pushed(local, token, name, branch, files) {
      const access = await local.codeHost.gitAccess(token, { owner: 'ada', name })
      const tree = join(place(), `tree-${name}`)
      const there = await git(tree, ['status']).catch(() => ({ code: 1 }))
      if (there.code !== 0) await gitDone(place(), ['clone', '-q', access.url, tree], access)
      const sha = await commit(tree, branch, files)
      await gitDone(tree, ['push', '-q', 'origin', branch], access)
      return sha
    },
  }
}

/** Makes a request as a browser or a program does, without following redirects. */
export async function visit(url: string, init: RequestInit = {}) {
  const response = await fetch(url, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
