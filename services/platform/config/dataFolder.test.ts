/** The data folder is its owner's alone. */
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdDataFolder } from './dataFolder.ts'

test('finding low: a data folder that others could enter is closed to them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  holdDataFolder(folder)()
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})
