/** A repository of the local code host, with people and projects, whose issues become tasks until the test is over. */
import { afterEach, beforeEach, vi } from 'vitest'
import { z } from 'zod'
import { identity } from '#domain/identity.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { identityStream, projectStream, userStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { user } from '#domain/user/user.ts'
import { projectSettingsView, settingsOf } from '#domain/views/projectSettings.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { requestsTo } from '#platform/codehost/request.ts'
import { CodeHostFault, type CodeHost, type HostRepository } from '#platform/ports/codeHost.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { projected, type Projected } from '#platform/reads/projectionWait.ts'
import { startIssues, type IssueEngines, type IssueTimes } from '../../services/github/issues/issues.ts'
import { startTaskComments } from '../../services/github/issues/taskComment.ts'
import { factsOf } from '#platform/reads/repositoryReading.ts'
import { projectId, sessionId, userId } from '../domain/ids.ts'
import { cause, openAccess, type TestEngines } from '../server/engines.ts'
import { askRest } from './codeHost.apps.fixture.ts'
import { hostWithDeliveries, type HostWithDeliveries } from './codeHost.deliveries.fixture.ts'
import { registered, signIn, type LocalCodeHost } from './codeHost.fixture.ts'

const repo = '/repos/ada/engine'
export const never = 3_600_000
const Numbered = z.object({ number: z.number() })
const Comments = z.array(z.object({ body: z.string(), user: z.object({ login: z.string() }) }))

export interface Start {
  readonly times?: Partial<IssueTimes>
  readonly codeHost?: Partial<CodeHost>
  readonly commands?: Pick<Commands, 'execute' | 'load'>
  readonly admit?: (ownerId: string) => Promise<void>
  readonly clock?: IssueEngines['clock']
  readonly accessControl?: IssueEngines['accessControl']
  /** The people whose rate limit at the code host is used up. */
  readonly limited?: readonly string[]
  /** The people whose access to the code host was lost. */
  readonly gone?: readonly string[]
  /** The tokens of an App installation that reads for everybody. */
  readonly installation?: () => Promise<string>
}
export const byPolling: Start = { times: { pollIntervalMs: 150 } }

export const eventually = (holds: () => Promise<void>) => vi.waitFor(holds, { interval: 100 })

/** Creates all of it before each test of a file, and closes it afterwards. */
export function issueTasks() {
  const running: RunningWork[] = []
  const tokens = new Map<string, string>()
  let host: HostWithDeliveries
  let engines: TestEngines
  let local: LocalCodeHost
  let made: HostRepository

  beforeEach(async () => {
    host = await hostWithDeliveries()
    ;({ local, engines } = host)
    for (const login of ['ada', 'grace', 'mallory', 'alan'])
      tokens.set(login, (await signIn(local.codeHost, login)).accessToken)
    made = await local.codeHost.createRepository(tokenOf('ada'), {
      name: 'engine',
      description: '',
      isPrivate: false,
    })
    await asks('ada', 'PUT', '/collaborators/grace', { permission: 'push' })
    await asks('ada', 'PUT', '/collaborators/alan', { permission: 'triage' })
    await projectOf(1)
    await isHere('1001', 1, 'ada')
    await isHere('1002', 2, 'grace')
    await rule(1, { on: true })
  })
  afterEach(async () => {
    await stopped()
    await host.close()
  })

  /** The accounts of people at the code host. */
  const people = new Map(['ada', 'grace', 'mallory'].map((login, at) => [userId(at + 1), login]))
  const tokenOf = (login: string) => tokens.get(login) ?? ''
  /** Makes an API request about the repository in the name of a person. */
  async function asks(login: string, method: string, path: string, body?: unknown): Promise<unknown> {
    const asked = { token: tokenOf(login), ...(body === undefined ? {} : { body }) }
    const { status, json } = await askRest(local.api, [method, `${repo}${path}`], asked)
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`)
    return json
  }
  async function stopped(): Promise<void> {
    for (const part of running.splice(0).toReversed()) await part.stop()
  }

  /** Creates a project of the n-th person with the repository. */
  async function projectOf(n: number): Promise<void> {
    const facts = { githubRepoId: made.id, isPrivate: false, name: 'engine', description: '' }
    const ids = { projectId: projectId(n), ownerId: userId(n) }
    const command = { type: 'CreateProject', ...ids, ...facts, repository: factsOf(made) } as const
    await engines.commands.execute(projectDecider, projectStream(projectId(n)), command, cause())
  }
  async function rule(
    n: number,
    change: { on?: boolean; mentions?: boolean; label?: string },
  ): Promise<void> {
    const command = { type: 'ChangeIssueRule', ...change } as const
    await engines.commands.execute(projectDecider, projectStream(projectId(n)), command, cause())
  }
  /** Connects an account of the code host to the n-th person. */
  async function isHere(githubId: string, n: number, login: string): Promise<void> {
    const claim = { type: 'ClaimIdentity', userId: userId(n) } as const
    const id = idOfAccount(engines.vault, 'local', githubId)
    await engines.commands.execute(identity, identityStream(id), claim, cause())
    const profile = { githubId, login, name: null, email: null, avatar: '' }
    const session = {
      sessionId: sessionId(n),
      startsAt: '2026-01-01T00:00:00.000Z',
      expiresAt: '2099-01-01T00:00:00Z',
      client: null,
    }
    const command = { type: 'SignInWithGitHub', userId: userId(n), profile, ...session } as const
    await engines.commands.execute(user, userStream(userId(n)), command, cause())
  }

  /** An adapter for an App with another name than the one whose tokens people write with here. */
  const adapter = (appId: string | null) =>
    githubCodeHost({
      serverUrl: local.url,
      requests: requestsTo({ apiUrl: local.api, serverUrl: local.url, paced: false }),
      app: async () => ({ ...registered, appId, slug: 'deck' }),
    })
  const hostOf = (codeHost: Partial<CodeHost> = {}): CodeHost => ({ ...adapter('42'), ...codeHost })
  /** Creates the part that makes tasks from issues. */
  function makingOf(
    reads: Projected,
    {
      codeHost,
      commands = engines.commands,
      admit,
      clock = engines.clock,
      accessControl = openAccess,
      limited = [],
      gone = [],
      installation,
    }: Start,
  ): IssueEngines {
    return {
      ...engines,
      commands,
      codeHost: hostOf(codeHost),
      projected: reads,
      accessControl,
      clock,
      admission: {
        admit: async (ownerId) => {
          await admit?.(ownerId)
          return () => undefined
        },
      },
      codeHostName: 'local',
      tokenFor: async ({ ownerId, repositoryId }) => {
        if (gone.includes(ownerId)) throw new Fault('github_not_connected')
        const token = async () => {
          if (limited.includes(ownerId)) throw new CodeHostFault('rate_limited', 'Wait.')
          return tokenOf(people.get(ownerId) ?? '')
        }
        const own = { kind: 'own', holder: ownerId, token, repositoryToken: token } as const
        if (installation === undefined || repositoryId === null) return own
        return {
          kind: 'installation',
          holder: 'installation:1',
          own,
          token: installation,
          repositoryToken: installation,
          again: async () => own,
          refused: () => undefined,
        }
      },
    }
  }
  /** Makes tasks and links until the test ends or everything is stopped. */
  async function start(of: Start = {}): Promise<void> {
    const reads = projected(engines)
    const making = makingOf(reads, of)
    running.push({ stop: async () => reads.close() })
    running.push(
      await startIssues(making, {
        pollIntervalMs: never,
        burstPauseMs: 20,
        minIntervalMs: 50,
        passingMs: 50,
        ...of.times,
      }),
    )
    const linking = {
      ...engines,
      codeHost: hostOf(of.codeHost),
      projected: reads,
      access: { tokenOf: async () => tokenOf('ada') },
      installations: {
        tokenFor: async () => ({ kind: 'none', why: 'no_key', installation: undefined }) as const,
      },
      publicAddress: 'https://deck.example',
    }
    running.push(await startTaskComments(linking, 50))
  }

  const issueBy = async (login: string, body = 'It is broken.') =>
    Numbered.parse(await asks(login, 'POST', '/issues', { title: 'A fault', body })).number
  const label = (login: string, number: number, name = 'Flightdeck') =>
    asks(login, 'POST', `/issues/${number}/labels`, { labels: [name] })
  const unlabel = (login: string, number: number) =>
    asks(login, 'DELETE', `/issues/${number}/labels/flightdeck`)
  const say = (login: string, number: number, body: string) =>
    asks(login, 'POST', `/issues/${number}/comments`, { body })
  const commentsOn = async (number: number) =>
    Comments.parse(await asks('ada', 'GET', `/issues/${number}/comments`)).map(({ body }) => body)

  const tasks = () =>
    engines.documents.find(tasksView, {
      where: {},
      sort: { field: 'order', direction: 'ascending' },
      limit: 100,
    })
  const numbers = async () => (await tasks()).map(({ issue }) => issue?.number)
  const decisions = async (n = 1) =>
    settingsOf(await engines.documents.get(projectSettingsView, projectId(n))).issueDecisions.map(
      ({ number, outcome }) => `${number} ${outcome}`,
    )
  /** Starts with a project owner who has no capacity for a task, until the returned function is called. */
  async function startFull(of: Start = byPolling): Promise<() => void> {
    let isFull = true
    const admit = async () => {
      if (isFull) throw new Fault('too_many_tasks')
    }
    await start({ ...of, admit })
    return () => {
      isFull = false
    }
  }

  const commentBy = async (login: string, number: number, body: string) =>
    z.object({ id: z.number() }).parse(await say(login, number, body)).id
  const reword = (login: string, id: number, body: string) =>
    asks(login, 'PATCH', `/issues/comments/${id}`, { body })

  const unread = async () =>
    settingsOf(await engines.documents.get(projectSettingsView, projectId(1))).issuesUnread?.reason ?? null
  return {
    get local() {
      return local
    },
    get engines() {
      return engines
    },
    running,
    tokenOf,
    asks,
    stopped,
    projectOf,
    rule,
    isHere,
    adapter,
    makingOf,
    start,
    issueBy,
    label,
    unlabel,
    say,
    commentsOn,
    tasks,
    numbers,
    decisions,
    startFull,
    commentBy,
    reword,
    unread,
  }
}
