/** `npm start -- migrate` with a log of 1,000,000 events, killed twice on the way, and its time. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCrowd } from '../../load/million.ts'
import { serverEntry } from '../../product/server.ts'
import { note } from '../../report/notes.ts'
import { forMongo, startSharedEngines, type SharedEngines } from '../../servers/sharedEngines.ts'

const mongo = await forMongo()
/** Four events of each task. What a copied task says is never opened, so that these logs are compared event for event and not verified. */
const amounts = {
  tasks: 250_000,
  ofBusy: 250_000 / 5,
  people: 1_000,
}

describe.skipIf('missing' in mongo)('migrate', () => {
  let folder = ''
  let engines: SharedEngines
  beforeAll(async () => {
    if ('missing' in mongo) return
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-million-'))
    engines = await startSharedEngines(mongo.server)
  })
  afterAll(async () => {
    await engines?.close()
    await rm(folder, { recursive: true, force: true })
  })

  test(
    'carries a million events, goes on after each kill -9, and both ends are the same',
    { timeout: 3_600_000 },
    async () => {
      const { large } = await makeCrowd(folder, amounts)
      const env = {
        ...engines.env,
        PATH: process.env['PATH'] ?? '',
        DATA_DIR: large.dataDir,
        MASTER_KEY: (await readFile(join(large.dataDir, 'master.key'), 'utf8')).trim(),
      }
      const start = () => {
        const child = spawn(process.execPath, [serverEntry, 'migrate'], {
          env,
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let said = ''
        child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
        const ended = once(child, 'close').then(([code]) => ({ code, said }))
        return { child, ended }
      }
      const begun = performance.now()
      const stages: string[] = []
      const staged = (what: string) => {
        stages.push(`${what} after ${Math.round((performance.now() - begun) / 1_000)} s`)
        process.stdout.write(`${stages.at(-1)}\n`)
      }
      for (const appends of [amounts.tasks * 0.3, amounts.tasks * 0.4]) {
        const isSilent = engines.eventStore.silentAfter(appends)
        const { child, ended } = start()
        await Promise.race([
          isSilent,
          ended.then(({ code, said }) => expect.unreachable(`It ended: ${code} ${said}`)),
        ])
        child.kill('SIGKILL')
        await ended
        staged(`killed at ${engines.eventStore.events} events`)
        engines.eventStore.answerAgain()
      }
      const { code, said } = await start().ended
      staged('whole')
      note('migration of a large log', stages.join(', '))
      expect(said).toMatch(/the same at both ends: (\d+) events/)
      expect(code).toBe(0)
      expect(Number(/: (\d+) events/.exec(said)?.[1])).toBe(engines.eventStore.events)
      expect(engines.eventStore.events).toBeGreaterThanOrEqual(4 * amounts.tasks)
    },
  )
})
