/** A program that publishes a number of positions on the bus, and ends. */
import { natsBus } from '#platform/bus/nats.ts'
import { openNats } from '#platform/bus/natsConnection.ts'

const [url = '', namespace = '', count = '0'] = process.argv.slice(2)
const nats = await openNats({ url, onFault: () => {}, onWaiting: () => {} })
const bus = natsBus({ nats, namespace, onFault: () => {} })
for (let position = 1; position <= Number(count); position += 1) {
  bus.publish('projected', { projection: 'tasks', position: String(position) })
}
await bus.ready()
await nats.close()
