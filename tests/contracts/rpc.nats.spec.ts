import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openNats } from '#platform/bus/natsConnection.ts'
import { natsRpc } from '#platform/bus/rpcNats.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { note } from '../report/notes.ts'
import { anyNats, noNats, noOwnNats, ownNats, type AnyNats } from '../servers/nats.ts'
import { rpcContract } from './rpc.contract.ts'

const onFault = () => {}
const onWaiting = () => {}
const asked = { taskId: 'a-task', ownerId: 'ada', baseBranch: 'main' }

describe.skipIf(noNats !== undefined)(`with NATS${noNats === undefined ? '' : ` (${noNats})`}`, () => {
  let server: AnyNats
  beforeAll(async () => {
    server = await anyNats()
    note('rpc: NATS', server.against)
  })
  afterAll(() => server?.close())

  rpcContract('NATS', async () => {
    const namespace = `test-${randomUUID()}`
    const here = await openNats({ url: server.url, onFault, onWaiting })
    const there = await openNats({ url: server.url, onFault, onWaiting })
    return {
      rpc: natsRpc({ nats: here, namespace, onFault }),
      elsewhere: natsRpc({ nats: there, namespace, onFault }),
      close: async () => {
        await here.close()
        await there.close()
      },
    }
  })

  test('what is no question and no answer is reported, and not taken for one', async () => {
    const namespace = `test-${randomUUID()}`
    const faults: string[] = []
    const nats = await openNats({ url: server.url, onFault, onWaiting })
    const rpc = natsRpc({ nats, namespace, onFault: (what) => faults.push(what) })
    const subject = `${namespace}.ask.changes`
    const subscription = nats.connection.subscribe(subject, {
      callback: (_, message) => void message.respond(Buffer.from('{"kind":"nonsense"}')),
    })
    expect(await rpc.call('changes', asked, 200)).toBeUndefined()
    subscription.unsubscribe()
    rpc.handle('changes', async () => ({ kind: 'base_not_found' }))
    await rpc.ready()
    nats.connection.publish(subject, Buffer.from('{"taskId":1}'))
    expect(await rpc.call('changes', asked, 5_000)).toEqual({ kind: 'base_not_found' })
    expect(faults).toEqual([
      'An answer to changes is not understood',
      'A question for changes is not understood',
    ])
    await nats.close()
  })
})

describe.skipIf(noOwnNats !== undefined)('while NATS is away', () => {
  test('a question is refused at once, and answered again when it is back', async () => {
    const server = await ownNats()
    const nats = await openNats({ url: server.url, onFault, onWaiting })
    const rpc = natsRpc({ nats, onFault })
    rpc.handle('changes', async () => ({ kind: 'base_not_found' }))
    await rpc.ready()
    await server.stop()
    await expect.poll(() => nats.isConnected()).toBe(false)
    await expect(rpc.call('changes', asked, 5_000)).rejects.toThrow(EngineUnavailable)
    await server.start()
    await expect.poll(() => nats.isConnected()).toBe(true)
    expect(await rpc.call('changes', asked, 5_000)).toEqual({ kind: 'base_not_found' })
    await nats.close()
    await server.close()
  })
})
