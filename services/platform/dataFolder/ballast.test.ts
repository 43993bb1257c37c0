/** When the server frees the space that it reserves on its disk, and when it reserves it again. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ballastBytes, isUsedUp, keepBallast, leastFreeBytes, nextStep } from './ballast.ts'
import { holdDataFolder } from './lock.ts'

const size = 64e6
/** The tests may run in memory, where there is no ballast otherwise. */
const ballastSize = () => 2e6

test('security H2: is a fiftieth of a small disk, and never more than 256 MiB', () => {
  expect(ballastBytes(3e9)).toBe(60_000_000)
  expect(ballastBytes(1e12)).toBe(256 * 1024 ** 2)
})

test.each([
  ['there is plenty, and the room is kept', { free: 1e9, isThere: true }, false, 'none'],
  ['there is plenty, and no room is kept yet', { free: 1e9, isThere: false }, false, 'make'],
  ['next to nothing is free', { free: leastFreeBytes - 1, isThere: true }, true, 'release'],
  ['there is no place for it', { free: 1e9, isThere: false, size: 0 }, false, 'none'],
  ['it was given up, and is what is left', { free: size, isThere: false }, true, 'none'],
  [
    'there is some room, and too little to keep any',
    { free: size + leastFreeBytes, isThere: false },
    false,
    'none',
  ],
] as const)('security H2: where %s', (_, state, isFull, step) => {
  expect(isUsedUp({ size, ...state })).toBe(isFull)
  expect(nextStep({ size, ...state })).toBe(step)
})

test('security H2: the room is taken for real, and stays when the server ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-ballast-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = process.env['PATH'] ?? ''
  const faults: unknown[] = []
  const kept = keepBallast(
    { dataDir: folder, path },
    { warn: (fault: unknown) => faults.push(fault) },
    ballastSize,
  )
  const bytes = () => (statSync(join(folder, 'ballast'), { throwIfNoEntry: false })?.blocks ?? 0) * 512
  await expect.poll(bytes).toBeGreaterThan(1e6)
  await kept.close()
  expect(bytes()).toBeGreaterThan(1e6)
  expect(kept.details()).toEqual({})
  expect(faults).toEqual([])
})

test('security H2: what a server that was killed had taken half of is taken anew at the next start', async () => {
  const place = mkdtempSync(join(tmpdir(), 'flightdeck-ballast-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const [folder, programs, left] = [join(place, 'data'), join(place, 'programs'), join(place, 'left')]
  for (const made of [folder, programs]) mkdirSync(made)
  const path = process.env['PATH'] ?? ''
  const half = `head -c 1000000 /dev/zero > "$3"; touch half; until [ -e go ]; do sleep 0.05; done`
  const script = `#!/bin/sh\ncd ${place}\n${half}\nPATH=${path} exec fallocate "$@"\n`
  writeFileSync(join(programs, 'fallocate'), script, { mode: 0o755 })
  const logger = { warn: () => undefined }
  const killed = keepBallast({ dataDir: folder, path: `${programs}:${path}` }, logger, ballastSize)
  await expect.poll(() => existsSync(join(place, 'half'))).toBe(true)
  // The copy is the data folder as it would be if the server were killed now.
  cpSync(folder, left, { recursive: true })
  writeFileSync(join(place, 'go'), '')
  await killed.close()

  const giveBack = holdDataFolder(left)
  const kept = keepBallast({ dataDir: left, path }, logger, ballastSize)
  const bytes = () => statSync(join(left, 'ballast'), { throwIfNoEntry: false })?.size
  await expect.poll(bytes).toBe(ballastSize())
  await kept.close()
  giveBack()
  expect(existsSync(join(left, 'ballast.half'))).toBe(false)
})
