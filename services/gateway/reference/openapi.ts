/** The HTTP contract as an OpenAPI 3.1 document, made from the schemas by which server and client validate. */
import { z } from 'zod'
import { faults, type FaultCode } from '#domain/kernel/errors.ts'
import { authRoutes, otherSignInRoutes } from '#domain/api/auth.ts'
import { calls, subjects, type NamedCall } from '#domain/api/calls.schema.ts'
import type { Route } from '#domain/api/route.ts'
import { User } from '#domain/api/auth.schema.ts'
import { ChatMessage, LogEntry, MessageDelta, TerminalOutput } from '#domain/api/chat.schema.ts'
import { FaultAnswer } from '#domain/api/fields.schema.ts'
import { uploadImage } from '#domain/api/images.schema.ts'
import { imageRoutes } from '#domain/api/images.ts'
import { Branch, Project, Repository } from '#domain/api/projects.schema.ts'
import {
  ChatMessageStatusChanged,
  CommandEnded,
  CommandOutput,
  TaskStatusChanged,
} from '#domain/api/socket.schema.ts'
import { ChangedFile, GitDiff, Task } from '#domain/api/tasks.schema.ts'

type Json = z.core.JSONSchema.JSONSchema
type Members = Readonly<Record<string, unknown>>

export interface OpenApi {
  readonly openapi: '3.1.0'
  readonly info: Members
  readonly servers: readonly Members[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly security: readonly Members[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly securitySchemes: Members }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security: readonly Members[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Json
}
export interface Response {
  readonly description: string
  readonly content?: Content
  readonly headers?: Members
}
type Content = Readonly<Record<string, { readonly schema: Json }>>

/** Schemas that have a name in the document. */
const named = {
  User,
  Project,
  Branch,
  Repository,
  Task,
  ChangedFile,
  GitDiff,
  ChatMessage,
  LogEntry,
  TerminalOutput,
  MessageDelta,
  Fault: FaultAnswer,
  TaskStatusChanged,
  ChatMessageStatusChanged,
  CommandOutput,
  CommandEnded,
}

/** Refusals that every call can have. */
const always: readonly FaultCode[] = [
  'invalid_input',
  'rate_limited',
  'internal',
  'engine_unavailable',
  'disk_full',
  'history_unreadable',
  'record_damaged',
  'views_behind',
  'timeout',
]
const ofWrites: readonly FaultCode[] = ['key_reused', 'unsupported_type', 'too_large', 'conflict']

const bearer = [{ bearer: [] }]
const refOf = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
/** The path of a route in the notation of OpenAPI. */
const documentedPath = ({ path }: Route): string => `/api${path.replace(/:(\w+)/g, '{$1}')}`
const nameOfAnswer = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}Answer`

/**
 * Makes the OpenAPI document. By default, its schemas allow unknown members in answers, as clients must do. With `exact`, which tests use, they allow
 * none.
 */
export function openApi({ version, exact = false }: { version: string; exact?: boolean }): OpenApi {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const one of calls) {
    const path = documentedPath(one.call)
    paths[path] = { ...paths[path], [one.call.method.toLowerCase()]: operationOf(one) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flightdeck',
      version,
      summary: 'Command-line coding agents on your repositories, live and replayable.',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    tags: Object.entries(subjects).map(([name, { says }]) => ({ name, description: says })),
    security: bearer,
    paths: { ...paths, ...besideCalls },
    components: {
      schemas: schemas(exact),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The token from signing in. It is valid for seven days, or until the user logs out.',
        },
      },
    },
  }
}

const description = `Every answer is JSON, unless it says that it is a file. A refusal is \`{error, code, field?}\`: a sentence for people, a code for programs, and the input at fault.

**Writes** may carry an \`Idempotency-Key\`: the same key with the same body takes effect once, however often it is sent, for 24 hours and the latest 10,000 keys of a person; with another body it is refused with 422. A write answers with its \`position\` in the log when a read shows it, or after 2 s with \`stale: true\`.

**Reads** may name a \`minPosition\`: they answer when they can show what was written up to there, or 504 after 2 s.

**Live:** socket.io on the same address, with the token as \`auth.token\`. Send \`join_task(id, lastPosition?)\` and \`leave_task(id)\`; \`join_task\` answers \`{joined, resync, position}\` to a client that gives a callback, and after \`resync\` the history must be read again. Received are \`terminal_output\`, \`chat_message\`, \`chat_message_words\`, \`thought_words\`, \`chat_message_delta\`, \`chat_message_status_changed\`, \`task_status_changed\`, \`command_output\`, \`command_completed\`, \`command_failed\`, \`command_cancelled\`, \`question_asked\`, \`question_answered\`, \`question_withdrawn\`, \`task_event\` and \`task_resync\` of the tasks that were joined, and \`global_task_status_changed\` of all of one's own. A message that is new, edited or withdrawn is a \`chat_message\`, whole and once; \`task_event\` carries the other events, and both count \`version\` without gaps. A client that connects with \`auth.knowsWords: true\` gets an agent's message when it is complete, and its words as they are written as \`chat_message_words\`. Any other client also gets the message as \`chat_message\` with \`isPartial\`, again as it grows. \`thought_words\` are the agent's thoughts as they are written, which belong to no message.`

function operationOf({ name, about, call }: NamedCall): Operation {
  const isWrite = call.method !== 'GET'
  const body = bodyOf(call.body)
  const codes = new Set<FaultCode>([...always, ...(isWrite ? ofWrites : []), ...call.faults])
  // Every request of a signed-in person may ask the code host whether the person may still sign in.
  if (call.open !== 'anybody')
    for (const code of ['sign_in_required', 'not_allowed', 'code_host_unavailable'] as const) codes.add(code)
  if (call.open === 'onboarded') codes.add('onboarding_incomplete')
  return {
    operationId: name,
    summary: call.summary.replace(/\.$/, ''),
    tags: [about],
    security: call.open === 'anybody' ? [] : bearer,
    parameters: [
      ...parametersOf('path', call.params),
      ...parametersOf('query', call.query),
      ...(isWrite && call.open !== 'anybody' ? [idempotencyKey] : []),
    ],
    ...(call === uploadImage ? { requestBody: imageForm } : body === undefined ? {} : { requestBody: body }),
    responses: {
      [String(call.status)]: {
        description: 'Done.',
        content:
          call.file === undefined
            ? { 'application/json': { schema: refOf(nameOfAnswer(name)) } }
            : { [call.file.type]: { schema: { type: 'string' } } },
      },
      ...refusals([...codes]),
    },
  }
}

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Identifies this write. Sending it again with the same key has no further effect.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
}

const imageForm = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['image'],
        properties: { image: { type: 'string', contentMediaType: 'application/octet-stream' } },
      } satisfies Json,
    },
  },
}

function bodyOf(schema: z.ZodType): Operation['requestBody'] {
  const json = plain(z.toJSONSchema(schema, { io: 'input', reused: 'inline' }))
  if (json.type === 'object' && Object.keys(json.properties ?? {}).length === 0) return undefined
  return { required: !schema.safeParse(undefined).success, content: { 'application/json': { schema: json } } }
}

function parametersOf(where: 'path' | 'query', schema: z.ZodType): readonly Parameter[] {
  const { properties = {}, required = [] } = plain(z.toJSONSchema(schema, { io: 'input' }))
  return Object.entries(properties).map(([name, member]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: typeof member === 'boolean' ? {} : member,
  }))
}

/** One response for each status, with the codes that it can have. */
function refusals(codes: readonly FaultCode[]): Record<string, Response> {
  const statuses = [...new Set(codes.map((code) => faults[code].status))].toSorted((a, b) => a - b)
  const responses = statuses.map((status) => {
    const of = codes.filter((code) => faults[code].status === status)
    const response: Response = {
      description: of.map((code) => `\`${code}\`: ${faults[code].sentence}`).join(' '),
      content: { 'application/json': { schema: refOf('Fault') } },
      ...(status === 429 ? { headers: retryAfter } : {}),
    }
    return [String(status), response] as const
  })
  return Object.fromEntries(responses)
}

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer' } },
}

/** The named schemas, and the schema of each call's answer. */
function schemas(exact: boolean): Record<string, Json> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  for (const { name, call } of calls)
    if (call.file === undefined) registry.add(call.answer, { id: nameOfAnswer(name) })
  const made = z.toJSONSchema(registry, { io: 'output', uri: (id) => `#/components/schemas/${id}` })
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, schema]) => [id, exact ? plain(schema) : tolerant(plain(schema))]),
  )
}

/** The schema without `$schema` and `$id`, which an OpenAPI document does not repeat in its schemas. */
function plain(schema: Json): Json {
  const { $schema: _dialect, $id: _place, ...rest } = schema
  return rest
}

/** Allows additional members in the objects at every level of the schema. */
function tolerant(schema: Json): Json {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'additionalProperties' && value === false ? undefined : value,
    ),
  )
}

const found = (where: string): Response => ({
  description: where,
  headers: { Location: { schema: { type: 'string' } } },
})
const inQuery = (name: string, description: string): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: { type: 'string' },
})

/** An address that browsers open, without authentication. */
const navigation = (
  operation: Pick<Operation, 'operationId' | 'summary' | 'responses'> & {
    readonly tag: string
    readonly parameters?: readonly Parameter[]
  },
): Readonly<Record<string, Operation>> => {
  const { tag, parameters = [], ...rest } = operation
  return { get: { ...rest, tags: [tag], security: [], parameters } }
}
const content = (type: string, schema: Json, description: string) => ({
  '200': { description, content: { [type]: { schema } } },
  ...refusals(['not_found', 'rate_limited', 'internal']),
})
const redirect = (where: string) => ({ '302': found(where), ...refusals(['rate_limited', 'internal']) })

/** Addresses that are not calls of the API: browsers navigate to them. */
const besideCalls: OpenApi['paths'] = {
  [documentedPath(authRoutes.signInWithGitHub)]: navigation({
    operationId: 'signInWithGitHub',
    summary: 'Sends the browser to the code host, to sign in or to connect an account',
    tag: 'Authentication',
    parameters: [
      inQuery('link', 'A ticket of `linkGitHub`: connects the account to who is signed in.'),
      inQuery('nonce', 'Returned with the token, so that a client accepts only a token it asked for.'),
      inQuery('account', '`another`: the code host lets the person choose.'),
    ],
    responses: redirect('The page of the code host.'),
  }),
  [documentedPath(otherSignInRoutes.gitHubCallback)]: navigation({
    operationId: 'gitHubCallback',
    summary: 'Where the code host sends the browser back to',
    tag: 'Authentication',
    parameters: ['code', 'state', 'error'].map((name) => inQuery(name, 'As OAuth names it.')),
    responses: redirect(
      'The client: `/auth/callback` with `token`, `onboarding` and the `nonce`, or with `error`; `/settings` of a link.',
    ),
  }),
  [documentedPath(imageRoutes.showImage)]: navigation({
    operationId: 'showImage',
    summary: 'An image, at an address that is good for some minutes',
    tag: 'Images',
    parameters: [
      { name: 'imageId', in: 'path', required: true, schema: { type: 'string' } },
      { ...inQuery('grant', 'Grants access to this address.'), required: true },
    ],
    responses: content('image/*', { type: 'string', contentMediaType: 'image/*' }, 'The image.'),
  }),
  '/api/openapi.json': navigation({
    operationId: 'getOpenApi',
    summary: 'This document',
    tag: 'Server',
    responses: content('application/json', { type: 'object' }, 'OpenAPI 3.1.'),
  }),
  '/api/docs': navigation({
    operationId: 'getReference',
    summary: 'This document as a page',
    tag: 'Server',
    responses: content('text/html', { type: 'string' }, 'A page.'),
  }),
}
