import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
import { openNatsJobs } from '#platform/bus/jobsNats.ts'
import { openNats } from '#platform/bus/natsConnection.ts'
import { note } from '../report/notes.ts'
import { anyNats, noNats, type AnyNats } from '../servers/nats.ts'
import { jobsContract } from './jobs.contract.ts'

let server: AnyNats
beforeAll(async () => {
  if (noNats !== undefined) return
  server = await anyNats()
  note('jobs on NATS', server.against)
})
afterAll(async () => {
  if (noNats === undefined) await server.close()
})

const onFault = () => {}
const onWaiting = () => {}

describe.skipIf(noNats !== undefined)(`with a server${noNats === undefined ? '' : ` (${noNats})`}`, () => {
  jobsContract('NATS', async () => {
    const namespace = `test-${randomUUID()}`
    const nats = await openNats({ url: server.url, onWaiting })
    const open = () => openNatsJobs({ nats, namespace, onFault, onWaiting })
    let jobs = await open()
    return {
      jobs,
      reopen: async () => {
        await jobs.close()
        jobs = await open()
        return jobs
      },
      close: async () => {
        await jobs.close()
        await nats.close()
      },
    }
  })
})
