import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { testPath } from '../../../../tests/runner/workspaceScene.ts'
import { detectBubblewrap } from './detect.ts'
import { findProgram } from './findProgram.ts'
import { findTestSandbox } from '../../../../tests/runner/testSandbox.ts'

const { sandbox, note } = await findTestSandbox()

describe('looking for a sandbox', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'flightdeck-detect-'))
  })
  afterEach(() => rm(root, { recursive: true }))

  test.skipIf(!sandbox)(`finds one that works, and leaves nothing behind${note}`, async () => {
    expect(await detectBubblewrap({ path: testPath, root, gitProgram: 'git' })).toMatchObject({
      kind: 'works',
    })
    expect(await readdir(root)).toEqual([])
  })

  test('says how to install it where it is missing', async () => {
    const found = await detectBubblewrap({ path: '/nowhere:relative', root, gitProgram: 'git' })
    expect(found).toEqual({ kind: 'fails', why: expect.stringContaining('apt-get install bubblewrap') })
  })

  test('says what went wrong where it does not work', async () => {
    await writeFile(
      join(root, 'bwrap'),
      '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n',
    )
    await chmod(join(root, 'bwrap'), 0o755)
    const found = await detectBubblewrap({ path: root, root, gitProgram: 'git' })
    expect(found).toEqual({
      kind: 'fails',
      why: expect.stringContaining('(No permissions to create new namespace)'),
    })
  })

  test.skipIf(!sandbox)(`says that git is missing in it${note}`, async () => {
    const found = await detectBubblewrap({ path: testPath, root, gitProgram: 'no-such-git' })
    expect(found).toEqual({ kind: 'fails', why: expect.stringContaining('git does not run in it') })
  })
})

test('a program is found as a shell finds it', () => {
  expect(findProgram('sh', '/nowhere:/bin:/usr/bin')).toBe('/bin/sh')
  expect(findProgram('no-such-program', '/bin')).toBeUndefined()
})
