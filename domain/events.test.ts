/** Every kind of event can be written and read again, by today's schemas and by all later ones. */
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readFrozen, todaysForms } from '../tests/domain/frozenEvents.ts'
import { arbitraryOf } from '../tests/domain/zodArbitrary.ts'
import { auditEvents } from './audit.ts'
import { eventKinds } from './events.ts'
import { identityEvents } from './identity.ts'
import { deliveryEvents } from './webhookDelivery.ts'
import { imageEvents } from './image.ts'
import { lifted } from './kernel/event.schema.ts'
import { logEvents } from './log.ts'
import { projectEvents } from './project/events.ts'
import { requestEvents } from './idempotentRequest.ts'
import { sealEvents } from './seal.ts'
import { taskEvents } from './task/events.ts'
import { terminalEvents } from './task/terminalEvents.ts'
import { usageEvents } from './usage.ts'
import { userEvents } from './user/events.ts'

const kinds = [...eventKinds.values()]
const latest = Math.max(...kinds.map((kind) => kind.version))
const versions = Array.from({ length: latest }, (_, index) => index + 1)
const frozen = await Promise.all(
  versions.map(async (version) => ({ version, forms: await readFrozen(version) })),
)

test('no two kinds share a name', () =>
  expect(
    [
      ...logEvents,
      ...userEvents,
      ...identityEvents,
      ...projectEvents,
      ...taskEvents,
      ...terminalEvents,
      ...requestEvents,
      ...imageEvents,
      ...usageEvents,
      ...auditEvents,
      ...deliveryEvents,
      ...sealEvents,
    ].map((kind) => kind.type),
  ).toEqual([...eventKinds.keys()]))

test('facts are ids, enums, numbers and hashes: a text that stays open after an erasure is one of these', () =>
  expect([...new Set(kinds.flatMap((kind) => openTexts(todaysForms(kind)[0]?.data)))].toSorted()).toEqual([
    'action',
    'code',
    'model',
    'parentToolId',
    'requestId',
    'runnerId',
    'sessionId',
    'toolId',
    'version',
  ]))

/** The members that take any text, at any depth. */
function openTexts(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null) return []
  return Object.entries(data).flatMap(([name, member]) => (member === 'text' ? [name] : openTexts(member)))
}

test('blobs are named by facts alone: what lies sealed says nothing to whoever collects those that are not named', () => {
  const naming = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema)).includes(hashPattern)
  expect(kinds.filter(({ data }) => naming(data)).map(({ type }) => type)).toEqual(
    expect.arrayContaining(['MessageQueued', 'WorkspaceChanged', 'WorkSaved', 'ImageUploaded']),
  )
  expect(kinds.filter(({ content }) => naming(content)).map(({ type }) => type)).toEqual([])
})
const hashPattern = '"pattern":"^[0-9a-f]{64}$"'

describe('a fact that a program in the sandbox made up is at most 200 characters', () => {
  test.each([
    ['AgentStarted', 'version'],
    ['AgentStarted', 'sessionId'],
    ['ToolStarted', 'toolId'],
    ['ToolStarted', 'parentToolId'],
    ['ToolFinished', 'toolId'],
    ['ToolImagesKept', 'toolId'],
    ['SubagentSaid', 'parentToolId'],
    ['UsageRecorded', 'model'],
    ['ModelUseMetered', 'model'],
  ])('%s: %s', (type, name) => {
    expect(takes(type, { [name]: 'x'.repeat(200) })).toBe(true)
    expect(takes(type, { [name]: 'x'.repeat(201) })).toBe(false)
  })
})

test.each([
  ['WorkspacePrepared', 'baseCommit', 'main'],
  ['WorkspacePrepared', 'baseCommit', 'B'.repeat(40)],
  ['PullRequestOpened', 'headCommit', 'c'.repeat(39)],
  ['PullRequestUpdated', 'headCommit', 'c'.repeat(41)],
  ['WorkspaceChanged', 'blob', { hash: 'a'.repeat(40), size: 1 }],
  ['WorkspaceChanged', 'blob', { hash: 'a'.repeat(64), size: -1 }],
  ['ExecutionCompleted', 'terminal', { revision: 0, hash: 'A'.repeat(64) }],
  ['ExecutionCompleted', 'terminal', { revision: -1, hash: 'a'.repeat(64) }],
  ['SessionStarted', 'sessionId', 'first'],
  ['SessionEnded', 'sessionId', 'first'],
  ['SessionStarted', 'expiresAt', 'in a week'],
  ['TerminalOutputRecorded', 'attempt', 0],
  ['MessageTextRecorded', 'attempt', 0],
])('%s takes no %s that is none: %j', (type, name, value) =>
  expect(takes(type, { [name]: value })).toBe(false),
)

/** Whether a kind takes its fullest facts and words with some of them changed. */
function takes(type: string, changed: Readonly<Record<string, unknown>>): boolean {
  const kind = eventKinds.get(type)
  const full = kind && todaysForms(kind)[0]
  if (!full) throw new TypeError(`There are no facts of ${type}.`)
  const [name = ''] = Object.keys(changed)
  const part = name in Object(full.data) ? 'data' : 'content'
  if (!(name in Object(full[part]))) throw new TypeError(`${type} has no ${name}.`)
  return kind[part].safeParse({ ...Object(full[part]), ...changed }).success
}

describe.each(kinds)('$type', (kind) => {
  test('takes what is made of it, and reads it again from JSON', () =>
    fc.assert(
      fc.property(arbitraryOf(kind.data), arbitraryOf(kind.content), (data, content) => {
        const made = { type: kind.type, data, content }
        const read = JSON.parse(JSON.stringify(made))
        expect({
          ...made,
          data: kind.data.parse(read.data),
          content: kind.content.parse(read.content),
        }).toStrictEqual(made)
      }),
    ))

  test('is as it was frozen: another schema is another version', () => {
    const forms = frozen.find(({ version }) => version === kind.version)?.forms[kind.type]
    expect(forms, 'Not frozen yet: npx tsx tests/domain/frozenEvents.ts').toBeDefined()
    expect(todaysForms(kind)).toStrictEqual(forms)
  })

  test('names no position: a log may move to another engine', () =>
    expect(JSON.stringify(todaysForms(kind))).not.toMatch(/position/i))
})

describe.each(frozen)('what was recorded at version $version', ({ version, forms }) => {
  test.each(Object.entries(forms))('is read today: %s', (type, list) => {
    const kind = eventKinds.get(type)
    if (!kind) throw new TypeError(`${type} must still be read.`)
    for (const form of list) {
      const { data, content } = lifted(kind, version, form)
      expect(kind.data.parse(data)).toStrictEqual(data)
      expect(kind.content.parse(content)).toStrictEqual(content)
      // What was erased stays so: no lift makes words up.
      expect(lifted(kind, version, { ...form, content: null }).content).toBeNull()
      const isOlder = version < kind.version
      expect(isOlder || isDeepStrictEqual({ data, content }, form)).toBe(true)
    }
  })
})
