/**
 * What is asked by GraphQL: what REST has no answer to, and what it would answer with many requests. Of an answer with errors, what it holds
 * is kept.
 */
import type { Octokit } from '@octokit/rest'
import { z } from 'zod'
import {
  CodeHostFault,
  pullRequestsAtOnce,
  type PullRequestKey,
  type PullRequestReading,
} from '#platform/ports/codeHost.ts'
import { checkedName } from './address.ts'
import { faultOf, limited, misunderstood, retryAfterMs, sentences } from './request.ts'

const fields = `fragment shown on PullRequest {
  id
  number
  state
  isDraft
  updatedAt
  mergedAt
  headRefOid
  mergedBy { login }
  repository { databaseId }
}`

/** Reads pull requests by their ids, and so many more by their numbers. It costs one point of the rate limit. */
export function pullRequestsQuery(byNumber: number): string {
  const indexes = Array.from({ length: byNumber }, (_, index) => index)
  const variables = indexes.map(
    (index) => `, $owner${index}: String!, $name${index}: String!, $number${index}: Int!`,
  )
  const repositories = indexes.map(
    (index) =>
      `  r${index}: repository(owner: $owner${index}, name: $name${index}) { pullRequest(number: $number${index}) { ...shown } }`,
  )
  return [
    `query PullRequestStates($ids: [ID!]!${variables.join('')}) {`,
    '  nodes(ids: $ids) { ...shown }',
    ...repositories,
    '}',
    fields,
  ].join('\n')
}

const PullRequest = z.object({
  id: z.string(),
  number: z.int(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  updatedAt: z.iso.datetime(),
  mergedAt: z.iso.datetime().nullable(),
  headRefOid: z.string(),
  mergedBy: z.object({ login: z.string() }).nullable(),
  repository: z.object({ databaseId: z.int().nullable() }),
})
/** A node of another kind is an empty object. */
const Node = z.union([PullRequest, z.null(), z.object({}).transform(() => null)])
const Answer = z.looseObject({ nodes: z.array(Node).nullish() })
const InRepository = z.object({ pullRequest: PullRequest.nullable() }).nullish()

const GraphqlError = z.object({
  type: z.string().optional(),
  message: z.string().catch(''),
  path: z.array(z.union([z.string(), z.number()])).optional(),
})
type GraphqlError = z.infer<typeof GraphqlError>

/** `PullRequestStates` of the port. */
export async function readPullRequests(
  octokit: Octokit,
  asked: readonly PullRequestKey[],
): Promise<readonly PullRequestReading[]> {
  if (asked.length === 0) return []
  if (asked.length > pullRequestsAtOnce) throw new RangeError('Too many pull requests at once.')
  const ids: string[] = []
  const variables: Record<string, string | number> = {}
  const paths: string[][] = []
  let byNumber = 0
  for (const key of asked) {
    if ('nodeId' in key) {
      paths.push(['nodes', String(ids.length)])
      ids.push(key.nodeId)
    } else {
      const { owner, name } = checkedName(key.repository)
      paths.push([`r${byNumber}`])
      variables[`owner${byNumber}`] = owner
      variables[`name${byNumber}`] = name
      variables[`number${byNumber}`] = key.number
      byNumber += 1
    }
  }
  const { data, errors } = await askGraphql(octokit, pullRequestsQuery(byNumber), { ids, ...variables })
  const answer = Answer.safeParse(data)
  if (!answer.success) throw misunderstood(answer.error)
  return paths.map((path) => readingAt(answer.data, errors, path))
}

function readingAt(
  answer: z.infer<typeof Answer>,
  errors: readonly GraphqlError[],
  path: readonly string[],
): PullRequestReading {
  const [first = '', index] = path
  const found = index === undefined ? inRepository(answer[first]) : answer.nodes?.[Number(index)]
  if (found) return { kind: 'read', pullRequest: observedFrom(found) }
  const error = errors.find((one) => path.every((part, at) => String(one.path?.[at]) === part))
  return { kind: 'hidden', code: error && kindOf(error) === 'forbidden' ? 'forbidden' : 'not_found' }
}

function inRepository(found: unknown) {
  const read = InRepository.safeParse(found)
  if (!read.success) throw misunderstood(read.error)
  return read.data?.pullRequest
}

const states = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const

function observedFrom(found: z.infer<typeof PullRequest>) {
  return {
    number: found.number,
    nodeId: found.id,
    repositoryId: String(found.repository.databaseId ?? ''),
    state: states[found.state],
    draft: found.isDraft,
    headCommit: found.headRefOid,
    updatedAt: found.updatedAt,
    mergedAt: found.mergedAt,
    mergedBy: found.mergedBy?.login ?? null,
  }
}

const ErrorAnswer = z.object({
  errors: z.array(GraphqlError),
  data: z.unknown(),
  headers: z.record(z.string(), z.unknown()).catch({}),
})

/** The data, and the errors of parts that are missing in it. Throws CodeHostFault where there is nothing to keep. */
async function askGraphql(
  octokit: Octokit,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<{ readonly data: unknown; readonly errors: readonly GraphqlError[] }> {
  try {
    return { data: await octokit.graphql(query, variables), errors: [] }
  } catch (error) {
    // An HTTP error is an error of the request; a GraphQL error comes in an answer.
    const partial = ErrorAnswer.safeParse(error)
    if (!partial.success) throw faultOf(error)
    const { data, errors, headers } = partial.data
    const kinds = errors.map(kindOf)
    const isEmpty = data === null || data === undefined
    const whole = kinds.find((kind) => kind === 'rate_limited') ?? (isEmpty ? kinds[0] : undefined)
    if (whole === undefined) return { data, errors }
    if (whole === 'rate_limited') throw limited(retryAfterMs(headers), error)
    const message = whole === 'invalid' || whole === 'forbidden' ? errors[0]?.message : undefined
    throw new CodeHostFault(whole, message ?? sentences[whole], error)
  }
}

function kindOf({ type = '' }: GraphqlError): Exclude<CodeHostFault['kind'], 'unavailable'> {
  if (type.startsWith('RATE_LIMIT')) return 'rate_limited'
  if (type === 'NOT_FOUND') return 'not_found'
  if (type === 'UNAUTHORIZED' || type === 'UNAUTHENTICATED') return 'unauthorized'
  return ['FORBIDDEN', 'INSUFFICIENT_SCOPES', 'SAML_ERROR'].includes(type) ? 'forbidden' : 'invalid'
}
