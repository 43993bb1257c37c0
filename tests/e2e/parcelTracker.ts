/** A small repository with real tests, and a model that works on it: the subject of the pictures in `docs/screens`. */
import { createGate, type Script, type Turn } from '../standins/messagesApi.ts'

const deliver = `import { sign } from './sign.js'

/** Sends an event to a receiver. */
export async function deliver(event, endpoint, { post, log }) {
  const body = JSON.stringify(event)
  const response = await post(endpoint.url, body, { timeout: 5_000, signature: sign(body, endpoint.secret) })
  if (response.status >= 300) {
    log(\`\${event.id} was answered with \${response.status}\`)
    return false
  }
  return true
}
`

const deliverTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver } from '../src/webhooks/deliver.js'

const endpoint = { id: 'depot', url: 'https://depot.example/hooks', secret: 's3cret' }
const event = { id: 'parcel-4711', state: 'delivered' }

test('an event is sent to the receiver', async () => {
  const sent = []
  const post = async (url, body) => {
    sent.push({ url, body })
    return { status: 204 }
  }
  assert.equal(await deliver(event, endpoint, { post, log() {} }), true)
  assert.deepEqual(sent, [{ url: endpoint.url, body: JSON.stringify(event) }])
})

test('a receiver that refuses is told of in the log', async () => {
  const told = []
  const refused = { post: async () => ({ status: 500 }), log: (line) => told.push(line) }
  assert.equal(await deliver(event, endpoint, refused), false)
  assert.deepEqual(told, ['parcel-4711 was answered with 500'])
})
`

const signTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sign } from '../src/webhooks/sign.js'

test('the same body and secret have the same signature', () => {
  assert.equal(sign('{}', 's3cret'), sign('{}', 's3cret'))
})

test('another secret has another signature', () => {
  assert.notEqual(sign('{}', 's3cret'), sign('{}', 'another'))
})
`

/** A short report, as people like it: a line per test, and what was expected by a test that fails. */
const reporter = `const [green, red, dim, plain] = ['\\u001B[32m', '\\u001B[31m', '\\u001B[2m', '\\u001B[0m']

export default async function* report(events) {
  let failed = 0
  for await (const { type, data } of events) {
    if (type === 'test:pass') yield \`\${green}✓\${plain} \${data.name} \${dim}\${data.details.duration_ms.toFixed(1)} ms\${plain}\\n\`
    if (type !== 'test:fail') continue
    failed += 1
    const { actual, expected } = data.details.error.cause ?? {}
    yield \`\${red}✗ \${data.name}\${plain}\\n\`
    yield \`  expected \${green}\${JSON.stringify(expected)}\${plain}, got \${red}\${JSON.stringify(actual)}\${plain}\\n\`
  }
  yield failed === 0 ? \`\${green}All tests pass.\${plain}\\n\` : \`\${red}\${failed} failed.\${plain}\\n\`
}
`

/** The files of the repository `parcel-tracker`. */
export const parcelTracker: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(
    {
      name: 'parcel-tracker',
      version: '1.4.0',
      type: 'module',
      scripts: { test: 'node --test --test-reporter=./test/reporter.js test/*.test.js' },
    },
    null,
    2,
  )}\n`,
  'README.md': '# Parcel tracker\n\nTells where a parcel is, and tells others when it moves.\n',
  'docs/webhooks.md':
    '# Webhooks\n\nEvery event is sent to each receiver as JSON, with a signature in `x-signature`.\n\nAn event whose delivery fails is lost.\n',
  'migrations/0041_endpoints.sql':
    'create table endpoints (id text primary key, url text not null, secret text);\n',
  'src/webhooks/deliver.js': deliver,
  'src/webhooks/queue.js': '/** One queue for all receivers. */\nexport const queue = []\n',
  'src/webhooks/sign.js':
    "import { createHmac } from 'node:crypto'\n\nexport function sign(body, secret) {\n  return createHmac('sha256', secret).update(body).digest('hex')\n}\n",
  'test/deliver.test.js': deliverTest,
  'test/reporter.js': reporter,
  'test/sign.test.js': signTest,
}

const file = (path: string) => `/workspace/${path}`
const read = (path: string) => ({ name: 'Read', input: { file_path: file(path) } })
const write = (path: string, content: string) => ({
  name: 'Write',
  input: { file_path: file(path), content },
})
const edit = (path: string, old_string: string, new_string: string) => ({
  name: 'Edit',
  input: { file_path: file(path), old_string, new_string },
})
const bash = (command: string) => ({ name: 'Bash', input: { command } })
const runTests = bash('npm test --silent')

const retry = `/** Milliseconds from which the pauses grow, and where they end. */
const shortest = 1_000
const longest = 900_000

/** Milliseconds to wait before an attempt; the first goes at once. */
export function backOff(attempt) {
  return attempt === 0 ? 0 : Math.min(longest, shortest * 2 ** (attempt - 1))
}
`

const makeIdempotent: readonly Turn[] = [
  {
    text: 'I look at how deliveries work today.',
    tools: [read('src/webhooks/deliver.js'), read('test/deliver.test.js'), read('docs/webhooks.md')],
  },
  {
    tools: [
      write('src/webhooks/retry.js', retry),
      write(
        'migrations/0042_delivery_attempts.sql',
        'create table delivery_attempts (\n  event_id text not null,\n  endpoint_id text not null references endpoints (id),\n  attempts integer not null default 0,\n  due_at timestamptz not null,\n  primary key (event_id, endpoint_id)\n);\n\ncreate index delivery_attempts_due on delivery_attempts (due_at);\n',
      ),
      edit(
        'src/webhooks/deliver.js',
        deliver,
        `import { backOff } from './retry.js'
import { sign } from './sign.js'

const attempts = 8

/** Sends an event to a receiver once: who claims the delivery sends it, and tries again with growing pauses. */
export async function deliver(event, endpoint, { post, log, claim, sleep }) {
  if (!(await claim(event.id, endpoint.id))) return true
  const body = JSON.stringify(event)
  const signature = sign(body, endpoint.secret)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await sleep(backOff(attempt))
    const response = await post(endpoint.url, body, { timeout: 10_000, signature })
    if (response.status < 300) return true
    log(\`\${event.id} was answered with \${response.status}\`)
  }
  return false
}
`,
      ),
      edit(
        'docs/webhooks.md',
        'An event whose delivery fails is lost.',
        'A delivery that fails is tried again after 1, 2, 4 seconds and so on, eight times in all. An event is delivered to a receiver once.',
      ),
      bash('git rm -q src/webhooks/queue.js && git status --short'),
    ],
  },
  {
    tools: [
      edit(
        'test/deliver.test.js',
        "const event = { id: 'parcel-4711', state: 'delivered' }\n",
        "const event = { id: 'parcel-4711', state: 'delivered' }\nconst claimed = { claim: async () => true, sleep: async () => {} }\n",
      ),
      edit(
        'test/deliver.test.js',
        'deliver(event, endpoint, { post, log() {} })',
        'deliver(event, endpoint, { ...claimed, post, log() {} })',
      ),
      edit('test/deliver.test.js', 'refused = { post:', 'refused = { ...claimed, post:'),
      edit(
        'test/deliver.test.js',
        "assert.deepEqual(told, ['parcel-4711 was answered with 500'])",
        'assert.equal(told.length, 8)',
      ),
    ],
  },
  { tools: [runTests] },
  {
    text: 'Nothing stopped a second delivery when the worker restarted between the request and the write. Deliveries are now claimed in `delivery_attempts`, and the waiting time is in `retry.js`.',
  },
]

/** The model waits in the middle of the last sentence until this gate is opened. */
export const fakeClock = createGate()

const coverTheReceiver: readonly Turn[] = [
  {
    tools: [
      edit(
        'test/deliver.test.js',
        '  assert.equal(told.length, 8)\n})\n',
        `  assert.equal(told.length, 8)
})

test('a receiver that answers 500 twice gets the event with the third attempt', async () => {
  const pauses = []
  const answers = [500, 500, 204]
  const post = async () => ({ status: answers.shift() })
  const sleep = async (milliseconds) => pauses.push(milliseconds)
  assert.equal(await deliver(event, endpoint, { ...claimed, post, sleep, log() {} }), true)
  assert.deepEqual(pauses, [0, 1_000, 3_000])
})
`,
      ),
    ],
  },
  { tools: [runTests] },
  {
    text: 'One test fails: it counts the pauses from the first attempt, and `backOff` counts each from the one before. I correct the test: the third comes after `2_000` milliseconds.',
    hold: { afterWords: 26, gate: fakeClock },
    tools: [edit('test/deliver.test.js', '[0, 1_000, 3_000]', '[0, 1_000, 2_000]')],
  },
  { tools: [runTests] },
  { text: 'All tests pass, with the receiver that answers 500 twice among them.' },
]

export const webhooks = {
  description: 'Make webhook deliveries idempotent and retry them with exponential back-off',
  followUp: 'Also cover the receiver that answers 500 twice.',
  queued: 'Use a jitter of 20 percent, and write it into docs/webhooks.md',
}

export const webhookScripts: readonly Script[] = [
  { when: /^Make webhook deliveries/, turns: makeIdempotent },
  { when: /Also cover the receiver/, turns: coverTheReceiver },
]
