/** The real `codex` with the files of a repository and a person: it reads its home as we assume. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { codexProgram } from '../../../../tests/codexProgram.ts'
import { codexTurn } from '../../../../tests/runner/codexTurn.ts'
import { startResponsesApi } from '../../../../tests/standins/responsesApi.ts'
import { startBroker } from '../../model/broker.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import type { Located } from '../locate.ts'
import { codexHome } from './home.ts'

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

// Shows codex: commands.
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
  const origin = `http://127.0.0.1:${broker.port}`
  await codexTurn({ program, home, workspace, origin, files }, 'Use $greet, $docs:check and $tidy')
  const asked = JSON.stringify(api.requests.map(({ body }) => body))
  for (const text of ['Greets people', 'Checks documents', 'I like short answers.', 'packages/a/AGENTS.md'])
    expect(asked).toContain(text)
  for (const text of ['Say hello.', 'Check them all.', 'Tidy for me.']) expect(asked).toContain(text)
})
