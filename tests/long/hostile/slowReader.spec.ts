/** A client that requests a lot and reads nothing of it. */
import { once } from 'node:events'
import { readdir, readlink, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProduct, type Product } from '../../product.ts'
import { serverEntry } from '../../product/server.ts'

let product: Product
beforeAll(async () => {
  product = await startProduct()
})
afterAll(() => product?.stop())

/** The name of the largest file that strangers may ask for. */
async function largestAsset(): Promise<string> {
  const folder = join(dirname(dirname(serverEntry)), 'web/assets')
  const sizes = await Promise.all(
    (await readdir(folder)).map(async (name) => ({ name, size: (await stat(join(folder, name))).size })),
  )
  return sizes.toSorted((a, b) => b.size - a.size)[0]?.name ?? ''
}

/** The sockets that the server has open. The kernel does not tell a client that reads nothing that the other end is closed. */
async function openSockets(): Promise<ReadonlySet<string>> {
  const [server] = await product.processes()
  const folder = `/proc/${server?.pid}/fd`
  const targets = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
  )
  return new Set(targets.filter((target) => target.startsWith('socket:')))
}

// Holds findings 1.110.
test('security L3: a connection that takes nothing of its answers is closed', async () => {
  const { hostname, port } = new URL(product.base)
  const before = await openSockets()
  const asset = await largestAsset()
  const connection = connect({ host: hostname, port: Number(port) })
  connection.on('error', () => undefined)
  try {
    await once(connection, 'connect')
    connection.pause()
    // More than the buffers of the system take.
    connection.write(`GET /assets/${asset} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(300))
    const opened = async () => [...(await openSockets())].filter((socket) => !before.has(socket))
    await expect.poll(async () => (await opened()).length).toBe(1)
    // One that has its answers is closed after five seconds, and one that does not read them after one or two minutes.
    await expect.poll(opened, { timeout: 180_000, interval: 1_000 }).toEqual([])
  } finally {
    connection.destroy()
  }
})
