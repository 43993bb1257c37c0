/** Pull requests are followed: deliveries arrive at the webhook address, are recorded as hints in the log, and hints cause reads. In one process. */
import { createHmac, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deliveryStream, taskStream } from '#domain/kernel/streams.ts'
import type { ObservedPullRequest } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import { limitConcurrency } from '#platform/async/queue.ts'
import { CodeHostFault, type PullRequestKey, type PullRequestReading } from '#platform/ports/codeHost.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { projected } from '#platform/reads/projectionWait.ts'
import type { InstallationAccess, OwnAccess, ReadAccess } from '../../services/github/access.ts'
import type { FeedbackReader } from '../../services/github/feedback/feedback.ts'
import { startFollower, timesFor } from '../../services/github/pullRequests/pullRequestFollower.ts'
import { startProjector } from '../../services/query/projection/projector.ts'
import { taskId, userId } from '../domain/ids.ts'
import { eventually, openTestEngines, type TestEngines } from './engines.ts'
import * as scene from './pullRequestScene.ts'
import { openedWith } from './pullRequestScene.ts'
import { openWebhookAddress, type WebhookAddress } from './webhookAddress.ts'
import { createGate } from '../standins/messagesApi.ts'

let engines: TestEngines
let hook: WebhookAddress
let address = ''
const running: RunningWork[] = []
const [secret, before] = ['a secret of the hook', 'the secret before']

beforeEach(async () => {
  engines = await openTestEngines()
  running.push(await startProjector(engines))
  hook = await openWebhookAddress(engines, [secret, before])
  address = hook.url
})
afterEach(async () => {
  for (const part of running.splice(0).toReversed()) await part.stop()
  await hook.close()
  await engines.close()
})

const fewAtOnce = limitConcurrency(16)
const signed = (body: string, by = secret) => `sha256=${createHmac('sha256', by).update(body).digest('hex')}`

async function deliver(
  body: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  event = 'pull_request',
): Promise<number> {
  const all = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': signed(body),
    ...headers,
  }
  const sent = Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined)
  return fewAtOnce(async () => {
    const response = await fetch(address, { method: 'POST', headers: Object.fromEntries(sent), body })
    await response.arrayBuffer()
    return response.status
  })
}

const today = () => deliveryStream(new Date().toISOString().slice(0, 10))
const recorded = () => engines.log.read(today(), 0, 20_000)
const closed = (number: number) =>
  JSON.stringify({
    action: 'closed',
    number,
    pull_request: { number, head: { sha: 'a'.repeat(40) }, title: 'Words of a person', merged: true },
    repository: { id: 7, full_name: 'ada/engine' },
    installation: { id: 5 },
    sender: { id: 9, login: 'ada', type: 'User' },
  })

describe('a delivery', () => {
  test('of every published example is taken, and what is kept of it is ids', async () => {
    const file = fileURLToPath(import.meta.resolve('@octokit/webhooks-examples/api.github.com/index.json'))
    const examples: { name: string; examples: unknown[] }[] = JSON.parse(readFileSync(file, 'utf8'))
    const all = examples.flatMap(({ name, examples: bodies }) =>
      bodies.map((body) => ({ name, body: JSON.stringify(body) })),
    )
    expect(all.length).toBeGreaterThan(300)
    const statuses = await Promise.all(all.map(({ name, body }) => deliver(body, {}, name)))
    expect(new Set(statuses)).toEqual(new Set([202]))
    const events = await recorded()
    expect(events.length).toBeGreaterThan(100)
    expect(JSON.stringify(events)).not.toMatch(/Codertocat|Hello-World/)
    const merged = events.filter(({ data }) => 'event' in data && data.event === 'pull_request')
    expect(merged.length).toBeGreaterThan(20)
    for (const { content } of merged)
      expect(content).toMatchObject({
        repositoryId: expect.stringMatching(/^\d+$/),
        pullRequest: expect.any(Number),
      })
  })

  test('that is forged, unsigned, no JSON, too large or without its names is refused, and leaves nothing', async () => {
    const body = closed(1)
    const refusals: [number, Promise<number>][] = [
      [403, deliver(body, { 'x-hub-signature-256': signed(body, 'a guess') })],
      [403, deliver(`${body} `, { 'x-hub-signature-256': signed(body) })],
      [403, deliver(body, { 'x-hub-signature-256': 'sha256=' })],
      [403, deliver(body, { 'x-hub-signature-256': undefined })],
      [400, deliver('no JSON')],
      [415, deliver(body, { 'content-type': 'application/x-www-form-urlencoded' })],
      [400, deliver(body, { 'x-github-delivery': '../../x' })],
      [400, deliver(body, { 'x-github-event': undefined })],
    ]
    for (const [status, asked] of refusals) expect(await asked).toBe(status)
    const large = fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': randomUUID(),
      },
      body: Buffer.alloc(26 * 1_024 * 1_024, ' '),
    })
    expect(await large.then(({ status }) => status).catch(() => 413)).toBe(413)
    expect((await fetch(address)).status).toBe(404)
    expect(await recorded()).toEqual([])
    expect(await deliver(body, { 'x-hub-signature-256': signed(body, before) })).toBe(202)
  })

  test('that comes again is recorded once, also when all come at once', async () => {
    const guids = Array.from({ length: 40 }, () => randomUUID())
    const all = [...guids, ...guids, ...guids].toReversed()
    const statuses = await Promise.all(all.map((guid) => deliver(closed(1), { 'x-github-delivery': guid })))
    expect(new Set(statuses)).toEqual(new Set([202]))
    const events = await recorded()
    expect(events.map(({ data }) => ('guid' in data ? data.guid : '')).toSorted()).toEqual(guids.toSorted())
  })

  test('from behind a proxy still arrives after many that were forged, and no more large bodies are read', async () => {
    const guess = { 'x-hub-signature-256': signed('x', 'a guess') }
    const large = `${closed(1)}${' '.repeat(24 * 1_024 * 1_024)}`
    for (let index = 0; index < 100; index += 1) await deliver(closed(1), guess)
    for (let index = 0; index < 3; index += 1) expect(await deliver(large, guess)).toBe(403)
    expect(await deliver(large, guess)).toBe(429)
    expect(await deliver(closed(1))).toBe(202)
  })
})

/** A code host of the mind: how pull requests stand there, and what was asked. */
function host() {
  const pulls = new Map<number, ObservedPullRequest>()
  const asked: { readonly token: string; readonly count: number }[] = []
  let second = 0
  const codeHost = {
    fault: undefined as ((token: string) => Error | undefined) | undefined,
    /** What each reading waits for. */
    waitsFor: undefined as Promise<unknown> | undefined,
    async pullRequestStates(token: string, keys: readonly PullRequestKey[]): Promise<PullRequestReading[]> {
      asked.push({ token, count: keys.length })
      await codeHost.waitsFor
      const fault = codeHost.fault?.(token)
      if (fault) throw fault
      return keys.map((key) => {
        const number = 'nodeId' in key ? Number(key.nodeId.slice(3)) : key.number
        const pullRequest = pulls.get(number)
        return pullRequest
          ? { kind: 'read', pullRequest, isFork: false, repository: { owner: 'ada', name: 'engine' } }
          : { kind: 'hidden', code: 'not_found' }
      })
    },
  }
  const set = (number: number, state: ObservedPullRequest['state'], reviewed?: string) => {
    second += 1
    const at = new Date(Date.UTC(2026, 0, 31) + second * 1_000).toISOString()
    pulls.set(number, {
      number,
      nodeId: `PR_${number}`,
      repositoryId: '7',
      state,
      draft: false,
      headCommit: reviewed ?? 'c'.repeat(40),
      ...(reviewed !== undefined && {
        standing: { review: 'approved', checks: null, checksReadable: true } as const,
      }),
      updatedAt: at,
      mergedAt: state === 'merged' ? at : null,
      mergedBy: state === 'merged' ? 'grace' : null,
    })
  }
  return { codeHost, asked, set }
}
type TestHost = ReturnType<typeof host>

const opened = (n: number, owner = 1) => scene.opened(engines, n, owner)
const projectOf = (owner = 1) => scene.projectOf(engines, owner)

/** Accesses without a code host behind them. */
const ownOf = (ownerId: string): OwnAccess => {
  const token = async () => `token of ${ownerId}`
  return { kind: 'own', holder: ownerId, token, repositoryToken: token }
}
function installationFor(ownerId: string): InstallationAccess {
  const access: InstallationAccess = {
    kind: 'installation',
    holder: 'installation',
    own: ownOf(ownerId),
    token: async () => 'wide',
    repositoryToken: async () => 'narrow',
    again: async () => access,
    refused: () => undefined,
  }
  return access
}

const noFeedback: FeedbackReader = { read: async () => null, forget: () => undefined }
const quick = { ...timesFor(600_000), restMs: 100 }
async function follow(
  { codeHost }: Pick<TestHost, 'codeHost'>,
  times: Parameters<typeof startFollower>[1] = quick,
  feedback: FeedbackReader = noFeedback,
  accessOf: (ownerId: string) => ReadAccess = ownOf,
): Promise<RunningWork> {
  const reads = projected(engines)
  const follower = await startFollower(
    {
      ...engines,
      codeHost,
      projected: reads,
      feedback,
      tokenFor: async ({ ownerId }) => accessOf(ownerId),
    },
    times,
  )
  const held = {
    stop: async () => {
      await follower.stop()
      reads.close()
    },
  }
  running.push(held)
  return held
}

const states = async (numbers: readonly number[]) =>
  Promise.all(
    numbers.map(async (n) => {
      const { state } = await engines.commands.load(task, taskStream(taskId(n)))
      return state.kind === 'task' ? (state.pullRequest?.observed?.state ?? null) : null
    }),
  )
const eventsOf = async (n: number, type: string) =>
  (await engines.log.read(taskStream(taskId(n)), 0, 1_000)).filter((event) => event.type === type)

describe('a follower', () => {
  test('reads what was opened, and what a delivery hints at; hundreds of them, repeated and shuffled, are a few readings', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
    const local = host()
    for (const number of numbers) local.set(number, 'open')
    await projectOf()
    await follow(local)
    for (const number of numbers) await opened(number)
    await eventually('all are read', async () => (await states(numbers)).every((state) => state === 'open'))
    for (const number of numbers) local.set(number, 'merged')
    const before = local.asked.length
    const hints = Array.from({ length: 360 }, (_, index) => ({
      guid: randomUUID(),
      number: numbers[index % numbers.length] ?? 1,
    }))
    const shuffled = [...hints, ...hints.slice(0, 40)].toSorted((one, other) =>
      one.guid < other.guid ? -1 : 1,
    )
    // No reading ends before the last delivery has come, however long they all take.
    const allDelivered = createGate()
    local.codeHost.waitsFor = allDelivered.released
    await Promise.all(
      shuffled.map(({ guid, number }) => deliver(closed(number), { 'x-github-delivery': guid })),
    )
    allDelivered.release()
    await eventually('all are merged', async () =>
      (await states(numbers)).every((state) => state === 'merged'),
    )
    expect(await recorded()).toHaveLength(360)
    for (const number of numbers) expect(await eventsOf(number, 'PullRequestObserved')).toHaveLength(2)
    expect(local.asked.length - before).toBeLessThan(120)
  })

  test.each(['check_run', 'check_suite', 'status'])(
    'reads the pull requests of a commit that a %s names, which names none of them',
    async (event) => {
      const local = host()
      const [commit, other] = ['a'.repeat(40), 'b'.repeat(40)]
      local.set(1, 'open', commit)
      local.set(2, 'open', other)
      // Nothing was said of it yet.
      local.set(3, 'open')
      await projectOf()
      const hinted: string[] = []
      await follow(local, quick, { ...noFeedback, forget: (of) => void hinted.push(of) })
      const all = [1, 2, 3]
      for (const number of all) await opened(number)
      await eventually('all are read', async () => (await states(all)).every((state) => state === 'open'))
      const tellOf = (sha: string) => {
        const about = event === 'status' ? { sha } : { [event]: { id: 5, head_sha: sha } }
        return deliver(JSON.stringify({ ...about, repository: { id: 7 } }), {}, event)
      }
      local.set(1, 'merged', commit)
      await tellOf(commit)
      await eventually('it is merged', async () => (await states([1])).includes('merged'))
      // The heads of the others are other commits.
      expect(hinted).toEqual([taskId(1)])
      local.set(3, 'merged')
      await tellOf(openedWith)
      await eventually('it is merged as well', async () => (await states([3])).includes('merged'))
      expect(hinted).toEqual([taskId(1), taskId(3)])
    },
  )

  test('of a process that was killed between the log and the reading, the next one goes on', async () => {
    const [dead, alive] = [host(), host()]
    for (const each of [dead, alive]) each.set(1, 'open')
    await projectOf()
    const first = await follow(dead)
    await opened(1)
    await eventually('it is read', async () => (await states([1])).includes('open'))
    alive.set(1, 'merged')
    dead.codeHost.waitsFor = new Promise(() => undefined)
    const asked = dead.asked.length
    await deliver(closed(1))
    await eventually('it was asked for', () => dead.asked.length > asked)
    // It never comes back: it is not even stopped.
    running.splice(running.indexOf(first), 1)
    await follow(alive)
    await eventually('it is merged', async () => (await states([1])).includes('merged'))
    expect(await eventsOf(1, 'PullRequestObserved')).toHaveLength(2)
  })

  test('without any delivery finds the same: of all now and then, and of those that somebody looks at sooner', async () => {
    const local = host()
    for (const number of [1, 2]) local.set(number, 'open')
    await projectOf()
    await follow(local, { ...quick, firstMs: 400, pollIntervalMs: 400, lookedAtMs: 10 })
    await opened(1)
    await opened(2)
    await eventually('both are read', async () => (await states([1, 2])).every((state) => state === 'open'))
    local.set(1, 'merged')
    engines.bus.publish('presence', { userIds: [userId(1)], taskIds: [] })
    await eventually('one is merged', async () => (await states([1])).includes('merged'))
    local.set(2, 'closed')
    await eventually('the other is closed', async () => (await states([2])).includes('closed'))
    local.set(2, 'open')
    await eventually('and open again', async () => (await states([2])).includes('open'))
    expect(await recorded()).toEqual([])
  })

  test('a token that is refused stops nobody else, and is told once', async () => {
    const local = host()
    for (const number of [1, 2]) local.set(number, 'open')
    local.codeHost.fault = (token) =>
      token === `token of ${userId(2)}` ? new CodeHostFault('unauthorized', 'no') : undefined
    await projectOf(1)
    await projectOf(2)
    await follow(local, { ...quick, firstMs: 100, pollIntervalMs: 100 })
    await opened(2, 2)
    await opened(1, 1)
    await eventually('the one is read', async () => (await states([1])).includes('open'))
    await eventually('the other is told', async () => (await eventsOf(2, 'PullRequestUnreadable')).length > 0)
    const rounds = local.asked.length + 3
    await eventually('more is read', () => local.asked.length >= rounds)
    expect((await eventsOf(2, 'PullRequestUnreadable')).map(({ data }) => data)).toEqual([
      { code: 'github_not_connected' },
    ])
    expect(local.asked.filter(({ token }) => token === `token of ${userId(2)}`)).toHaveLength(1)
  })

  test('waits as long as the code host says, and then goes on', async () => {
    const local = host()
    local.set(1, 'open')
    const begun = performance.now()
    local.codeHost.fault = () =>
      performance.now() - begun < 400 ? new CodeHostFault('rate_limited', 'wait', undefined, 500) : undefined
    await projectOf()
    await follow(local)
    await opened(1)
    await eventually('it is read', async () => (await states([1])).includes('open'))
    expect(performance.now() - begun).toBeGreaterThan(400)
    expect(local.asked.length).toBeLessThan(4)
  })

  test('one pull request whose feedback cannot be read holds up no other of the same access', async () => {
    const local = host()
    for (const number of [1, 2, 3]) local.set(number, 'open')
    const read = new Map<number, number>()
    const noted = (number: number) => read.set(number, (read.get(number) ?? 0) + 1)
    const faults: Readonly<Record<number, Error>> = {
      1: new RangeError('too long'),
      2: new CodeHostFault('forbidden', 'no'),
    }
    const feedback: FeedbackReader = {
      read: async ({ number }) => {
        noted(number)
        const fault = faults[number]
        if (fault) throw fault
        return null
      },
      forget: () => undefined,
    }
    await projectOf()
    for (const number of [1, 2, 3]) await opened(number)
    await follow(local, { ...quick, firstMs: 50, pollIntervalMs: 100 }, feedback)
    await eventually('the last is read', () => (read.get(3) ?? 0) > 0)
    await eventually('and all again, as the access does not rest', () => (read.get(1) ?? 0) > 2)
    expect([...read.keys()].toSorted()).toEqual([1, 2, 3])
  })

  test.each(['rate_limited', 'unauthorized'] as const)(
    'an access that is %s reads no more feedback for now',
    async (kind) => {
      const local = host()
      for (const number of [1, 2]) local.set(number, 'open')
      const read: number[] = []
      const feedback: FeedbackReader = {
        read: async ({ number }) => {
          read.push(number)
          throw new CodeHostFault(kind, 'no', undefined, 60_000)
        },
        forget: () => undefined,
      }
      await projectOf()
      for (const number of [1, 2]) await opened(number)
      const follower = await follow(local, { ...quick, firstMs: 50 }, feedback)
      await eventually('one was tried', () => read.length > 0)
      await follower.stop()
      running.splice(running.indexOf(follower), 1)
      expect(local.asked).toMatchObject([{ count: 2 }])
      expect(read).toHaveLength(1)
    },
  )

  test('what an installation is not shown is read with the own access, and nothing is told to people', async () => {
    const local = host()
    local.set(1, 'open')
    const { pullRequestStates } = local.codeHost
    local.codeHost.pullRequestStates = async (token, keys) => {
      const found = await pullRequestStates(token, keys)
      return token === 'narrow' ? found.map(() => ({ kind: 'hidden', code: 'not_found' })) : found
    }
    await projectOf()
    await follow(local, quick, noFeedback, installationFor)
    await opened(1)
    await eventually('it is read', async () => (await states([1])).includes('open'))
    expect(local.asked.map(({ token }) => token)).toEqual(['narrow', `token of ${userId(1)}`])
    expect(await eventsOf(1, 'PullRequestUnreadable')).toEqual([])
  })

  test('an access that is another one when its turn comes is not used', async () => {
    const local = host()
    local.set(1, 'open')
    await projectOf()
    const accessOf = (ownerId: string) => ({
      ...installationFor(ownerId),
      again: async () => ownOf(ownerId),
    })
    await follow(local, quick, noFeedback, accessOf)
    await opened(1)
    await eventually('it is read', async () => (await states([1])).includes('open'))
    expect(local.asked.map(({ token }) => token)).toEqual([`token of ${userId(1)}`])
  })
})
