/** Only its owner can access the data folder, and it must be a folder. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdDataFolder, UnusableDataFolder } from './lock.ts'

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

test('a file, and a folder below a file, are refused with a sentence, and the file is left alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'data')
  writeFileSync(file, 'mine')
  for (const path of [file, join(file, 'below')]) {
    expect(() => holdDataFolder(path)).toThrow(UnusableDataFolder)
    expect(() => holdDataFolder(path)).toThrow(`The data folder ${path} is not writable.`)
  }
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('what cannot be closed to others is refused with a sentence that says so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // Not even root may change the mode of this folder.
  symlinkSync('/proc/self', join(folder, 'blobs'))
  expect(() => holdDataFolder(folder)).toThrow(UnusableDataFolder)
  expect(() => holdDataFolder(folder)).toThrow(`${join(folder, 'blobs')} is open to other users`)
})
