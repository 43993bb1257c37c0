import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claudeHome } from './claude/home.ts'
import { writeHome } from './home.ts'

let home = ''
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'home-')))
})
afterEach(() => rm(home, { recursive: true, force: true }))

test('the instructions that a repository has are given back, and no others', () => {
  const instructions = (present: string[]) => claudeHome(new Set(present))[0]?.content
  expect(instructions(['CLAUDE.md', 'AGENTS.md', 'README.md'])).toBe(
    '@/workspace/CLAUDE.md\n@/workspace/AGENTS.md\n',
  )
  expect(instructions(['AGENTS.md'])).toBe('@/workspace/AGENTS.md\n')
  expect(instructions([])).toBe('')
})

test('a home is written for one user alone, and again without touching what the CLI keeps there', async () => {
  await writeHome(home, claudeHome(new Set()))
  await writeFile(join(home, '.claude.json'), '{"kept":true}')
  await writeHome(home, claudeHome(new Set(['CLAUDE.md'])))
  expect(await readFile(join(home, '.claude.json'), 'utf8')).toBe('{"kept":true}')
  expect(await readFile(join(home, '.claude/CLAUDE.md'), 'utf8')).toBe('@/workspace/CLAUDE.md\n')
  expect((await stat(join(home, '.claude/settings.json'))).mode & 0o777).toBe(0o600)
  expect((await stat(join(home, '.claude'))).mode & 0o777).toBe(0o700)
})

describe('what an agent left in its home', () => {
  const precious = () => join(home, 'precious')
  beforeEach(() => writeFile(precious(), 'untouched'))

  test.each([
    ['a link to a file', () => symlink(precious(), join(home, '.claude.json'))],
    ['a second name of a file', () => link(precious(), join(home, '.claude.json'))],
    ['a folder', () => mkdir(join(home, '.claude.json'))],
    ['a link to a folder', () => symlink(home, join(home, '.claude'))],
    ['a file where a folder is to be', () => writeFile(join(home, '.claude'), 'x')],
  ])('%s is not written through, and makes way', async (_, plant) => {
    await plant()
    await writeHome(home, claudeHome(new Set()))
    expect(await readFile(precious(), 'utf8')).toBe('untouched')
    expect((await lstat(join(home, '.claude'))).isDirectory()).toBe(true)
    expect((await lstat(join(home, '.claude.json'))).isFile()).toBe(true)
    expect((await readdir(home)).toSorted()).toEqual(['.claude', '.claude.json', 'precious'])
  })
})
