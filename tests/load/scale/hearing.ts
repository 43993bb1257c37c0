/** Measures what it takes a process to hear, over NATS, that an event was appended: the work that each process has with every event. */
import { randomUUID } from 'node:crypto'
import { agentNames } from '#domain/agents.ts'
import { natsBus } from '#platform/bus/nats.ts'
import { openNats } from '#platform/bus/natsConnection.ts'
import type { BusMessages, Topic } from '#platform/ports/bus.ts'
import { ownNats } from '../../servers/nats.ts'

const hints = 30_000
const together = 500
const onFault = (what: string, fault: unknown) => console.error(what, fault)

const runner: BusMessages['runner'] = {
  runnerId: randomUUID(),
  notices: [],
  agents: agentNames.map((name) => ({
    name,
    installed: true,
    version: '1.0.0',
    missing: null,
    keyInSandbox: false,
    models: [],
  })),
  jobs: Array.from({ length: 8 }, () => randomUUID()),
}

/** In milliseconds of processor time for each event, and for each heartbeat of a runner with eight runs. */
export async function hearingCosts(): Promise<{ readonly event: number; readonly heartbeat: number }> {
  const nats = await ownNats()
  const speaker = await openNats({ url: nats.url, onFault, onWaiting: () => {} })
  const hearer = await openNats({ url: nats.url, onFault, onWaiting: () => {} })
  const [speaking, hearing] = [natsBus({ nats: speaker, onFault }), natsBus({ nats: hearer, onFault })]
  const costOf = async <T extends Topic>(topic: T, message: BusMessages[T]): Promise<number> => {
    const speak = async () => {
      for (let n = 1; n <= hints; n += 1) {
        speaking.publish(topic, message)
        if (n % together === 0) await speaker.connection.flush()
      }
    }
    const silent = await processorFor(speak)
    const heard = await processorFor(async () => {
      const everything = new Promise<void>((resolve) => {
        let left = hints
        hearing.subscribe(topic, () => {
          left -= 1
          if (left === 0) resolve()
        })
      })
      await hearer.connection.flush()
      await speak()
      await everything
    })
    return Math.max(0, heard - silent) / hints
  }
  try {
    const hint = { stream: `task-${randomUUID()}`, revision: 1, type: 'TerminalOutputRecorded' }
    return { event: await costOf('appended', hint), heartbeat: await costOf('runner', runner) }
  } finally {
    await Promise.all([speaking.close(), hearing.close()])
    await Promise.all([speaker.close(), hearer.close()])
    await nats.close()
  }
}

/** The processor time of this process, in milliseconds. */
async function processorFor(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
