import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openEgress } from './egress.ts'

const opened = (info: (line: unknown) => void = () => undefined) =>
  openEgress({
    agentHosts: {},
    mayReachPrivate: false,
    privateHosts: [],
    node: 'node',
    scratch: { make: () => Promise.reject(new Error('no sandbox is opened')) },
    logger: { info },
  })

test('who hears of a task is told of each destination once', () => {
  const egress = opened()
  const told: string[] = []
  egress.onRefusalOf('task-1', (sentence) => told.push(sentence))
  for (const destination of ['a.example:443', 'a.example:443', 'b.example:443'])
    egress.refused('task-1', { destination, why: 'not_allowed' })
  egress.refused('task-1', { destination: 'c.example:443', why: 'unreachable' })
  egress.refused('task-2', { destination: 'd.example:443', why: 'inside' })
  expect(told).toEqual([
    "a.example:443 was not reached: it is not among the hosts that the project's settings allow.",
    "b.example:443 was not reached: it is not among the hosts that the project's settings allow.",
    'c.example:443 was not reached: there is no such host, or it does not answer.',
  ])
})

test('a program that tries everything fills no terminal', () => {
  const egress = opened()
  const told: string[] = []
  egress.onRefusalOf('task-1', (sentence) => told.push(sentence))
  for (let n = 0; n < 1_000; n += 1)
    egress.refused('task-1', { destination: `${n}.example:443`, why: 'inside' })
  expect(told).toHaveLength(21)
  expect(told.at(-1)).toBe('Further destinations were not reached.')
})

test('the next run of a task is told anew, and the one before no more', () => {
  const egress = opened()
  const told: string[] = []
  const stopFirst = egress.onRefusalOf('task-1', () => told.push('first'))
  egress.onRefusalOf('task-1', () => told.push('second'))
  stopFirst()
  egress.refused('task-1', { destination: 'a.example:443', why: 'inside' })
  expect(told).toEqual(['second'])
})

test('a program that tries everything fills no log, and what it tried is counted', async () => {
  const lines: unknown[] = []
  const egress = opened((line) => lines.push(line))
  const sandbox = { kind: 'none', seenAs: () => '' } as const
  const { env, close } = await egress.open({ taskId: 'task-1', sandbox, owner: undefined, rules: [] })
  const { port } = new URL(env['HTTP_PROXY'] ?? '')
  for (let n = 0; n < 105; n += 1) {
    const asking = request({ port, host: '127.0.0.1', path: `http://${n}.example/`, agent: false })
    const [response]: IncomingMessage[] = await once(asking.end(), 'response')
    if (response) await text(response)
  }
  expect(lines).toHaveLength(100)
  await close()
  expect(lines.slice(100)).toEqual([
    { taskId: 'task-1', connections: 0, sent: 0, received: 0, refusals: 105 },
  ])
})
