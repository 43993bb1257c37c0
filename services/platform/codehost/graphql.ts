/**
 * GraphQL queries for data that REST does not offer, or offers only in many requests. If an answer has both data and errors, the data is used, except
 * when a rate limit is among the errors.
 */
import type { Octokit } from '@octokit/rest'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { PullRequestStanding } from '#domain/task/commands.ts'
import {
  CodeHostFault,
  pullRequestsAtOnce,
  type PullRequestKey,
  type PullRequestReading,
  type RepositoryName,
} from '#platform/ports/codeHost.ts'
import { checkedName } from './address.ts'
import { faultOf, limited, misunderstood, retryAfterMs, sentences } from './request.ts'

/** How much to read, from most to least. If a code host refuses a request because of one part, less is read. */
export const readings = ['checks', 'reviews', 'state'] as const
export type Reading = (typeof readings)[number]

const checks = `
  commits(last: 1) {
    nodes {
      commit {
        oid
        statusCheckRollup {
          state
          contexts(first: 100) {
            totalCount
            nodes {
              __typename
              ... on CheckRun { name status conclusion }
              ... on StatusContext { context state }
            }
          }
        }
      }
    }
  }`

/** If no branch rule requires reviews, `reviewDecision` is `null`, and the latest reviews decide. */
const reviews = `
  reviewDecision
  reviews(last: 50, states: [APPROVED, CHANGES_REQUESTED]) {
    nodes { state author { login } }
  }`

const fieldsOf = (reading: Reading): string => `fragment shown on PullRequest {
  id
  number
  state
  isDraft
  isCrossRepository
  updatedAt
  mergedAt
  headRefOid
  mergedBy { login }
  repository { databaseId nameWithOwner }${reading === 'state' ? '' : reviews}${reading === 'checks' ? checks : ''}
}`

/** A query that reads pull requests by id, and `byNumber` more by number. Costs one point of the rate limit. */
export function pullRequestsQuery(byNumber: number, reading: Reading = 'checks'): string {
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
    fieldsOf(reading),
  ].join('\n')
}

/** A check of a commit: a finished check run has a conclusion, a commit status has a state. */
const Context = z.object({
  name: z.string().nullish(),
  context: z.string().nullish(),
  conclusion: z.string().nullish(),
  state: z.string().nullish(),
})
const Rollup = z.object({
  state: z.string(),
  contexts: z.object({ totalCount: z.int(), nodes: z.array(Context.nullable()).nullish() }),
})

const PullRequest = z.object({
  id: z.string(),
  number: z.int(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  updatedAt: z.iso.datetime(),
  mergedAt: z.iso.datetime().nullable(),
  headRefOid: z.string(),
  mergedBy: z.object({ login: z.string() }).nullable(),
  repository: z.object({ databaseId: z.int().nullable(), nameWithOwner: z.string() }),
  isCrossRepository: z.boolean(),
  reviewDecision: z.enum(['APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED']).nullish(),
  reviews: z
    .object({
      nodes: z.array(
        z.object({ state: z.string(), author: z.object({ login: z.string() }).nullable() }).nullable(),
      ),
    })
    .nullish(),
  commits: z
    .object({
      nodes: z.array(
        z.object({ commit: z.object({ oid: z.string(), statusCheckRollup: Rollup.nullish() }) }).nullable(),
      ),
    })
    .nullish(),
})
/** A node that is not a pull request comes as an empty object, which becomes `null`. */
const Node = z.union([PullRequest, z.null(), z.object({}).transform(() => null)])
const Answer = z.looseObject({ nodes: z.array(Node).nullish() })
const InRepository = z.object({ pullRequest: PullRequest.nullable() }).nullish()

const GraphqlError = z.object({
  type: z.string().optional(),
  message: z.string().catch(''),
  path: z.array(z.union([z.string(), z.number()])).optional(),
})
type GraphqlError = z.infer<typeof GraphqlError>

/** How long the reader remembers how much a token may read. Then it tries the largest request again, since the token may have gained permissions. */
const rememberedMs = 3_600_000
const rememberedTokens = 1_000

/** Implements `pullRequestStates` of the port. Remembers for an hour how much each token may read. */
export function pullRequestReader() {
  const known = new LRUCache<string, Reading>({ max: rememberedTokens, ttl: rememberedMs })
  return async (
    octokit: Octokit,
    asked: readonly PullRequestKey[],
    accessToken: string,
  ): Promise<readonly PullRequestReading[]> => {
    let answers: Answers | undefined
    while (answers === undefined) {
      const reading = known.get(accessToken) ?? 'checks'
      try {
        answers = await readInParts(octokit, asked, reading)
      } catch (fault) {
        const less = readings[readings.indexOf(reading) + 1]
        const isRefused = fault instanceof CodeHostFault && ['forbidden', 'invalid'].includes(fault.kind)
        if (less === undefined || !isRefused) throw fault
        known.set(accessToken, less)
      }
    }
    return answers.map((answer) => {
      if (answer instanceof CodeHostFault) throw answer
      return answer
    })
  }
}

/** What was read of each pull request, or why the answer lacks it. */
type Answers = readonly (PullRequestReading | CodeHostFault)[]

/** Asks for less of what an answer lacked, and only of that: one large pull request must not cost the others their checks. */
async function readInParts(
  octokit: Octokit,
  asked: readonly PullRequestKey[],
  reading: Reading,
): Promise<Answers> {
  const answers = await readPullRequests(octokit, asked, reading)
  const lacking = asked.filter((_, at) => answers[at] instanceof CodeHostFault)
  const less = readings[readings.indexOf(reading) + 1]
  if (lacking.length === 0 || less === undefined) return answers
  // A refusal of the smaller question leaves each its own fault, and says nothing about what the token may read.
  const smaller = await readInParts(octokit, lacking, less).catch((fault: unknown): Answers => {
    if (fault instanceof CodeHostFault && fault.kind === 'invalid') return []
    throw fault
  })
  return answers.map((answer, at) => smaller[lacking.findIndex((key) => key === asked[at])] ?? answer)
}

async function readPullRequests(
  octokit: Octokit,
  asked: readonly PullRequestKey[],
  reading: Reading,
): Promise<Answers> {
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
  const { data, errors } = await askGraphql(octokit, pullRequestsQuery(byNumber, reading), {
    ids,
    ...variables,
  })
  const answer = Answer.safeParse(data)
  if (!answer.success) throw misunderstood(answer.error)
  return paths.map((path) => readingAt(answer.data, errors, path, reading))
}

function readingAt(
  answer: z.infer<typeof Answer>,
  errors: readonly GraphqlError[],
  path: readonly string[],
  reading: Reading,
): PullRequestReading | CodeHostFault {
  const [first = '', index] = path
  const found = index === undefined ? inRepository(answer[first]) : answer.nodes?.[Number(index)]
  if (found) {
    const ofChecks = errors.some(
      ({ path: at = [] }) => at.includes('statusCheckRollup') && startsWith(at, path),
    )
    const standing = standingFrom(found, reading === 'checks' && !ofChecks)
    const pullRequest = observedFrom(found)
    return {
      kind: 'read',
      pullRequest: reading === 'state' ? pullRequest : { ...pullRequest, standing },
      isFork: found.isCrossRepository,
      repository: nameFrom(found.repository.nameWithOwner),
    }
  }
  const isInvalid = (one: GraphqlError) => kindOf(one) === 'invalid'
  // Without an error of its own, an empty part is missing because of one that concerns the whole answer, such as an exceeded resource limit.
  const own = errors.find((one) => startsWith(one.path ?? [], path))
  const error = own ?? errors.find(isInvalid)
  // A pull request that cannot even be read for its state is hidden alone, and not with all others of the request.
  const isAlone = own !== undefined && reading === 'state' && own.type !== 'RESOURCE_LIMITS_EXCEEDED'
  if (error && isInvalid(error) && !isAlone)
    return new CodeHostFault('invalid', error.message || sentences.invalid)
  return { kind: 'hidden', code: error && kindOf(error) === 'forbidden' ? 'forbidden' : 'not_found' }
}

function startsWith(path: readonly (string | number)[], beginning: readonly string[]): boolean {
  return beginning.every((part, at) => String(path[at]) === part)
}

function inRepository(found: unknown) {
  const read = InRepository.safeParse(found)
  if (!read.success) throw misunderstood(read.error)
  return read.data?.pullRequest
}

function nameFrom(nameWithOwner: string): RepositoryName {
  const [owner = '', name = ''] = nameWithOwner.split('/')
  return { owner, name }
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

const decisions = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  REVIEW_REQUIRED: 'required',
} as const
const passing = ['SUCCESS', 'NEUTRAL', 'SKIPPED']
const failing = ['FAILURE', 'ERROR', 'TIMED_OUT', 'STARTUP_FAILURE']
/** Conclusions that say nothing about the commit. */
const silent = ['CANCELLED', 'STALE']
const fromBest = ['silent', 'passing', 'pending', 'failing'] as const
type Says = (typeof fromBest)[number]

function saysState(state: string): Says {
  if (passing.includes(state)) return 'passing'
  if (failing.includes(state)) return 'failing'
  return silent.includes(state) ? 'silent' : 'pending'
}

function standingFrom(
  { reviewDecision, reviews: given, commits }: z.infer<typeof PullRequest>,
  checksReadable: boolean,
): PullRequestStanding {
  const lastBy = new Map((given?.nodes ?? []).map((one) => [one?.author?.login, one?.state]))
  const verdicts = [...lastBy.values()]
  const unasked = verdicts.includes('CHANGES_REQUESTED')
    ? 'changes_requested'
    : verdicts.includes('APPROVED')
      ? 'approved'
      : null
  const review = reviewDecision ? decisions[reviewDecision] : unasked
  const rollup = commits?.nodes.at(-1)?.commit.statusCheckRollup
  if (!checksReadable || !rollup) return { review, checks: null, checksReadable }
  const all = rollup.contexts.nodes ?? []
  const saysOf = (one: (typeof all)[number]): Says => saysState(one?.conclusion ?? one?.state ?? 'PENDING')
  // If a check run and a status have the same name, only the check run counts, unless the status is worse.
  const isSaidByRun = (one: (typeof all)[number]) =>
    one?.context != null &&
    all.some(
      (run) => run?.name === one.context && fromBest.indexOf(saysOf(run)) >= fromBest.indexOf(saysOf(one)),
    )
  const said = all.filter((one) => !isSaidByRun(one)).map(saysOf)
  // If there are more checks than were read, one that was not read may be why the code host gives this state for all of them.
  const ofAll = rollup.contexts.totalCount > all.length ? saysState(rollup.state) : null
  const sum = (what: Says) => said.filter((one) => one === what).length || (what === ofAll ? 1 : 0)
  const counted = { passing: sum('passing'), failing: sum('failing'), pending: sum('pending') }
  if (counted.passing + counted.failing + counted.pending === 0)
    return { review, checks: null, checksReadable }
  const state = counted.failing > 0 ? 'failing' : counted.pending > 0 ? 'pending' : 'passing'
  return { review, checks: { state, ...counted }, checksReadable }
}

/** A query for the texts of an issue and of its comments, with their last editors and times. */
export const issueQuery = `query IssueText($id: ID!, $comments: [ID!]!) {
  node(id: $id) {
    ... on Issue { title body author { login } state lastEditedAt editor { ...Editor } }
  }
  nodes(ids: $comments) {
    ... on IssueComment { id body lastEditedAt editor { ...Editor } }
  }
}
fragment Editor on Actor {
  __typename
  login
  ... on User { databaseId }
}`

export const threadsQuery = `query ReviewThreads($id: ID!, $after: String) {
  node(id: $id) {
    ... on PullRequest {
      reviewThreads(first: 100, after: $after) {
        nodes { id isResolved comments(first: 1) { nodes { databaseId } } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
}`

export const resolveMutation = `mutation ResolveThread($id: ID!) {
  resolveReviewThread(input: { threadId: $id }) { thread { id } }
}`

export function setDraftMutation(draft: boolean): string {
  const name = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'
  return `mutation SetDraft($id: ID!) {
  ${name}(input: { pullRequestId: $id }) { pullRequest { id } }
}`
}

const ErrorAnswer = z.object({
  errors: z.array(GraphqlError),
  data: z.unknown(),
  headers: z.record(z.string(), z.unknown()).catch({}),
})

/** Sends a query. Returns the data, and the errors about missing parts. Throws CodeHostFault when there is no data, and at a rate limit. */
export async function askGraphql(
  octokit: Octokit,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<{ readonly data: unknown; readonly errors: readonly GraphqlError[] }> {
  try {
    return { data: await octokit.graphql(query, variables), errors: [] }
  } catch (error) {
    // GraphQL errors contain the answer; other errors do not.
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

/** Why an answer lacks the data at this path: the code host's error, or else `not_found`. */
export function faultAt(errors: readonly GraphqlError[], path: string): CodeHostFault {
  const error = errors.find(({ path: at = [path] }) => at[0] === path)
  const kind = error === undefined ? 'not_found' : kindOf(error)
  return new CodeHostFault(kind, error?.message ?? sentences[kind])
}

function kindOf({ type = '' }: GraphqlError): Exclude<CodeHostFault['kind'], 'unavailable'> {
  if (type.startsWith('RATE_LIMIT')) return 'rate_limited'
  if (type === 'NOT_FOUND') return 'not_found'
  if (type === 'UNAUTHORIZED' || type === 'UNAUTHENTICATED') return 'unauthorized'
  return ['FORBIDDEN', 'INSUFFICIENT_SCOPES', 'SAML_ERROR'].includes(type) ? 'forbidden' : 'invalid'
}
