/** An answer of the scripted model that fails before its end. */
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { listenLocally } from '#platform/http/listen.ts'
import type { ModelApi } from './modelApi.ts'
import { messagesApi } from './messages/api.ts'
import { scriptedUpstream } from './scriptedUpstream.ts'

test('a script that fails is a fault, and not taken for a client that left', async () => {
  function* frames() {
    yield { frame: 'data: one\n\n', paced: false }
    throw new Error('The script ends here.')
  }
  const counts = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const usage = { model: 'a model', ...counts }
  const api: ModelApi = { ...messagesApi, scripted: () => ({ kind: 'events', frames: frames(), usage }) }
  let settle: (fault: unknown) => void = () => undefined
  const ended = new Promise<unknown>((resolve) => (settle = resolve))
  const server = createServer((request, response) => {
    const exchange = {
      request,
      response,
      served: { path: '/v1/messages', isMetered: true, query: undefined, model: undefined },
      body: Buffer.from('{}'),
      modelFetches: false,
    }
    const nothing = () => undefined
    scriptedUpstream(api)
      .answer({ ...exchange, onModel: nothing, onUsage: nothing, onFault: nothing })
      .then(() => settle(undefined), settle)
      .finally(() => response.destroy())
  })
  const port = await listenLocally(server, 'loopback')
  try {
    await fetch(`http://127.0.0.1:${port}/`)
      .then((answer) => answer.text())
      .catch(() => undefined)
    expect(await ended).toMatchObject({ message: 'The script ends here.' })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
