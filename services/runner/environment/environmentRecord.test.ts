/** What is recorded of setups while the log is unavailable. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Commands } from '#platform/commands/execute.ts'
import { logger } from '#platform/log.ts'
import { projectId } from '../../../tests/domain/ids.ts'
import { recordingCommands } from '../../../tests/runner/environmentScene.ts'
import { testPath } from '../../../tests/runner/workspaceScene.ts'
import { recordingPatienceMs } from '../execution/recording/terminalWriter.ts'
import { beginRecord, recordCutShort } from './environmentRecord.ts'

test('an end that the log does not take for long is recorded at the next start that can', async () => {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-record-'))
  const { commands, recorded } = recordingCommands()
  const patience: (number | undefined)[] = []
  let isAway = false
  const execute: Commands['execute'] = async (...asked) => {
    patience.push(asked[3].patienceMs)
    if (isAway) throw new Error('The log is away.')
    return commands.execute(...asked)
  }
  const deps = { root, path: testPath, logger: logger('silent'), commands: { execute } }
  const record = await beginRecord(deps, { projectId: projectId(1), trigger: 'rebuild', usable: [] })
  isAway = true
  await record.prepared({ seconds: 1, bytes: 1 }, { log: '', leftOut: [] })
  expect(patience).toEqual([undefined, recordingPatienceMs])
  await record.close()
  await recordCutShort(deps)
  isAway = false
  for (let start = 1; start <= 2; start += 1) {
    await recordCutShort(deps)
    expect(recorded).toMatchObject([
      { type: 'ProjectEnvironmentStarted' },
      { type: 'ProjectEnvironmentFailed', data: { code: 'interrupted' } },
    ])
  }
  await rm(root, { recursive: true })
})
