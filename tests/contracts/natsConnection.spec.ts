import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { natsBus } from '#platform/bus/nats.ts'
import { openNatsJobs } from '#platform/jobs/nats.ts'
import { openNats, UnusableNats, type Nats } from '#platform/bus/natsConnection.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { noOwnNats, ownNats, type OwnNats } from '../servers/nats.ts'

const onFault = () => {}
const secret = 'p@ss:w/rd'
const encoded = encodeURIComponent(secret)

/** The fault of opening `url`, and all that was said meanwhile. */
async function refusedBy(url: string): Promise<{ fault: unknown; shown: string }> {
  const lines: string[] = []
  const fault: unknown = await openNats({ url, onFault, onWaiting: (line) => lines.push(line) }).catch(
    (refused: unknown) => refused,
  )
  const all = fault instanceof Error ? JSON.stringify([fault.message, fault.stack, fault.cause, fault]) : ''
  return { fault, shown: `${all}${lines.join('')}` }
}

describe('an address', () => {
  test.each(['nats//host', 'http://host:4222', 'host:4222', `nats://user:${encoded}@ho st`, 'nats://', ''])(
    '%j is refused with a sentence that holds no password',
    async (url) => {
      const { fault, shown } = await refusedBy(url)
      expect(fault).toBeInstanceOf(UnusableNats)
      expect(fault).toHaveProperty('message', expect.stringContaining('nats://host:4222'))
      expect(shown).not.toContain(encoded)
    },
  )

  test('of a server that is too old is refused', async () => {
    const server = createServer((socket) => {
      socket.write('INFO {"server_id":"a","version":"2.8.4","max_payload":1048576,"headers":true}\r\n')
      socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'))
      socket.on('error', () => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const { fault } = await refusedBy(`nats://127.0.0.1:${port}`)
    expect(fault).toEqual(
      new UnusableNats(`NATS at 127.0.0.1:${port} is version 2.8.4: 2.9 or later is needed.`),
    )
    server.close()
  })
})

describe.skipIf(noOwnNats !== undefined)(
  `the connection${noOwnNats === undefined ? '' : ` (${noOwnNats})`}`,
  () => {
    const opened: { close(): Promise<void> }[] = []
    const faults: string[] = []
    afterEach(async () => {
      for (const each of opened.splice(0).toReversed()) await each.close()
      faults.length = 0
    })
    async function serve(options?: Parameters<typeof ownNats>[0]): Promise<OwnNats> {
      const server = await ownNats(options)
      opened.push(server)
      return server
    }
    async function open(url: string, onWaiting: (line: string) => void = () => {}): Promise<Nats> {
      const nats = await openNats({ url, onFault: (what) => faults.push(what), onWaiting })
      opened.push(nats)
      return nats
    }

    test('waits for a server that is not there yet, says so once, and says when it went and came back', async () => {
      const server = await serve()
      await server.stop()
      const lines: string[] = []
      const opening = open(server.url, (line) => lines.push(line))
      await vi.waitFor(() => expect(lines).toHaveLength(1))
      await server.start()
      const nats = await opening
      await nats.ready()
      await server.stop()
      await vi.waitFor(() => expect(lines).toHaveLength(2))
      await server.start()
      await vi.waitFor(() => expect(lines).toHaveLength(3))
      const at = `NATS at 127.0.0.1:${server.port}`
      expect(lines).toEqual([
        `${at} does not answer yet (CONNECTION_REFUSED); waiting for it.`,
        `${at} went away; waiting for it.`,
        `${at} answers again.`,
      ])
    })

    test('wrong credentials are refused at start, and shown to nobody', async () => {
      const server = await serve({ user: `flightdeck:${secret}` })
      const { fault, shown } = await refusedBy(`nats://flightdeck:wrong-${encoded}@127.0.0.1:${server.port}`)
      expect(fault).toEqual(
        new UnusableNats(
          `NATS at 127.0.0.1:${server.port} refuses the credentials: check user and password in NATS_URL.`,
        ),
      )
      expect(shown).not.toMatch(/wrong|p@ss|p%40ss/)
      const nats = await open(`nats://flightdeck:${encoded}@127.0.0.1:${server.port}`)
      await nats.ready()
      expect(nats.address).toBe(`127.0.0.1:${server.port}`)
    })

    test('a server that comes back with other credentials does not end it for good', async () => {
      const server = await serve()
      const nats = await open(server.url)
      await server.stop()
      await server.start({ user: 'somebody:else' })
      await expect(nats.ready()).rejects.toThrow(EngineUnavailable)
      // Long enough for several refusals.
      await expect(nats.ask(() => nats.connection.flush(), { timeoutMs: 2_000 })).rejects.toThrow(
        EngineUnavailable,
      )
      expect(faults).toEqual([`NATS at ${nats.address} refuses something: AUTHORIZATION_VIOLATION`])
      await server.stop()
      await server.start()
      await vi.waitFor(() => nats.ready())
    })

    test('a user who may not speak on the bus is told to the operator', async () => {
      const denied = 'permissions: { publish: { deny: "flightdeck.>" } }'
      const server = await serve({ config: `authorization { users: [{ user: u, password: p, ${denied} }] }` })
      const nats = await open(`nats://u:p@127.0.0.1:${server.port}`)
      const bus = natsBus({ nats, onFault })
      for (const position of ['1', '2']) bus.publish('projected', { projection: 'tasks', position })
      await nats.ready()
      await vi.waitFor(() =>
        expect(faults).toEqual([
          `NATS at ${nats.address} refuses something: PERMISSIONS_VIOLATION publish flightdeck.bus.projected`,
        ]),
      )
    })

    test('a server without JetStream is refused for jobs', async () => {
      const server = await serve({ jetStream: false })
      const nats = await open(server.url)
      await expect(openNatsJobs({ nats, onFault, onWaiting: () => {} })).rejects.toThrow(
        new UnusableNats(`NATS at 127.0.0.1:${server.port} is running without JetStream. Start it with -js.`),
      )
    })

    test('a question to a server that is away is answered by EngineUnavailable in time, and none is kept for later', async () => {
      const server = await serve()
      const nats = await open(server.url)
      await server.stop()
      await vi.waitFor(() => expect(nats.isConnected()).toBe(false))
      let asked = 0
      const question = async () => {
        asked += 1
      }
      await expect(nats.ask(question, { timeoutMs: 500 })).rejects.toThrow(EngineUnavailable)
      await server.start()
      await vi.waitFor(() => nats.ready())
      expect(asked).toBe(0)
    })
  },
)
