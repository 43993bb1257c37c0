/** Which operator's commands find a log to work on. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { requireLog } from './storeCommands.ts'

const embedded = { eventStore: null, mongo: null, nats: null }

test('a log in the data folder must be there, and one in a shared engine needs no folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-commands-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  expect(() => requireLog({ engines: embedded, dataDir })).toThrow(`There is no data folder at ${dataDir}.`)
  expect(existsSync(dataDir)).toBe(false)
  requireLog({ engines: { ...embedded, eventStore: 'esdb://events:2113' }, dataDir })
  writeFileSync(join(folder, 'events.sqlite'), '')
  requireLog({ engines: embedded, dataDir: folder })
})
