/** The account that a run uses, and the sentences of its faults. */
import { expect, test } from 'vitest'
import type { StoredKey } from '#platform/credentials/modelKeys.ts'
import { accountOf, type AccountDeps } from './account.ts'
import type { AgentBackend } from './installed.ts'
import { toldTo } from './modelFaults.ts'
import type { AgentError } from './port.ts'
import { agents } from './registry.ts'

const by = { ownerId: 'ada', projectId: 'engine' }
const own: StoredKey = { kind: 'api_key', value: 'a key of ones own', baseUrl: null }
const deps = (
  more: Partial<AccountDeps> & {
    readonly paid?: { payer: 'person' | 'project'; key: StoredKey }
    readonly server?: AgentBackend
  } = {},
): AccountDeps => ({
  installed: {
    backend: () => more.server ?? { kind: 'missing', why: 'No key.' },
    withKey: (_name, { value }) => ({
      kind: 'broker',
      model: { kind: 'http', api: 'messages', apiKey: value, baseUrl: 'https://model.example' },
    }),
  },
  modelKeys: { paying: async () => more.paid },
  onlyScripted: null,
  egress: { mayReachPrivate: false },
  ...more,
})

test('an own key comes before the server’s, and another key is another account', async () => {
  const paid = { payer: 'person', key: own } as const
  const one = await accountOf(deps({ paid }), agents.claude, by)
  expect(one).toMatchObject({ kind: 'account', payer: 'person', told: { service: 'Anthropic' } })
  const other = { ...paid, key: { ...own, value: 'another key of ones own' } }
  const two = await accountOf(deps({ paid: other }), agents.claude, by)
  if (one.kind === 'none' || two.kind === 'none') throw new Error('Both have an account.')
  expect(one.fingerprint).not.toBe(two.fingerprint)
  expect(one.fingerprint).not.toContain(own.value)
})

test('without one the server pays, or nobody for the scripted model', async () => {
  const model = { kind: 'http', api: 'messages', apiKey: 'of the server', baseUrl: '' } as const
  expect(await accountOf(deps({ server: { kind: 'broker', model } }), agents.claude, by)).toMatchObject({
    payer: 'server',
    told: null,
  })
  const scripted = { kind: 'broker', model: { kind: 'scripted', api: 'messages' } } as const
  expect(await accountOf(deps({ server: scripted }), agents.claude, by)).toMatchObject({ payer: null })
  expect(await accountOf(deps(), agents.codex, by)).toMatchObject({ kind: 'none', code: 'no_key' })
})

test('the token of a subscription is used by claude alone', async () => {
  const paid = { payer: 'person', key: { ...own, kind: 'subscription' } } as const
  expect(await accountOf(deps({ paid }), agents.claude, by)).toMatchObject({ kind: 'account' })
  expect(await accountOf(deps({ paid }), agents.opencode, by)).toMatchObject({
    kind: 'none',
    why: expect.stringContaining('not for opencode'),
  })
})

test('an agent whose key enters the sandbox takes none but the server’s', async () => {
  const server = { kind: 'key', apiKey: 'of the server' } as const
  const paid = { payer: 'person', key: own } as const
  expect(await accountOf(deps({ paid, server }), agents.cursor, by)).toMatchObject({
    payer: 'server',
    backend: server,
  })
})

test('where only the scripted model may run, an own key runs nothing', async () => {
  const paid = { payer: 'person', key: own } as const
  const why = 'There is no sandbox for agents here.'
  expect(await accountOf(deps({ paid, onlyScripted: why }), agents.claude, by)).toEqual({
    kind: 'none',
    code: 'no_box',
    why,
  })
})

test('an address that the operator no longer allows is not used', async () => {
  const paid = { payer: 'project', key: { ...own, baseUrl: 'http://10.0.0.1' } } as const
  expect(await accountOf(deps({ paid }), agents.claude, by)).toMatchObject({
    kind: 'none',
    why: expect.stringMatching(/^The project's key is not used\. This address leads/),
  })
  const egress = { mayReachPrivate: true }
  expect(await accountOf(deps({ paid, egress }), agents.claude, by)).toMatchObject({ payer: 'project' })
})

const error = (code: AgentError['code'], message: string, httpStatus: number | null = null): AgentError => ({
  type: 'error',
  code,
  message,
  httpStatus,
})
const ofPerson = { payer: 'person', kind: 'api_key', service: 'Anthropic' } as const
const plan = { ...ofPerson, kind: 'subscription' } as const
const ofProject = { payer: 'project', kind: 'api_key', service: 'gateway.example' } as const

test.each([
  [
    ofPerson,
    error('unauthorized', 'X. (invalid key)', 401),
    'Anthropic refused your own key. Replace or remove it under Settings, Agents and Keys. (invalid key)',
  ],
  [
    ofProject,
    error('unauthorized', 'X.', 401),
    "gateway.example refused the project's key. Replace or remove it under the project's settings, Models.",
  ],
  [
    plan,
    error('unauthorized', 'X.', 401),
    /^Anthropic refused the token of your own subscription, which may have ended\. Run claude setup-token again/,
  ],
  [
    plan,
    error('rate_limited', 'At the moment (429). Try again. (5-hour limit)', 429),
    /^Anthropic takes no more requests with your own subscription at the moment \(429\); its limit may be used up\..* \(5-hour limit\)$/,
  ],
  [
    ofPerson,
    error('no_credit', 'X.'),
    /^The account of your own key at Anthropic has no credit left\. Add some there/,
  ],
  [
    ofPerson,
    error('bad_model', 'X. (No such model.)', 404),
    /^This model does not exist, or your own key may not use it\./,
  ],
  [
    ofProject,
    error('api_error', 'X.', 502),
    /^gateway\.example failed \(502\)\. Neither your task nor the project's key is at fault/,
  ],
  [
    ofPerson,
    error('overloaded', 'X.', 529),
    /^The model is overloaded \(529\)\. Neither your task nor your own key is at fault/,
  ],
])('a fault is told as whose key it was: %o %o', (account, fault, sentence) => {
  const { message, ...told } = toldTo(account, fault)
  expect({ ...told, message: fault.message }).toEqual(fault)
  expect(message).toMatch(sentence)
})

test('a fault that is no key’s, or the server’s own, stays as it was told', () => {
  for (const fault of [
    error('budget', 'Used up.'),
    error('other', 'Something.'),
    error('aborted', 'Stopped.'),
  ])
    expect(toldTo(ofPerson, fault)).toBe(fault)
  const refused = error('unauthorized', 'The key of this server.', 401)
  expect(toldTo(null, refused)).toBe(refused)
})
