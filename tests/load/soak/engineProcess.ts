/** A stand-in for an engine in a process of its own, so that it can be paused and measured like NATS. */
import { z } from 'zod'
import { startEventStoreDb } from '../../standins/eventStoreDb.ts'
import { startMongoDb } from '../../standins/mongoDb.ts'

const Engine = z.enum(['EventStoreDB', 'MongoDB'])
const Order = z.enum(['kill', 'restart'])

const start = { EventStoreDB: startEventStoreDb, MongoDB: startMongoDb }[Engine.parse(process.argv[2])]
const server = await start()
process.on('message', (message) => void obey(Order.parse(message)))
process.send?.({ said: 'ready', port: server.port })

async function obey(order: z.infer<typeof Order>): Promise<void> {
  if (order === 'kill') server.kill()
  else await server.restart()
  process.send?.({ said: order })
}
