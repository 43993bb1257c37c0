/**
 * 10,000 webhook deliveries in a burst, shuffled and a tenth of them repeated, to the built product: of pull requests, reviews, checks and statuses,
 * in a repository that is followed. Each delivery is in the log once, and its true consequences happen once; meanwhile people are served, by the API
 * and live.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getMe } from '#domain/api/auth.schema.ts'
import { webhookPath } from '#domain/api/server.ts'
import { createPullRequest, updateTask } from '#domain/api/tasks.schema.ts'
import { parseStream } from '#domain/kernel/streams.ts'
import { limitConcurrency } from '#platform/async/queue.ts'
import { startProduct, type Product } from '../../product.ts'
import type { Person } from '../../product/person.ts'
import { note } from '../../report/notes.ts'
import { codeHostToken } from '../../server/pushing.ts'
import { hasEnded, watching } from '../../server/scene.ts'
import { openStoppedProduct } from '../../server/stoppedProduct.ts'
import { intact } from '#platform/ports/eventStore.ts'

const secret = 'a secret of the hook'
const [different, repeated] = [9_000, 1_000]
/** How late a live event may come while the storm goes on, with the burst and the server on the same cores. */
const liveWithinMs = 5_000
let product: Product
let ada: Person
let token = ''
beforeAll(async () => {
  product = await startProduct({ env: { GITHUB_WEBHOOK_SECRET: secret, REQUESTS_PER_MINUTE: '0' } })
  ada = await product.signIn('ada')
  const { user } = await ada.ask(getMe)
  await product.terminate()
  token = await codeHostToken(product.dataDir, user.id)
  await product.restart()
})
afterAll(() => product?.stop())

const atHost = async (method: string, path: string): Promise<unknown> => {
  const response = await fetch(`${product.codeHostUrl}/api/v3/repos/ada/sample${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
  return response.json()
}

/** What a delivery of each kind says of the pull request; their order and number must not matter. */
function kindsOf(about: { readonly number: number; readonly sha: string; readonly id: number }) {
  const { number, sha, id } = about
  const shared = { repository: { id }, sender: { id: 9, type: 'User' } }
  const pull_request = { number, head: { sha } }
  return [
    ['pull_request', { action: 'closed', pull_request, ...shared }],
    ['pull_request', { action: 'synchronize', pull_request, ...shared }],
    ['pull_request_review', { action: 'submitted', review: { id: 1 }, pull_request, ...shared }],
    ['check_run', { action: 'completed', check_run: { id: 1, head_sha: sha }, ...shared }],
    ['status', { sha, ...shared }],
    ['push', { after: sha, ...shared }],
  ] as const
}

async function deliver(guid: string, [event, body]: readonly [string, string]): Promise<number> {
  const response = await fetch(product.base + webhookPath, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': guid,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  })
  await response.arrayBuffer()
  return response.status
}

/** Asks and listens as people do, until it is told to stop: how long answers took, and how late live events were, in ms. */
function looking(taskId: string) {
  const over = new AbortController()
  const found = { answers: [] as number[], late: [] as number[] }
  const asking = (async () => {
    while (!over.signal.aborted) {
      const begun = performance.now()
      await ada.ask(getMe)
      found.answers.push(performance.now() - begun)
    }
  })()
  const listening = (async () => {
    const live = await watching(ada, taskId)
    for (let n = 1; !over.signal.aborted; n += 1) {
      const title = `Renamed ${n}`
      const begun = performance.now()
      const renaming = ada.ask(updateTask, { params: { taskId }, body: { title } })
      const heard = await live.until(
        title,
        ({ name, payload }) => name === 'task_event' && JSON.stringify(payload).includes(`"${title}"`),
      )
      found.late.push(heard.at - begun)
      await renaming
      await pause(50)
    }
    live.close()
  })()
  return async () => {
    over.abort()
    await Promise.all([asking, listening])
    return found
  }
}

test('each is in the log once and has one effect, and people are served meanwhile', async () => {
  const projectId = await ada.project('sample')
  const { id: taskId } = await ada.task(projectId, 'Say goodbye')
  await ada.taskOnce(taskId, hasEnded)
  const { pr } = await ada.ask(createPullRequest, { params: { taskId }, body: {} })
  await ada.taskOnce(taskId, ({ pullRequest }) => pullRequest?.state === 'open')
  const { id: otherId } = await ada.task(projectId, 'Something else')
  await ada.taskOnce(otherId, hasEnded)
  const { head, base } = z
    .object({
      head: z.object({ sha: z.string() }),
      base: z.object({ repo: z.object({ id: z.number() }) }),
    })
    .parse(await atHost('GET', `/pulls/${pr.number}`))
  const kinds = kindsOf({ number: pr.number, sha: head.sha, id: base.repo.id }).map(
    ([event, body]) => [event, JSON.stringify(body)] as const,
  )
  const guids = Array.from({ length: different }, () => randomUUID())
  const all = [...guids, ...guids.slice(0, repeated)].toSorted((one, other) =>
    one.slice(24) < other.slice(24) ? -1 : 1,
  )
  const numberOf = new Map<string, number>(guids.map((guid, index) => [guid, index]))
  const atOnce = limitConcurrency(32)
  const answers: number[] = []
  const stop = looking(otherId)
  const begun = performance.now()
  let sent = 0
  await Promise.all(
    all.map((guid) =>
      atOnce(async () => {
        sent += 1
        // What is true changes once, in the middle of it.
        if (sent === all.length / 2) await atHost('PUT', `/pulls/${pr.number}/merge`)
        const kind = kinds[(numberOf.get(guid) ?? 0) % kinds.length]
        if (kind) answers.push(await deliver(guid, kind))
      }),
    ),
  )
  const seconds = (performance.now() - begun) / 1_000
  const merged = performance.now()
  await ada.taskOnce(taskId, ({ pullRequest }) => pullRequest?.state === 'merged')
  const mergedMs = performance.now() - merged
  const { answers: times, late } = await stop()
  const [slowest, latest] = [Math.max(...times), Math.max(...late)]
  note(
    '10,000 deliveries',
    `${seconds.toFixed(1)} s, ${Math.round(all.length / seconds)} a second; meanwhile the API took ${Math.round(slowest)} ms at most and ${late.length} live events ${Math.round(latest)} ms; the merge was shown ${Math.round(mergedMs)} ms after the last`,
  )
  expect(new Set(answers)).toEqual(new Set([202]))
  expect(answers).toHaveLength(all.length)
  expect(slowest).toBeLessThan(5_000)
  expect(late.length).toBeGreaterThan(3)
  expect(latest).toBeLessThan(liveWithinMs)
  await product.terminate()
  const stored = await openStoppedProduct(product.dataDir)
  try {
    const found = intact(await stored.eventStore.readAll(null, 20_000, { streams: ['delivery-'] }))
    const recorded = found.map(({ data }) => z.object({ guid: z.string() }).parse(data).guid)
    const own = new Set<string>(guids)
    expect(recorded.filter((guid) => own.has(guid)).toSorted()).toEqual(guids.toSorted())
    const ofTask = (await stored.eventStore.readAll(null, 20_000, { streams: ['task-'] })).filter(
      ({ stream }) => parseStream(stream).kind === 'task' && stream.endsWith(taskId),
    )
    const count = (type: string) => ofTask.filter((event) => event.type === type).length
    // Open, and merged: nothing of what thousands of hints led to was recorded twice.
    expect(count('PullRequestObserved')).toBe(2)
    expect(ofTask.filter(({ type }) => type.startsWith('Feedback'))).toEqual([])
    expect(count('ExecutionRequested')).toBe(1)
  } finally {
    await stored.close()
  }
})
