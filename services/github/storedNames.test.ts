/** The names of marks and leases are stored: with other names, an existing data folder would be read again from its beginning. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openEngines, type Engines } from '#platform/compose.ts'
import { readConfig } from '#platform/config/config.ts'
import { logger } from '#platform/log.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { startDispatcher } from '../command/dispatcher.ts'
import { startMaintenance } from '../maintenance/maintenance.ts'
import { startGitHub } from './github.ts'

const folder = mkdtempSync(join(tmpdir(), 'flightdeck-names-'))
const config = readConfig({ DATA_DIR: folder })
let engines: Engines
/** The names of the stored marks, with `LOG` in place of the log's id and `1` in place of its epoch. */
const marks = new Set<string>()
const leases = new Map<string, () => Promise<RunningWork>>()
const started: RunningWork[] = []

beforeEach(async () => {
  const opened = await openEngines(config, logger('silent'), () => undefined)
  const seen = (name: string) => marks.add(name.replace(opened.logIdentity.logId, 'LOG'))
  engines = {
    ...opened,
    jobs: {
      ...opened.jobs,
      marked: async (name) => {
        seen(name)
        return opened.jobs.marked(name)
      },
      mark: async (name, position) => {
        seen(name)
        return opened.jobs.mark(name, position)
      },
    },
    leases: {
      ...opened.leases,
      hold(name, start) {
        leases.set(name, start)
        return { stop: async () => undefined }
      },
    },
  }
})
afterEach(async () => {
  for (const part of started.splice(0)) await part.stop()
  await engines.close()
  rmSync(folder, { recursive: true, force: true })
})

test('marks and leases have the names that they always had', async () => {
  started.push(await startDispatcher(engines), ...startMaintenance(engines), ...startGitHub(config, engines))
  expect([...leases.keys()].toSorted()).toEqual([
    'answering',
    'blobs',
    'delivery keys',
    'follower',
    'images',
    'issue links',
    'issues',
    'open work',
    'project sync',
    'related tasks',
    'retried updates',
    'revocations',
  ])
  for (const start of leases.values()) started.push(await start())
  // The sweep of erasures reads its mark a moment after it was started.
  await expect.poll(() => marks.has('erasures-LOG-1')).toBe(true)
  expect([...marks].toSorted()).toEqual([
    'dispatched-LOG-1',
    'erased-LOG-1',
    'erasures-LOG-1',
    'followed-LOG-1',
    'related-LOG-1',
    'revocations-LOG-1',
  ])
})
