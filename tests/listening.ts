/** An HTTP server of a test, which is closed with the test. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'

/** Starts it on a free port of 127.0.0.1, and returns its origin. */
export async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens at no port.')
  return `http://127.0.0.1:${address.port}`
}
