/**
 * An imitation of `cursor-agent`, made from its documented format: its output is what the real program is documented to print. It calls no model, but
 * does what the prompt says; see `acts`.
 */
import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setInterval } from 'node:timers'
import { parseArgs } from 'node:util'

const models = ['auto', 'composer-2', 'gpt-5.3-codex']
/** The list of the real program is long. */
const listed = [...models, ...Array.from({ length: 100 }, (_, n) => `gpt-${n}-codex-high-fast`)]
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    version: { type: 'boolean', short: 'v' },
    print: { type: 'boolean', short: 'p' },
    'output-format': { type: 'string' },
    'stream-partial-output': { type: 'boolean' },
    force: { type: 'boolean', short: 'f' },
    resume: { type: 'string' },
    model: { type: 'string' },
    'api-key': { type: 'string' },
  },
})

if (values.version) {
  process.stdout.write('2026.01.28-lookalike\n')
  process.exit(0)
}

const cwd = process.cwd()
const home = process.env['HOME'] ?? ''
/** Chats are stored in the home, by the folder in which they took place. */
const chats = join(home, '.cursor/chats', createHash('md5').update(cwd).digest('hex'))
const session_id = values.resume ?? randomUUID()

if (!values.print || values['output-format'] !== 'stream-json')
  fail('This look-alike only prints stream-json.')
if (!values.force) fail('Workspace Trust Required: pass --trust or --force.')
const key = values['api-key'] ?? process.env['CURSOR_API_KEY']
if (!key) fail("Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY.")
if (key === 'a-wrong-key')
  fail('⚠ Warning: The provided API key is invalid.\nThe API key was loaded from CURSOR_API_KEY.')
const model = values.model ?? 'auto'
if (!models.includes(model)) fail(`Cannot use this model: ${model}. Available models: ${listed.join(', ')}`)

const earlier = values.resume === undefined ? [] : chatOf(values.resume)
const prompt = positionals.join(' ') || readFileSync(0, 'utf8')
mkdirSync(chats, { recursive: true })
writeFileSync(join(chats, `${session_id}.json`), JSON.stringify([...earlier, prompt]))

print({
  type: 'system',
  subtype: 'init',
  apiKeySource: 'env',
  cwd,
  session_id,
  model: model === 'auto' ? 'Auto' : model,
  permissionMode: 'default',
})
print({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: prompt }] }, session_id })

/** What the program does for each prompt, by the beginning of the prompt; the returned text is the answer. */
const acts = [
  [
    /^Write (\S+)/,
    () => {
      const path = join(cwd, /^Write (\S+)/.exec(prompt)?.[1] ?? '')
      const fileText = 'Written by a look-alike.\n'
      say('I write it.', 'before a tool')
      call('writeToolCall', { path, fileText }, () => {
        writeFileSync(path, fileText)
        return { success: { path, linesCreated: 1, fileSize: fileText.length } }
      })
      return 'Written.'
    },
  ],
  [
    /^Run what fails/,
    () => {
      call('shellToolCall', { command: 'echo tried; exit 3' }, () => shell('echo tried; exit 3'))
      return 'It failed.'
    },
  ],
  [
    /^Print the key/,
    () => {
      call('shellToolCall', { command: 'printenv CURSOR_API_KEY' }, () => shell('printenv CURSOR_API_KEY'))
      return `The key is ${key}.`
    },
  ],
  [/^Answer 401/, () => fail('Error: [unauthenticated] request failed with status 401')],
  [/^Answer 429/, () => fail('ConnectError: [resource_exhausted] 429 Too Many Requests')],
  [/^Answer 529/, () => fail('ConnectError: [unavailable] 529 Overloaded')],
  [/^Wait|^Be silent/, () => stay()],
  [/^Hang after/, () => 'I am done and stay.'],
  [
    /^What did I say/,
    () => `You said: ${earlier.map((said) => said.split('\n', 1)[0]).join(' / ')}. ${seen()}`,
  ],
]

await act()

async function act() {
  print({ type: 'thinking', subtype: 'delta', text: 'I think.', session_id, timestamp_ms: Date.now() })
  print({ type: 'thinking', subtype: 'completed', session_id, timestamp_ms: Date.now() })
  if (prompt.startsWith('Wait')) say('I have begun.', 'without an end')
  const [, doIt] = acts.find(([when]) => when.test(prompt)) ?? [undefined, () => `Done. ${seen()}`]
  const answer = await doIt()
  say(answer, 'at the end')
  print({
    type: 'result',
    subtype: 'success',
    duration_ms: Math.round(performance.now()),
    duration_api_ms: 1,
    is_error: false,
    result: answer,
    session_id,
    request_id: randomUUID(),
    usage: { inputTokens: 11, outputTokens: 7, cacheReadTokens: 5, cacheWriteTokens: 3 },
  })
  if (prompt.startsWith('Hang after')) await stay()
}

/** The images that the prompt names, each with its size and hash. */
function seen() {
  const paths = [...prompt.matchAll(/^- (\S+\.(?:png|jpg|gif|webp))$/gm)].map(([, path = '']) => path)
  return paths
    .map((path) => {
      const bytes = readFileSync(path)
      return `I see ${bytes.length} bytes, ${createHash('sha256').update(bytes).digest('hex')}.`
    })
    .join(' ')
}

/**
 * Prints a text as `--stream-partial-output` does: in pieces, and then once more as a whole.
 * @param {string} text
 * @param {'before a tool' | 'at the end' | 'without an end'} how
 */
function say(text, how) {
  const message = (/** @type {string} */ part) => ({
    role: 'assistant',
    content: [{ type: 'text', text: part }],
  })
  for (const piece of text.split(/(?<= )/))
    print({ type: 'assistant', message: message(piece), session_id, timestamp_ms: Date.now() })
  const again = { type: 'assistant', message: message(text), session_id }
  if (how === 'before a tool') print({ ...again, model_call_id: 'model-1', timestamp_ms: Date.now() })
  if (how === 'at the end') print(again)
}

/**
 * Calls a tool. The id has two lines, which the format allows.
 * @param {string} key
 * @param {object} args
 * @param {() => object} run
 */
function call(key, args, run) {
  const line = {
    type: 'tool_call',
    call_id: `call_${randomUUID()}\nfc_1`,
    model_call_id: 'model-1',
    session_id,
    timestamp_ms: Date.now(),
  }
  print({ ...line, subtype: 'started', tool_call: { [key]: { args } } })
  print({ ...line, subtype: 'completed', tool_call: { [key]: { args, result: run() } } })
}

/** @param {string} command */
function shell(command) {
  try {
    const stdout = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' })
    return { success: { exitCode: 0, stdout, stderr: '', executionTime: 1 } }
  } catch (fault) {
    const { status = null, stdout = '', stderr = '' } = /** @type {Record<string, unknown>} */ (fault)
    return { failure: { exitCode: status, stdout, stderr, executionTime: 1 }, isBackground: false }
  }
}

/** @param {string} id @returns {readonly string[]} */
function chatOf(id) {
  try {
    return JSON.parse(readFileSync(join(chats, `${id}.json`), 'utf8'))
  } catch {
    return fail(`Error: Chat ${id} not found.`)
  }
}

/** A promise that never resolves. */
function stay() {
  return new Promise(() => setInterval(() => {}, 60_000))
}

/** @param {object} line */
function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Prints a failure on standard error, without a result. */
function fail(said) {
  process.stderr.write(`${said}\n`)
  process.exit(1)
}
