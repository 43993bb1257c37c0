/** 10,000 deliveries of webhooks in a burst, a tenth of them repeated and all of them shuffled, at the built product. */
import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getMe } from '#domain/api/auth.schema.ts'
import { webhookPath } from '#domain/api/server.ts'
import { limitConcurrency } from '#platform/async/queue.ts'
import { startProduct, type Product } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { openStored } from '../../server/stored.ts'

const secret = 'a secret of the hook'
const [different, repeated] = [9_000, 1_000]
let product: Product
beforeAll(async () => {
  product = await startProduct({ env: { GITHUB_WEBHOOK_SECRET: secret } })
})
afterAll(() => product?.stop())

test('each is in the log once, and people are served meanwhile', async () => {
  const ada = await product.signIn('ada')
  const guids = Array.from({ length: different }, () => randomUUID())
  const all = [...guids, ...guids.slice(0, repeated)].toSorted((one, other) =>
    one.slice(24) < other.slice(24) ? -1 : 1,
  )
  const body = JSON.stringify({
    action: 'closed',
    pull_request: { number: 1 },
    repository: { id: 1 },
    sender: { id: 9, type: 'User' },
  })
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const atOnce = limitConcurrency(32)
  const answers: number[] = []
  const times: number[] = []
  const over = new AbortController()
  const looking = (async () => {
    while (!over.signal.aborted) {
      const begun = performance.now()
      await ada.ask(getMe)
      times.push(performance.now() - begun)
    }
  })()
  const begun = performance.now()
  await Promise.all(
    all.map((guid) =>
      atOnce(async () => {
        const response = await fetch(product.base + webhookPath, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-github-event': 'pull_request',
            'x-github-delivery': guid,
            'x-hub-signature-256': signature,
          },
          body,
        })
        await response.arrayBuffer()
        answers.push(response.status)
      }),
    ),
  )
  const seconds = (performance.now() - begun) / 1_000
  over.abort()
  await looking
  const slowest = Math.max(...times)
  note(
    '10,000 deliveries',
    `${seconds.toFixed(1)} s, ${Math.round(all.length / seconds)} a second; the API took ${Math.round(slowest)} ms at most meanwhile`,
  )
  expect(new Set(answers)).toEqual(new Set([202]))
  expect(slowest).toBeLessThan(5_000)
  await product.terminate()
  const stored = await openStored(product.dataDir)
  try {
    const found = await stored.eventStore.readAll(null, 20_000, { streams: ['delivery-'] })
    const recorded = found.map(({ data }) => z.object({ guid: z.string() }).parse(data).guid)
    expect(recorded.toSorted()).toEqual(guids.toSorted())
  } finally {
    await stored.close()
  }
})
