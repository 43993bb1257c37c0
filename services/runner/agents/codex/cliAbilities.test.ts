/** The real `codex` with what a repository and a person bring to it: it reads its home as we take it for. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { codexProgram } from '../../../../tests/codexProgram.ts'
import { startResponsesApi } from '../../../../tests/standins/responsesApi.ts'
import { startBroker } from '../../model/broker.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { writeHome } from '../home.ts'
import type { Located } from '../locate.ts'
import { codexHome, codexSkills, tokenVariable } from './home.ts'

const threads = textThreads()
let program: Located
beforeAll(async () => {
  program = await codexProgram()
}, 300_000)
afterAll(() => threads.close())

let folder = ''
let clean: (() => Promise<unknown>)[] = []
beforeEach(async (context) => {
  if (!program.found) return context.skip(program.reason)
  folder = await realpath(await mkdtemp(join(tmpdir(), 'codex-abilities-')))
})
afterEach(async () => {
  for (const step of clean.reverse()) await step()
  clean = []
  if (folder !== '') await rm(folder, { recursive: true, force: true })
})

test('skills, commands as skills, and instructions reach the model', async () => {
  if (!program.found) throw new Error(program.reason)
  const [home, workspace] = [join(folder, 'home'), join(folder, 'workspace')]
  for (const place of [home, workspace]) await mkdir(place)
  const file = (path: string, text: string) => ({ path, content: Buffer.from(text), isExecutable: false })
  const files = codexHome(new Set(), workspace, {
    files: [
      file('.claude/skills/greet/SKILL.md', '---\nname: greet\ndescription: Greets people\n---\nSay hello.'),
      file('.claude/commands/docs/check.md', '---\ndescription: Checks documents\n---\nCheck them all.'),
      file('packages/a/AGENTS.md', 'In a.'),
    ],
    instructions: 'I like short answers.',
    commands: [{ name: 'tidy', description: 'Tidies "all": of it', text: 'Tidy for me.' }],
  })
  await writeHome(home, files, undefined, [codexSkills])
  const api = await startResponsesApi([{ turns: [{ text: 'Fine.' }] }])
  clean.push(() => api.close())
  const broker = await startBroker({
    listen: 'loopback',
    runToken: 'token-of-this-run',
    upstream: { kind: 'http', api: 'responses', baseUrl: api.baseUrl, apiKey: 'sk-key' },
    threads,
    onUsage: () => undefined,
    onFault: () => undefined,
  })
  clean.push(() => broker.close())
  const address = `model_providers.flightdeck.base_url="http://127.0.0.1:${broker.port}/v1"`
  const args = ['exec', '--json', '--skip-git-repo-check', '--config', address, '-']
  const child = spawn(program.path, args, {
    cwd: workspace,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, [tokenVariable]: 'token-of-this-run' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.end('Use $greet, $docs:check and $tidy')
  await once(child, 'close')
  const asked = JSON.stringify(api.requests.map(({ body }) => body))
  for (const text of ['Greets people', 'Checks documents', 'I like short answers.', 'packages/a/AGENTS.md'])
    expect(asked).toContain(text)
  for (const text of ['Say hello.', 'Check them all.', 'Tidy for me.']) expect(asked).toContain(text)
})
