/** Bodies are generated from their schemas and then damaged: each gets a clear refusal or is accepted cleanly, and never causes a fault of ours. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calls } from '#domain/api/calls.schema.ts'
import { openApi } from '../../services/gateway/reference/openapi.ts'
import { FaultAnswer } from '#domain/api/fields.schema.ts'
import { getMe } from '#domain/api/auth.schema.ts'
import { addressOf, type Answer, type Person } from '../product/person.ts'
import { randomRuns } from '../longRun.ts'
import { goodBody } from './goodBodies.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

/** The number of runs per call, each of which is a request. */
const runsEach = randomRuns(40)

let scene: Scene
let ada: Person
let ids: Readonly<Record<string, string>>
beforeAll(async () => {
  scene = await openScene([], { env: { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '1' } })
  ada = scene.ada
  const task = await ada.task(scene.projectId, 'To be asked about')
  await ada.taskOnce(task.id, hasEnded)
  ids = {
    projectId: scene.projectId,
    taskId: task.id,
    messageId: task.id,
    questionId: task.id,
    feedbackId: task.id,
    imageId: task.id,
    name: 'A_SECRET',
  }
})
afterAll(() => scene?.close())

const good = () => ({ projectId: scene.projectId, repoUrl: `${scene.product.codeHostUrl}/ada/engine` })
const bodies = openApi({ version: '0' })

/** Calls with a body, each with the names of its members. Those that end the session or do nothing but that are left out. */
const withBodies = calls.flatMap(({ name, call }) => {
  const path = `/api${call.path.replace(/:(\w+)/g, '{$1}')}`
  const schema =
    bodies.paths[path]?.[call.method.toLowerCase()]?.requestBody?.content['application/json']?.schema
  return schema ? [[name, call, Object.keys(schema.properties ?? {})] as const] : []
})

/** Text that is put into the body as it is, since no value of JavaScript could be written so. */
class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
/** Values that no schema of ours means. */
const strange = fc.oneof(
  fc.constant(null),
  fc.constant('x'.repeat(900_000)),
  fc.constantFrom('', ' ', '\0', 'a\0b', '\uD800', '\uDFFF', '__proto__', '\u202E', '-1', 'NaN', '../..'),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(0, -1, 1e308, -1e308, 5e-324, 2 ** 53, 0.1),
  fc.constantFrom('9999-99-99', '0000-01-01T00:00:00Z', '+275760-09-13T00:00:00.001Z'),
  fc.boolean(),
  fc.constant([]),
  fc.constant({}),
  fc.array(fc.anything({ maxDepth: 2, withNullPrototype: false }), { maxLength: 20 }).map(asJson),
  fc.dictionary(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), { maxKeys: 20 }),
  fc.constantFrom(nested('[', ']', 20_000), nested('{"a":', '}', 5_000)),
)

function nested(open: string, close: string, depth: number): Raw {
  return new Raw(`${open.repeat(depth)}${open.startsWith('{') ? '1' : ''}${close.repeat(depth)}`)
}
function asJson(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? 0 : member)) ?? 'null',
  )
}
function written(value: unknown): string {
  return value instanceof Raw ? value.text : (JSON.stringify(value) ?? 'null')
}

type Members = readonly (readonly [name: string, value: unknown])[]
const asBody = (members: Members): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`).join(',')}}`

/** Some members with strange values, and now and then one that nobody knows. */
const strangeMembers = (names: readonly string[]): fc.Arbitrary<Members> =>
  fc
    .record({
      of: fc.subarray([...names], { minLength: 1 }),
      values: fc.array(strange, { minLength: names.length, maxLength: names.length }),
      more: fc.option(fc.tuple(fc.constantFrom('__proto__', 'constructor', 'extra', ''), strange), {
        freq: 3,
      }),
    })
    .map(({ of, values, more }) => [
      ...of.map((name, index) => [name, values[index]] as const),
      ...(more ? [more] : []),
    ])

/** A good body of which one member is spoilt, one with several, and what is no body at all. */
function bodiesLike(names: readonly string[], base: object = {}): fc.Arbitrary<string> {
  const oneSpoilt = fc
    .tuple(fc.constantFrom(...names), strange)
    .map(([name, value]) =>
      asBody([
        ...Object.entries({ ...base, [name]: undefined }).filter(([, kept]) => kept !== undefined),
        [name, value],
      ]),
    )
  return fc.oneof(
    { weight: 4, arbitrary: oneSpoilt },
    { weight: 2, arbitrary: strangeMembers(names).map(asBody) },
    { weight: 1, arbitrary: misshapen },
  )
}

/** A body that is no object of ours at all. */
const misshapen = fc.oneof(
  fc.constantFrom(
    '',
    'null',
    '0',
    '"text"',
    '[]',
    '[[]]',
    '{',
    '{"a"',
    '\uFEFF{}',
    '{}{}',
    'undefined',
    '{"a":1,}',
  ),
  strange.map(written),
  fc.string({ maxLength: 100 }),
)

/** What is wrong with an answer; a success, and a refusal in our words, are right. */
function faultIn({ status, body, text }: Answer): string | undefined {
  if (status < 400) return undefined
  // Fits the document, too: every answer is held to it where it is read.
  const refusal = FaultAnswer.safeParse(body)
  if (status >= 500) return `a fault of ours: ${text.slice(0, 500)}`
  if (!refusal.success || refusal.data.error.trim() === '') return `no refusal of ours: ${text.slice(0, 500)}`
  return text.length > 20_000 ? `${text.length} characters of refusal` : undefined
}

describe('a body', () => {
  test.each(withBodies)(
    'of %s, spoilt, is refused in our words or taken, and never a fault of ours',
    async (_, call, members) => {
      const address = addressOf(call, ids)
      await fc.assert(
        fc.asyncProperty(bodiesLike(members, goodBody(call, good())), async (body) => {
          expect(
            faultIn(await ada.api(call.method, address, body)),
            `of ${body.slice(0, 300)}`,
          ).toBeUndefined()
        }),
        { numRuns: runsEach, interruptAfterTimeLimit: 40_000, markInterruptAsFailure: false },
      )
    },
  )

  test('leaves the server well, with nothing told that it does not understand itself', async () => {
    expect((await ada.ask(getMe)).user.githubUsername).toBe('ada')
    expect(scene.product.logs.stderr).not.toMatch(/request failed|"level":(50|60)/)
  })

  test('leaves nothing half-done: every task that there is can be read, and so can its chat', async () => {
    const { body } = await ada.api('GET', '/tasks?limit=1000')
    const seen = [...JSON.stringify(body).matchAll(/"version":\d+/g)]
    expect(seen.length).toBeGreaterThan(0)
    expect((await ada.api('GET', `/tasks/${ids['taskId']}/chat`)).status).toBe(200)
  })
})

describe('an address', () => {
  test('with anything in its place is refused in our words', async () => {
    const places = fc.oneof(
      fc.constantFrom(
        '%00',
        '%',
        '%zz',
        '%E0%A4%A',
        '..%2f..',
        '%2e%2e',
        'x'.repeat(4_000),
        '__proto__',
        "';--",
      ),
      fc.string({ maxLength: 40 }).map(encodeURIComponentSafely),
    )
    const targets = calls.filter(({ call }) => call.path.includes(':'))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...targets),
        places,
        fc.string({ maxLength: 30 }),
        async ({ call }, place, query) => {
          const path = call.path.replace(/:\w+/g, () => place)
          const search = new URLSearchParams({
            limit: query,
            before: query,
            after: query,
            minPosition: query,
          })
          const answer = await ada.api(
            call.method,
            `${path}?${search}`,
            call.method === 'GET' ? undefined : {},
          )
          expect([faultIn(answer), answer.status >= 400], `${call.method} ${path}`).toEqual([undefined, true])
        },
      ),
      { numRuns: 150 },
    )
  })
})

function encodeURIComponentSafely(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '')) || '%20'
}
