/** What makes a step of `npm start` run again. */
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parts, sourcesOf, staleParts, stampOf } from '../../scripts/parts.js'
import { fingerprint, glance, isStamped, stamped } from '../../scripts/stamps.js'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flightdeck-stamps-'))
  mkdirSync(join(root, 'services/inner'), { recursive: true })
  writeFileSync(join(root, 'services/main.ts'), 'export {}')
  writeFileSync(join(root, 'services/inner/part.ts'), 'export {}')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(root, { recursive: true, force: true })
})

const print = () => fingerprint(root, ['services', 'package.json'])

test('a fingerprint stays while nothing changes', () => {
  expect(print()).toBe(print())
})

test.each([
  ['a changed file', 'services/inner/part.ts'],
  ['a new file', 'services/inner/other.ts'],
  ['a file that was missing', 'package.json'],
])('%s changes the fingerprint', (_, path) => {
  const before = print()
  writeFileSync(join(root, path), 'export const changed = true')
  expect(print()).not.toBe(before)
})

test('a moved file changes the fingerprint, though the bytes are the same', () => {
  const before = print()
  rmSync(join(root, 'services/inner/part.ts'))
  writeFileSync(join(root, 'services/part.ts'), 'export {}')
  expect(print()).not.toBe(before)
})

test('a test does not change the fingerprint', () => {
  const before = print()
  writeFileSync(join(root, 'services/main.test.ts'), 'export {}')
  expect(print()).toBe(before)
})

const look = () => glance(root, ['services', 'package.json'], Infinity)

test('a glance stays while nothing changes, and a test does not change it', () => {
  const before = look()
  writeFileSync(join(root, 'services/main.test.ts'), 'export {}')
  expect(look()).toBe(before)
})

test('a glance notices other content of the same size, even with the time of the older content', () => {
  const before = look()
  const file = join(root, 'services/main.ts')
  const { atime, mtime } = statSync(file)
  writeFileSync(file, 'export []')
  utimesSync(file, atime, mtime)
  expect(look()).not.toBe(before)
})

test('a glance does not rely on a file that was changed just now', () => {
  expect(glance(root, ['services'])).toBeUndefined()
})

test('a step that fails leaves no stamp, not even an older one', async () => {
  const stamp = join(root, 'dist/.stamp')
  await stamped(stamp, 'one', async () => undefined)
  expect(isStamped(stamp, 'one')).toBe(true)
  await expect(stamped(stamp, 'one', () => Promise.reject(new Error('no space')))).rejects.toThrow('no space')
  expect(isStamped(stamp, 'one')).toBe(false)
})

test('a start that cannot note what it saw is a start all the same', () => {
  for (const part of parts) {
    mkdirSync(join(root, 'dist', part), { recursive: true })
    writeFileSync(join(root, 'dist', part, part === 'web' ? 'index.html' : 'main.js'), '')
    writeFileSync(stampOf(root, part), sourcesOf(root, part))
  }
  mkdirSync(join(root, 'dist/.seen-stamp'))
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000)
  expect(staleParts(root)).toEqual([])
})
