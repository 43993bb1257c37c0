/** The real `claude` CLI with the files of a repository and a person. It also tests that the CLI still reads its home as we assume. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startMessagesApi, type Script } from '../../../../tests/standins/messagesApi.ts'
import { refusedCommands } from '#domain/task/slashCommands.ts'
import { startBroker } from '../../model/broker.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { abilitiesIn } from '../abilities.ts'
import { nothingBrought, writeHome } from '../home.ts'
import type { Brought } from '../port.ts'
import { claude, locateClaude } from './claude.ts'
import { claudeFolders, claudeHome } from './home.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

const patience = 60_000
const threads = textThreads()
let folder = ''
let workspace = ''
let home = ''
let clean: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'abilities-')))
  workspace = join(folder, 'workspace')
  home = join(folder, 'home')
  for (const place of [workspace, home]) await mkdir(place)
})
afterEach(async () => {
  for (const step of clean.reverse()) await step()
  clean = []
  await rm(folder, { recursive: true, force: true })
})
afterAll(() => threads.close())

const repository = (files: Readonly<Record<string, string>>): Brought['files'] =>
  Object.entries(files).map(([path, text]) => ({
    path,
    content: Buffer.from(text),
    isExecutable: path.endsWith('.sh'),
  }))

/** What the model is asked after each of these messages, one conversation; `init` is what the CLI says of itself. */
async function conversation(brought: Brought, scripts: readonly Script[], messages: readonly string[]) {
  const located = await locateClaude({ configured: undefined, path: '' })
  if (!located.found) throw new Error(located.reason)
  await writeHome(home, claudeHome(new Set(), workspace, brought), undefined, claudeFolders)
  const api = await startMessagesApi([...scripts, { turns: [{ text: 'Fine.' }] }])
  clean.push(() => api.close())
  const socketPath = join(folder, 'model.sock')
  const broker = await startBroker({
    listen: { socketPath, owner: undefined },
    runToken: 'token-of-this-run',
    upstream: { kind: 'http', api: 'messages', baseUrl: api.baseUrl, apiKey: 'sk-key' },
    threads,
    onUsage: () => undefined,
    onFault: () => undefined,
  })
  clean.push(() => broker.close())
  const { argv, env } = claude.launch({
    binary: located.path,
    session: { kind: 'new', id: randomUUID() },
    model: null,
    access: { kind: 'socket', socketPath, runToken: 'token-of-this-run', scripted: false },
    isRoot: process.getuid?.() === 0,
    mode: 'free',
    allowedRules: [],
  })
  const dialogue = claude.dialogue({ model: null, mode: 'free' })
  const child = spawn(argv[0] ?? '', argv.slice(1), {
    cwd: workspace,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, TMPDIR: home, CLAUDE_CODE_TMPDIR: home, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  clean.push(async () => child.kill('SIGKILL'))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  const results = () => printed.split('"type":"result"').length - 1
  const asked: string[] = []
  for (const message of messages) {
    const [before, from] = [results(), api.requests.length]
    child.stdin.write(dialogue.message({ text: message, images: [], id: randomUUID() }))
    for (const end = Date.now() + patience / 2; results() === before; await sleep(5))
      if (Date.now() > end || child.exitCode !== null) throw new Error(`No answer to ${message}: ${printed}`)
    asked.push(
      api.requests
        .slice(from)
        .map(({ body }) => JSON.stringify(body))
        .join('\n'),
    )
  }
  return { asked, init: printed.split('\n').find((line) => line.includes('"subtype":"init"')) ?? '' }
}

describe('what a repository brings', { timeout: patience }, () => {
  const files = repository({
    '.claude/skills/greet/SKILL.md':
      '---\nname: greet\ndescription: Greets people warmly\n---\nSay hello to $ARGUMENTS.',
    '.claude/skills/greet/scripts/hello.sh': '#!/bin/sh\necho "hello from the script"\n',
    '.claude/commands/ship.md': '---\ndescription: Ships it\n---\nShip to $ARGUMENTS at once.',
    '.claude/commands/docs/check.md': 'Check all the documents.',
    '.claude/agents/checker.md':
      '---\nname: checker\ndescription: Checks the work\n---\nYou check, and say xyzzy.',
    '.claude/rules/always.md': 'Everybody says plugh.',
    'packages/[id]/CLAUDE.md': 'Here everybody says frotz.',
  })

  // Shows claude: commands, subagents.
  test('a skill and its script, a command and a subagent are used', async () => {
    const script = join(home, '.claude/skills/greet/scripts/hello.sh')
    const skill = { name: 'Skill', input: { skill: 'greet', args: 'Bob' } }
    const subagent = { subagent_type: 'checker', description: 'Check', prompt: 'Please check' }
    const { asked, init } = await conversation(
      { ...nothingBrought, files },
      [
        { when: /^Greet/, turns: [{ tools: [skill] }] },
        { when: /^Run/, turns: [{ tools: [{ name: 'Bash', input: { command: script } }] }] },
        { when: /^Delegate/, turns: [{ tools: [{ name: 'Agent', input: subagent }] }] },
      ],
      ['Greet Bob', 'Run the script', 'Delegate this', '/ship Mars', '/docs:check', '/greet Ada'],
    )
    expect(JSON.parse(init)).toMatchObject({
      slash_commands: expect.arrayContaining(['greet', 'ship', 'docs:check']),
      agents: expect.arrayContaining(['checker']),
    })
    const [greeted, ran, delegated, shipped, checked, greetedByName] = asked
    expect(greeted).toContain('Greets people warmly')
    expect(greeted).toContain('Say hello to Bob.')
    expect(ran).toContain('hello from the script')
    expect(delegated).toContain('You check, and say xyzzy.')
    expect(shipped).toContain('Ship to Mars at once.')
    expect(checked).toContain('Check all the documents.')
    expect(greetedByName).toContain('Say hello to Ada.')
  })

  test('a rule counts from the start, instructions of a folder once a file in it is read', async () => {
    const file_path = join(workspace, 'packages/[id]/page.ts')
    await mkdir(dirname(file_path), { recursive: true })
    await writeFile(file_path, 'export {}\n')
    const { asked } = await conversation(
      { ...nothingBrought, files },
      [{ when: /^Read/, turns: [{ tools: [{ name: 'Read', input: { file_path } }] }, { text: 'Read.' }] }],
      ['Hello', 'Read the page'],
    )
    expect(asked[0]).toContain('Everybody says plugh.')
    expect(asked[0]).not.toContain('frotz')
    expect(asked[1]).toContain('Here everybody says frotz.')
  })

  // Each start of the CLI takes a second of computing, so `npm test` leaves these to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test("a command is used in place of each of the CLI's own that would be refused", async () => {
      const own = refusedCommands('claude')
      const commands = Object.fromEntries(own.map((name) => [`.claude/commands/${name}.md`, `Own ${name}!`]))
      const { asked } = await conversation(
        { ...nothingBrought, files: repository(commands) },
        [],
        own.map((name) => `/${name}`),
      )
      expect(own.filter((name, index) => !asked[index]?.includes(`Own ${name}!`))).toEqual([])
    })

    test('front matter that is absurd keeps nothing else from being used', async () => {
      const odd = repository({
        '.claude/skills/odd/SKILL.md': `---\nname: [[[\ndescription: {a: b\n${'x'.repeat(100_000)}\n---\nOdd.`,
        '.claude/skills/open/SKILL.md': '---\nname: open\nno end',
        '.claude/commands/empty.md': '',
        '.claude/agents/nameless.md': '---\n---\n',
        '.claude/agents/broken.md': '\u0000---\nname: "\n',
      })
      const { asked } = await conversation(
        { ...nothingBrought, files: [...odd, ...files] },
        [],
        ['/ship Mars'],
      )
      expect(asked[0]).toContain('Ship to Mars at once.')
      expect(abilitiesIn([...odd, ...files]).map(({ name }) => name)).toEqual([
        'odd',
        'open',
        'empty',
        'greet',
        'ship',
        'docs:check',
        'checker',
      ])
    })
  })
})

// Each start of the CLI takes a second of computing, so `npm test` leaves these to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('a message mentions files and a subagent', { timeout: patience }, async () => {
    await mkdir(join(workspace, 'a folder'))
    await writeFile(join(workspace, 'notes.md'), 'What there is to know.\n')
    await writeFile(join(workspace, 'a folder/more.md'), 'There is more.\n')
    const checker = '---\nname: checker\ndescription: Checks\n---\nCheck.'
    const files = repository({ '.claude/agents/checker.md': checker })
    const messages = ['Look at @notes.md and @"a folder/more.md"', 'Let @agent-checker do it']
    const { asked } = await conversation({ ...nothingBrought, files }, [], messages)
    expect(asked[0]).toContain('What there is to know.')
    expect(asked[0]).toContain('There is more.')
    expect(asked[1]).toContain('invoke the agent \\"checker\\"')
  })
})

test(
  'what a person brings is used, and the repository has the last word',
  { timeout: patience },
  async () => {
    const { asked } = await conversation(
      {
        files: repository({ '.claude/commands/ship.md': 'Ship as the repository does.' }),
        instructions: 'I like short answers.',
        commands: [
          { name: 'ship', description: 'Mine', text: 'Ship as I do.' },
          { name: 'tidy', description: 'Tidies: "all"\nof it', text: 'Tidy $ARGUMENTS for me.' },
        ],
      },
      [],
      ['/ship', '/tidy things'],
    )
    expect(asked[0]).toContain('I like short answers.')
    expect(asked[0]).toContain('Ship as the repository does.')
    expect(asked[0]).not.toContain('Ship as I do.')
    expect(asked[1]).toContain('Tidy things for me.')
  },
)
