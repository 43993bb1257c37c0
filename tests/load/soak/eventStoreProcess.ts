/** The stand-in for EventStoreDB in a process of its own, so that it can be paused and measured like the other engines. */
import { z } from 'zod'
import { startEventStoreDb } from '../../standins/eventStoreDb.ts'

const Order = z.enum(['kill', 'restart'])

const server = await startEventStoreDb()
process.on('message', (message) => void obey(Order.parse(message)))
process.send?.({ said: 'ready', port: server.port })

async function obey(order: z.infer<typeof Order>): Promise<void> {
  if (order === 'kill') server.kill()
  else await server.restart()
  process.send?.({ said: order })
}
