import { chmod, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { locateClaude, locateCursor } from './locate.ts'

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

const nowhere = { platform: 'plan9', arch: 'mips', musl: false }

describe('claude', () => {
  test('is what is configured, and nothing else', async () => {
    const configured = await program('mine', 'echo "9.8.7 (Claude Code)"')
    await program('claude', 'echo 1.0.0')
    expect(await locateClaude({ configured, path: folder })).toEqual({
      found: true,
      path: configured,
      version: '9.8.7',
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
    })
  })

  test('is the installed one when the path has none that starts', { timeout: 20_000 }, async () => {
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

test('cursor-agent is on the path or missed', async () => {
  expect(await locateCursor({ configured: undefined, path: folder })).toMatchObject({ found: false })
  const path = await program('cursor-agent', 'echo 2026.01.02-abc')
  expect(await locateCursor({ configured: undefined, path: folder })).toEqual({
    found: true,
    path,
    version: '2026.01.02-abc',
  })
})
