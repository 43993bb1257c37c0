import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSandbox } from '../../../tests/runner/environmentScene.ts'
import { makeScene, type Scene } from '../../../tests/runner/workspaceScene.ts'
import { packHome } from './setupArchive.ts'
import { searchFor } from './archiveFilter.ts'

let scene: Scene
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n' })
})
afterEach(() => scene.remove())

/** Packs a home on a disk that takes this much of each write. */
async function packedOn(takes: (bytes: number) => number, createdAfterMs = 0): Promise<number> {
  const workspace = { ...(await scene.prepare()), owner: undefined }
  await mkdir(join(workspace.homeDir, '.cache'), { recursive: true })
  await writeFile(join(workspace.homeDir, '.cache/file'), 'cached')
  return packHome({
    sandbox: testSandbox,
    workspace,
    to: join(scene.root, 'home.tar'),
    search: searchFor([]),
    signal: new AbortController().signal,
    leftOut: () => undefined,
    mayWrite: () => undefined,
    create: async () => {
      await pause(createdAfterMs)
      return {
        writev: async (buffers) => ({
          buffers,
          bytesWritten: takes(buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)),
        }),
        sync: async () => undefined,
        close: async () => undefined,
      }
    },
  })
}

test('an archive of which the disk took only a part is none', async () => {
  await expect(packedOn((bytes) => bytes - 1)).rejects.toThrow("The server's disk is full.")
})

test('an archive of which the disk took everything is one', async () => {
  expect(await packedOn((bytes) => bytes)).toBeGreaterThan(endBytes)
})

test('an archive on a slow disk has everything, though packing is quick', async () => {
  expect(await packedOn((bytes) => bytes, 500)).toBeGreaterThan(endBytes)
})

/** The size of an archive without any file. */
const endBytes = 1_024
