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
import { codexHome } from './codex/home.ts'
import { nothingBrought, writeHome } from './home.ts'
import type { Brought } from './port.ts'

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

describe('what a repository and a person bring', () => {
  const file = (path: string, text: string) => ({ path, content: Buffer.from(text), isExecutable: false })
  const brought: Brought = {
    files: [
      file('.claude/skills/greet/SKILL.md', '---\nname: greet\ndescription: Greets\n---\nGreet.'),
      file('.claude/commands/ship.md', '---\ndescription: Ships\n---\nShip.'),
      file('.claude/commands/docs/check.md', 'Check.'),
      file('.claude/agents/checker.md', '---\nname: checker\n---\nCheck.'),
      file('packages/a/AGENTS.md', 'In a.'),
    ],
    instructions: 'Be short.',
    commands: [
      { name: 'ship', description: 'Mine', text: 'Not this.' },
      { name: 'tidy', description: 'Tidies', text: 'Tidy.' },
    ],
  }
  const asText = (files: ReturnType<typeof claudeHome>) =>
    Object.fromEntries(files.map(({ path, content }) => [path, content.toString()]))

  test('claude has it where it looks, with the words of the person before those of the repository', () => {
    expect(asText(claudeHome(new Set(['CLAUDE.md']), '/workspace', brought))).toMatchObject({
      '.claude/CLAUDE.md': 'Be short.\n\n@/workspace/CLAUDE.md\n',
      '.claude/skills/greet/SKILL.md': expect.stringContaining('Greet.'),
      '.claude/commands/ship.md': '---\ndescription: Ships\n---\nShip.',
      '.claude/commands/docs/check.md': 'Check.',
      '.claude/commands/tidy.md': '---\ndescription: "Tidies"\n---\nTidy.',
      '.claude/agents/checker.md': expect.stringContaining('Check.'),
      '.claude/rules/of-folders/0.md': expect.stringContaining('"packages/a/**"'),
    })
  })

  test('codex has it as skills, and is told of the folders with instructions', () => {
    const home = asText(codexHome(new Set(['AGENTS.md']), '/workspace', brought))
    expect(home['.codex/AGENTS.md']).toBe(
      'Be short.\n\nRead /workspace/AGENTS.md before you begin, and follow the instructions for this repository there.\n' +
        'Before you work in one of these folders, read its own instructions:\n- /workspace/packages/a/AGENTS.md, for files in packages/a/\n',
    )
    expect(Object.keys(home).filter((path) => path.startsWith('.agents/'))).toEqual([
      '.agents/skills/greet/SKILL.md',
      '.agents/skills/ship/SKILL.md',
      '.agents/skills/docs-check/SKILL.md',
      '.agents/skills/tidy/SKILL.md',
    ])
    expect(home['.agents/skills/ship/SKILL.md']).toBe('---\nname: "ship"\ndescription: "Ships"\n---\nShip.')
  })

  test('what is no longer brought goes, whatever the agent made of its folder', async () => {
    const precious = join(home, 'precious')
    await mkdir(precious)
    await writeFile(join(precious, 'kept'), 'untouched')
    const write = (files: Brought) =>
      writeHome(home, claudeHome(new Set(), '/workspace', files), undefined, [
        '.claude/commands',
        '.claude/skills',
      ])
    await write(brought)
    await writeFile(join(home, '.claude/commands/planted.md'), 'Planted.')
    await rm(join(home, '.claude/skills'), { recursive: true })
    await symlink(precious, join(home, '.claude/skills'))
    await write({ ...nothingBrought, commands: brought.commands })
    expect((await readdir(join(home, '.claude/commands'))).toSorted()).toEqual(['ship.md', 'tidy.md'])
    expect((await readdir(join(home, '.claude'))).includes('skills')).toBe(false)
    await rm(join(home, '.claude'), { recursive: true })
    await mkdir(join(precious, 'commands'))
    await symlink(precious, join(home, '.claude'))
    await write(brought)
    expect((await readdir(precious)).toSorted()).toEqual(['commands', 'kept'])
  })
})
