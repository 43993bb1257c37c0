import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { locateClaude } from './claude/claude.ts'
import { locateCursor } from './cursor/cursor.ts'

let folder = ''
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'locate-')))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

const nowhere = { platform: 'plan9', arch: 'mips' }

describe('claude', () => {
  test('is what is configured, and nothing else', async () => {
    const configured = await program('mine', 'echo "9.8.7 (Claude Code)"')
    await program('claude', 'echo 1.0.0')
    expect(await locateClaude({ configured, path: folder })).toEqual({
      found: true,
      path: configured,
      version: '9.8.7',
      shown: configured,
    })
    expect(await locateClaude({ configured: join(folder, 'none'), path: folder })).toEqual({
      found: false,
      reason: expect.stringMatching(/^CLAUDE_BIN names .*none, which/),
    })
  })

  test('is on the path, by its own name and without links', async () => {
    const path = await program('the-program', 'echo 2.3.4')
    await symlink(path, join(folder, 'claude'))
    expect(await locateClaude({ configured: undefined, path: `/none:${folder}` })).toEqual({
      found: true,
      path,
      version: '2.3.4',
      shown: path,
    })
  })

  test('is the installed one when the path has none that starts', async () => {
    await program('claude', 'exit 3')
    const located = await locateClaude({ configured: undefined, path: folder })
    expect(located).toMatchObject({ found: true, path: expect.stringMatching(/claude-code-[\w-]+\/claude$/) })
  })

  test('a program that hangs is passed over', async () => {
    await program('claude', 'exec sleep 60')
    const located = await locateClaude(
      { configured: undefined, path: `${folder}:/bin`, timeoutMs: 200 },
      nowhere,
    )
    expect(located.found).toBe(false)
  })

  test('is missed with a sentence that says what to do', async () => {
    expect(await locateClaude({ configured: undefined, path: folder }, nowhere)).toEqual({
      found: false,
      reason: expect.stringContaining('CLAUDE_BIN'),
    })
  })
})

describe('cursor-agent', () => {
  const version = '2026.01.02-abc'

  test('is on the path or missed, with a sentence that says what to do', async () => {
    expect(await locateCursor({ configured: undefined, path: folder })).toEqual({
      found: false,
      reason: expect.stringMatching(/Cursor's own installer.*CURSOR_BIN/),
    })
    const path = await program('cursor-agent', `echo ${version}`)
    const found = { found: true, path, version, shown: path }
    expect(await locateCursor({ configured: undefined, path: folder })).toEqual(found)
  })

  test('is where its installer puts it, shown with the parts that lie beside it', async () => {
    const versions = join(folder, 'share', version)
    const bin = join(folder, '.local/bin')
    await mkdir(versions, { recursive: true })
    await mkdir(bin, { recursive: true })
    const path = await program(`share/${version}/cursor-agent`, `echo ${version}`)
    await writeFile(join(versions, 'index.js'), '')
    await symlink(path, join(bin, 'cursor-agent'))
    expect(await locateCursor({ configured: undefined, path: '/none', home: folder })).toEqual({
      found: true,
      path,
      version,
      shown: versions,
    })
  })

  test('that is configured and none is told by its variable', async () => {
    expect(await locateCursor({ configured: join(folder, 'none'), path: folder })).toEqual({
      found: false,
      reason: expect.stringMatching(/^CURSOR_BIN names .*none, which/),
    })
  })
})
