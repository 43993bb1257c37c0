/** The product with NATS as its bus and queue, over a connection that loses every second message of the bus. */
import { note } from '../report/notes.ts'
import { ownNats } from '../servers/nats.ts'
import { openLosingGate } from '../standins/natsGate.ts'
import { endlessTurn, holdThroughReconnects, type Reconnected } from './reconnecting.ts'
import { openScene } from './scene.ts'

export interface LosingBus {
  /** Cuts viewers off this often. Also returns what happened to the messages on the bus. */
  holdThroughReconnects(
    reconnects: number,
  ): Promise<Reconnected & { lost: number; passed: number; subjects: number }>
  close(): Promise<void>
}

export async function openLosingBus(): Promise<LosingBus> {
  const nats = await ownNats()
  const gate = await openLosingGate(nats.port)
  const turn = endlessTurn()
  const scene = await openScene([turn.script], { env: { NATS_URL: gate.url, REQUESTS_PER_MINUTE: '0' } })
  return {
    async holdThroughReconnects(reconnects) {
      const held = await holdThroughReconnects({ scene, turn, reconnects })
      const { lost, passed, subjects } = gate
      note(
        'every second message on the bus lost',
        `${lost} of ${lost + passed}, over ${held.reconnects} reconnects; the real nats-server`,
      )
      return { ...held, lost, passed, subjects }
    },
    async close() {
      await scene.close()
      await gate.close()
      await nats.close()
    },
  }
}
