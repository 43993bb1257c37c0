/** Ports for servers that tests stop and start again on the same address. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** The range of ports. It is below the ports that systems hand out, so that no other program gets one while its server is down between two starts. */
const range = { first: 10_240, last: 32_000 }

/** This many different ports that are free now. */
export async function freePortsFor(count: number): Promise<readonly number[]> {
  const found = new Set<number>()
  while (found.size < count) {
    const port = randomInt(range.first, range.last)
    if (!found.has(port) && (await isFree(port))) found.add(port)
  }
  return [...found]
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
