/** Which files of a repository are read for its agents, and which files of a malicious one are not. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeScene, testGit, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { openAbilities } from '../abilities.ts'
import { abilityLimits, baseCommitOf, readAbilityFiles } from './abilityFiles.ts'
import { gitText } from './git.ts'

let scene: Scene
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n', 'CLAUDE.md': 'At the root.\n' })
})
afterEach(() => scene.remove())

const read = async (commit: string) => readAbilityFiles(testGit, { gitDir: scene.remote, commit })
const pathsOf = async (commit: string) => (await read(commit)).files.map(({ path }) => path)

test('what is for agents is read, byte for byte, and nothing else', async () => {
  const bytes = Uint8Array.from([0, 255, 10, 13])
  const commit = await scene.commit({
    '.claude/skills/greet/SKILL.md': 'Greet.\n',
    '.claude/skills/greet/logo.png': bytes,
    '.claude/commands/ship.md': '',
    '.claude/agents/checker.md': 'Check.',
    '.claude/rules/always.md': 'Always.',
    '.claude/settings.json': '{"hooks":{}}',
    '.claude/settings.local.json': '{}',
    '.claude/hooks/run.sh': 'exit 1',
    '.mcp.json': '{}',
    'packages/a/CLAUDE.md': 'A.',
    'packages/b/AGENTS.md': 'B.',
    'packages/b/.claude/skills/x/SKILL.md': 'Not at the root.',
    'packages/notCLAUDE.md': 'No.',
  })
  const { files, notes } = await read(commit)
  expect(Object.fromEntries(files.map(({ path, content }) => [path, [...content]]))).toEqual({
    '.claude/skills/greet/SKILL.md': [...Buffer.from('Greet.\n')],
    '.claude/skills/greet/logo.png': [...bytes],
    '.claude/commands/ship.md': [],
    '.claude/agents/checker.md': [...Buffer.from('Check.')],
    '.claude/rules/always.md': [...Buffer.from('Always.')],
    '.claude/settings.json': [...Buffer.from('{"hooks":{}}')],
    'packages/a/CLAUDE.md': [...Buffer.from('A.')],
    'packages/b/AGENTS.md': [...Buffer.from('B.')],
  })
  expect(notes).toEqual([])
})

describe('a hostile repository', () => {
  /** A commit with these entries in one folder, which no checkout would make. */
  async function crafted(folder: string, entries: readonly (readonly [mode: string, name: string])[]) {
    const at = { gitDir: scene.remote }
    const blob = await gitText(testGit, {
      ...at,
      args: ['hash-object', '-w', '--stdin'],
      input: '/etc/passwd',
    })
    const tree = (lines: readonly string[]) =>
      gitText(testGit, { ...at, args: ['mktree', '-z', '--missing'], input: lines.join('') })
    let id = await tree(
      entries.map(([mode, name]) =>
        mode === '160000' ? `${mode} commit ${'a'.repeat(40)}\t${name}\0` : `${mode} blob ${blob}\t${name}\0`,
      ),
    )
    for (const name of folder.split('/').toReversed()) id = await tree([`040000 tree ${id}\t${name}\0`])
    const identity = Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Mallory'],
        [`GIT_${who}_EMAIL`, 'mallory@example.com'],
      ]),
    )
    return gitText(testGit, { ...at, env: identity, args: ['commit-tree', '-m', 'Odd', id] })
  }

  test('links, submodules and absurd names are left out, and named', async () => {
    const commit = await crafted('.claude/commands', [
      ['100644', 'fine.md'],
      ['120000', 'link.md'],
      ['160000', 'module.md'],
      ['100644', 'two\nlines.md'],
      ['100644', 'right\u202eto-left.md'],
      ['100644', 'back\\slash.md'],
      ['100644', `${'long'.repeat(60)}.md`],
    ])
    const { files, notes, leftOut } = await read(commit)
    expect(leftOut).toHaveLength(6)
    expect(files.map(({ path }) => path)).toEqual(['.claude/commands/fine.md'])
    expect(notes).toEqual([
      expect.stringMatching(/^The agent does not get .*no plain files: .*link\.md, .*module\.md\.$/),
      expect.stringMatching(/^The agent does not get .*name that cannot be used: .*two\ufffdlines\.md/),
    ])
    expect(notes.join('')).not.toMatch(/[\n\u202e]/)
  })

  test('no path leads out of the home', async () => {
    for (const folder of ['.claude/skills/..', '.claude/commands/../../..', 'packages/..']) {
      const commit = await crafted(folder, [['100644', 'CLAUDE.md']])
      expect(await read(commit)).toMatchObject({ files: [], notes: [expect.stringContaining('..')] })
    }
  })

  test('huge files, and more than fits, are left out and named', async () => {
    const large = 'x'.repeat(abilityLimits.fileBytes + 1)
    const tooLarge = await scene.commit({
      '.claude/skills/a/huge.bin': large,
      '.claude/skills/a/SKILL.md': 'A',
    })
    expect(await read(tooLarge)).toMatchObject({
      files: [{ path: '.claude/skills/a/SKILL.md' }],
      notes: [expect.stringContaining('.claude/skills/a/huge.bin')],
    })
    const many = Object.fromEntries(
      Array.from({ length: 505 }, (_, n) => [`.claude/commands/c${String(n).padStart(3, '0')}.md`, `${n}`]),
    )
    const { files, notes } = await read(await scene.commit(many))
    expect(files).toHaveLength(abilityLimits.files)
    expect(notes.at(-1)).toMatch(/more than 500 files or 4 MiB: .* and \d+ more\.$/)
  })

  test('all together come to 4 MiB at most', async () => {
    const most = 'y'.repeat(abilityLimits.fileBytes)
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `.claude/skills/s/${n}.txt`,
        `${String(n).padStart(2)}${most.slice(2)}`,
      ]),
    )
    const { files, notes } = await read(await scene.commit(many))
    expect(files.reduce((sum, { content }) => sum + content.length, 0)).toBe(abilityLimits.allBytes)
    expect(notes).toHaveLength(1)
  })
})

describe('of a task', () => {
  const abilities = () => openAbilities({ git: testGit, logger: { warn: () => undefined } })

  test('the commit of the base branch counts, and not what its own branch was pushed with', async () => {
    await scene.commit({ '.claude/commands/mine.md': 'Mine.' })
    const base = await scene.commit({ 'a.txt': 'a' })
    await gitText(testGit, { gitDir: scene.remote, args: ['branch', 'flightdeck/work', 'main'] })
    await scene.commit({ '.claude/commands/planted.md': 'Planted.' }, 'flightdeck/work')
    const workspace = await scene.prepare({ workingBranch: 'flightdeck/work' })
    expect(await baseCommitOf(testGit, workspace)).toBe(base)
    const { files } = await abilities().of(workspace)
    expect(files.map(({ path }) => path)).toEqual(['.claude/commands/mine.md'])
  })

  test('what cannot be read is told, and is asked for again', async () => {
    await scene.commit({ '.claude/commands/mine.md': 'Mine.' })
    const workspace = await scene.prepare()
    let fails = true
    const opened = openAbilities({
      git: async (call) =>
        fails && call.args[0] === 'ls-tree' ? Promise.reject(new Error('away')) : testGit(call),
      logger: { warn: () => undefined },
    })
    expect(await opened.of(workspace)).toEqual({
      files: [],
      leftOut: [],
      notes: ['The skills and commands of the repository could not be read.'],
    })
    fails = false
    expect((await opened.of(workspace)).files).toHaveLength(1)
  })
})

test('a repository without any has none', async () => {
  expect(
    await pathsOf(await gitText(testGit, { gitDir: scene.remote, args: ['rev-parse', 'main'] })),
  ).toEqual([])
})
