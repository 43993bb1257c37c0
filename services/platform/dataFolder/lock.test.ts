/** Only its owner can access the data folder. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdDataFolder } from './lock.ts'

// Holds findings 1.60.
test('finding low: a data folder that others could enter is closed to them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  holdDataFolder(folder)()
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('security L4: so are the lock and the blobs of a data folder, also where they were open before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'blobs'), { mode: 0o755 })
  for (const name of ['lock', '.writable']) writeFileSync(join(folder, name), '', { mode: 0o644 })
  holdDataFolder(folder)()
  const modes = ['blobs', 'lock', '.writable'].map((name) => statSync(join(folder, name)).mode & 0o777)
  expect(modes).toEqual([0o700, 0o600, 0o600])
})
