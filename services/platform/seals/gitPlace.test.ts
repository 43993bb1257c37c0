import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listening } from '../../../tests/listening.ts'
import { gitPlace } from './gitPlace.ts'

const unused = () => Promise.reject(new Error('Nothing of the log is needed.'))

test('a transfer to a repository that does not answer ends when it is aborted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-seals-'))
  const stopping = new AbortController()
  const repository = await listening(() => stopping.abort())
  try {
    const place = gitPlace({
      repository,
      folder: join(folder, 'seals.git'),
      environment: { PATH: process.env['PATH'] },
    })
    const seal = { checkpoint: '', heads: '', at: '2026-01-01T00:00:00.000Z', revision: 0 }
    const log = { identity: { logId: 'log', epoch: 1 }, consistency: unused, contradiction: unused }
    await expect(place.put(seal, log, stopping.signal)).rejects.toThrow('git ls-remote: aborted')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
