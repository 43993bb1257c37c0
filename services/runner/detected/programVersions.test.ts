import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noSandbox } from '../sandbox/none.ts'
import { testGit } from '../../../tests/runner/workspaceScene.ts'
import { openProgramVersions } from './programVersions.ts'

test('programs say their version, one that is not there has none, and one that fails is left out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-programs-'))
  const program = async (name: string, script: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(folder, name), 0o755)
  }
  try {
    await program('java', `echo 'openjdk version "21.0.3" 2024' >&2`)
    await program('python3', 'exit 3')
    await program('node', `exec ${process.execPath} "$@"`)
    const versions = openProgramVersions({ sandbox: noSandbox({ path: folder, git: testGit }) })
    expect(Object.fromEntries(await versions())).toEqual({
      node: process.versions.node,
      go: null,
      rust: null,
      java: '21.0.3',
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('where there is no sandbox, no version is known', async () => {
  const versions = openProgramVersions({
    sandbox: { missing: 'There is none.' },
  })
  expect([...(await versions())]).toEqual([])
})
