/**
 * Reads the reviews, comments and checks of a pull request and writes comments, with REST. Resolving threads and changing the draft state need
 * GraphQL, since REST has no calls for them.
 */
import type { Octokit } from '@octokit/rest'
import { z } from 'zod'
import type { RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type {
  CodeHostFeedback,
  HostAuthor,
  HostComment,
  HostFailedCheck,
  HostLineComment,
  HostReview,
} from '#platform/ports/codeHostFeedback.ts'
import { askGraphql, setDraftMutation, threadsQuery, resolveMutation } from './graphql.ts'
import { endOfStream } from './jobLog.ts'
import { lastPages, pages } from './pagedLists.ts'
import { ask, faultOf, ifHidden, sentences, type TokenCalls } from './request.ts'

/** An account, in the form that all answers in this file use. */
export const Author = z
  .object({ id: z.number(), login: z.string(), type: z.string().default('User') })
  .nullish()
const Id = z.number().transform(String)

const Review = z.object({
  id: Id,
  user: Author,
  body: z.string().nullish(),
  state: z.string(),
  html_url: z.string(),
  submitted_at: z.iso.datetime({ offset: true }).nullish(),
  commit_id: z.string().nullish(),
})
const LineComment = z.object({
  id: Id,
  user: Author,
  body: z.string(),
  created_at: z.iso.datetime({ offset: true }),
  html_url: z.string(),
  pull_request_review_id: Id.nullish(),
  in_reply_to_id: Id.nullish(),
  path: z.string(),
  line: z.int().nullish(),
  start_line: z.int().nullish(),
  original_line: z.int().nullish(),
  original_start_line: z.int().nullish(),
  subject_type: z.string().nullish(),
  diff_hunk: z.string().default(''),
})
export const Comment = z.object({
  id: Id,
  user: Author,
  body: z.string().nullish(),
  created_at: z.iso.datetime({ offset: true }),
  html_url: z.string(),
  performed_via_github_app: z.object({ slug: z.string().nullish() }).nullish(),
})
const Permission = z.object({ permission: z.string(), user: z.object({ id: Id }).nullish() })
const CheckRun = z.object({
  id: Id,
  name: z.string(),
  conclusion: z.string().nullish(),
  completed_at: z.iso.datetime({ offset: true }).nullish(),
  html_url: z.string().nullish(),
  details_url: z.string().nullish(),
  output: z.object({ title: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  app: z.object({ slug: z.string().nullish() }).nullish(),
})
const Status = z.object({
  context: z.string(),
  state: z.string(),
  description: z.string().nullish(),
  target_url: z.string().nullish(),
  updated_at: z.iso.datetime({ offset: true }).nullish(),
})
const Annotation = z.object({
  path: z.string().default(''),
  start_line: z.int().nullish(),
  annotation_level: z.string().nullish(),
  message: z.string().nullish(),
})
const Written = z.object({ id: Id })
const Threads = z.object({
  node: z
    .object({
      reviewThreads: z.object({
        nodes: z.array(
          z.object({
            id: z.string(),
            isResolved: z.boolean(),
            comments: z.object({
              nodes: z.array(z.object({ databaseId: z.number().nullable() }).nullable()),
            }),
          }),
        ),
        pageInfo: z.object({ endCursor: z.string().nullable(), hasNextPage: z.boolean() }),
      }),
    })
    .nullable(),
})

const failing = ['failure', 'timed_out', 'startup_failure']
const rights: readonly RepositoryRight[] = ['admin', 'write', 'read', 'none']
const maxThreadPages = 10

interface FeedbackHost extends TokenCalls {
  appSlug(): Promise<string | undefined>
}

export function feedbackCalls(host: FeedbackHost): CodeHostFeedback {
  return { ...readingCalls(host), ...checkCalls(host), ...writingCalls(host) }
}

function readingCalls({
  on,
  appSlug,
}: FeedbackHost): Pick<CodeHostFeedback, 'pullRequestFeedback' | 'repositoryRight'> {
  return {
    pullRequestFeedback: async (accessToken, repository, number) => {
      const { rest, at } = on(accessToken, repository)
      const of = { ...at, pull_number: number }
      const reviews = await lastPages(Review, (page) => rest.pulls.listReviews({ ...of, ...page }))
      const lines = await lastPages(LineComment, (page) => rest.pulls.listReviewComments({ ...of, ...page }))
      // Reading comments on the pull request as a whole needs another permission, the one for issues.
      const comments = await lastPages(Comment, (page) =>
        rest.issues.listComments({ ...at, issue_number: number, ...page }),
      ).catch(ifHidden({ items: [] }))
      const slug = await appSlug()
      return {
        reviews: reviews.items.flatMap(reviewFrom),
        lines: lines.items.map(lineFrom),
        comments: comments.items.map((one) => commentFrom(one, slug)),
      }
    },
    repositoryRight: async (accessToken, repository, { id, login: username }) => {
      const { rest, at } = on(accessToken, repository)
      try {
        const { permission, user } = await ask(Permission, () =>
          rest.repos.getCollaboratorPermissionLevel({ ...at, username }),
        )
        return user?.id === id ? (rights.find((right) => right === permission) ?? 'none') : 'none'
      } catch (fault) {
        if (fault instanceof CodeHostFault && fault.kind === 'not_found') return 'none'
        throw fault
      }
    },
  }
}

function checkCalls({
  octokit,
  on,
}: FeedbackHost): Pick<CodeHostFeedback, 'failedChecks' | 'checkAnnotations' | 'jobLog'> {
  return {
    failedChecks: async (accessToken, repository, ref) => {
      const { rest, at } = on(accessToken, repository)
      const query = { ...at, ref }
      const runs = await pages(CheckRun, async (page) => {
        const { data } = await rest.checks.listForRef({ ...query, filter: 'latest', ...page })
        return { data: data.check_runs }
      })
      // Reading commit statuses needs another permission than reading check runs, so a token may see only the check runs.
      const statuses = await pages(Status, async (page) => {
        const { data } = await rest.repos.getCombinedStatusForRef({ ...query, ...page })
        return { data: data.statuses }
      }).catch(ifHidden({ items: [] }))
      const ofRuns = runs.items.flatMap(failedFrom)
      const ofStatuses = statuses.items.flatMap((one) => failedStatusFrom(one, ref))
      // A failure that is reported as a check run and as a status is returned only once, as the check run, which has more details.
      const names = new Set(ofRuns.map(({ name }) => name))
      return [...ofRuns, ...ofStatuses.filter(({ name }) => !names.has(name))]
    },
    checkAnnotations: async (accessToken, repository, checkId) => {
      const { rest, at } = on(accessToken, repository)
      const query = { ...at, check_run_id: Number(checkId), per_page: feedbackLimits.annotations }
      const found = await ask(z.array(Annotation), () => rest.checks.listAnnotations(query))
      return found.map(({ path, start_line, annotation_level, message }) => ({
        path,
        line: start_line ?? 0,
        level: annotation_level ?? 'notice',
        message: message ?? '',
      }))
    },
    jobLog: async (accessToken, repository, jobId, shown) => {
      const { at } = on(accessToken, repository)
      try {
        const { data } = await octokit(accessToken).request(
          'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs',
          // A log may be large, so it is read as a stream.
          { ...at, job_id: Number(jobId), request: { parseSuccessResponseBody: false } },
        )
        const body: unknown = data
        return body instanceof ReadableStream ? await endOfStream(body, shown) : undefined
      } catch (error) {
        const fault = faultOf(error)
        if (fault instanceof CodeHostFault && fault.kind === 'not_found') return undefined
        if (fault instanceof CodeHostFault || fault instanceof RangeError) throw fault
        throw new CodeHostFault('unavailable', sentences.unavailable, fault)
      }
    },
  }
}

function writingCalls({
  octokit,
  on,
}: FeedbackHost): Pick<CodeHostFeedback, 'writeComment' | 'editComment' | 'resolveThreads' | 'setDraft'> {
  return {
    writeComment: async (accessToken, repository, number, { threadId, body }) => {
      const { rest, at } = on(accessToken, repository)
      const written = await ask(Written, () =>
        threadId === null
          ? rest.issues.createComment({ ...at, issue_number: number, body })
          : rest.pulls.createReplyForReviewComment({
              ...at,
              pull_number: number,
              comment_id: Number(threadId),
              body,
            }),
      )
      return written.id
    },
    editComment: async (accessToken, repository, commentId, body) => {
      const { rest, at } = on(accessToken, repository)
      await ask(Written, () => rest.issues.updateComment({ ...at, comment_id: Number(commentId), body }))
    },
    resolveThreads: async (accessToken, nodeId, threadIds) => {
      const asking = octokit(accessToken)
      let after: string | null = null
      let count = 0
      for (let page = 0; page < maxThreadPages; page += 1) {
        const { data, errors } = await askGraphql(asking, threadsQuery, { id: nodeId, after })
        const found = Threads.safeParse(data)
        if (!found.success || found.data.node === null)
          throw new CodeHostFault('not_found', errors[0]?.message ?? 'GitHub does not show the pull request.')
        const { nodes, pageInfo } = found.data.node.reviewThreads
        for (const thread of nodes) {
          const first = thread.comments.nodes[0]?.databaseId
          if (first == null || !threadIds.includes(String(first))) continue
          count += 1
          if (!thread.isResolved) await done(asking, resolveMutation, { id: thread.id })
        }
        if (!pageInfo.hasNextPage) break
        after = pageInfo.endCursor
      }
      return count
    },
    setDraft: (accessToken, nodeId, draft) =>
      done(octokit(accessToken), setDraftMutation(draft), { id: nodeId }),
  }
}

/** Runs a mutation with one or more parts. Throws the first error of a part as a `CodeHostFault`. */
async function done(octokit: Octokit, mutation: string, variables: Record<string, unknown>): Promise<void> {
  const { errors } = await askGraphql(octokit, mutation, variables)
  const [error] = errors
  if (error) throw new CodeHostFault(error.type === 'FORBIDDEN' ? 'forbidden' : 'invalid', error.message)
}

/** Converts a time of the code host to UTC. */
export const utc = (time: string): string => new Date(time).toISOString()

export function authorFrom(user: z.infer<typeof Author>): HostAuthor | null {
  return user ? { id: String(user.id), login: user.login, isBot: user.type === 'Bot' } : null
}

/** A comment in our form; `slug` is our App's name. */
export function commentFrom(one: z.infer<typeof Comment>, slug: string | undefined): HostComment {
  return {
    ...wordsFrom(one),
    isByOurApp: slug !== undefined && one.performed_via_github_app?.slug === slug,
  }
}

function wordsFrom(one: z.infer<typeof Comment> | z.infer<typeof LineComment>) {
  return {
    id: one.id,
    author: authorFrom(one.user),
    body: one.body ?? '',
    writtenAt: utc(one.created_at),
    url: one.html_url,
  }
}

function reviewFrom({
  id,
  user,
  body,
  state,
  html_url,
  submitted_at,
  commit_id,
}: z.infer<typeof Review>): readonly HostReview[] {
  const states = {
    APPROVED: 'approved',
    CHANGES_REQUESTED: 'changes_requested',
    COMMENTED: 'commented',
  } as const
  const known = Object.entries(states).find(([name]) => name === state.toUpperCase())?.[1]
  if (known === undefined || submitted_at == null) return []
  const words = {
    id,
    author: authorFrom(user),
    body: body ?? '',
    writtenAt: utc(submitted_at),
    url: html_url,
  }
  return [{ ...words, state: known, commit: commit_id ?? null }]
}

function lineFrom(one: z.infer<typeof LineComment>): HostLineComment {
  const ofFile = one.subject_type === 'file'
  const isOutdated = !ofFile && one.line == null
  return {
    ...wordsFrom(one),
    reviewId: one.pull_request_review_id ?? null,
    threadId: one.in_reply_to_id ?? one.id,
    path: one.path,
    line: ofFile ? null : (one.line ?? one.original_line ?? null),
    startLine: ofFile ? null : isOutdated ? (one.original_start_line ?? null) : (one.start_line ?? null),
    isOutdated,
    hunk: one.diff_hunk,
  }
}

function failedFrom(run: z.infer<typeof CheckRun>): readonly HostFailedCheck[] {
  const { id, name, conclusion, completed_at, output, app } = run
  if (conclusion == null || !failing.includes(conclusion)) return []
  return [
    {
      id,
      name,
      conclusion,
      endedAt: utc(completed_at ?? new Date(0).toISOString()),
      url: run.html_url ?? run.details_url ?? null,
      summary: [output?.title, output?.summary].filter((text) => text != null && text !== '').join('\n\n'),
      // The code host's own CI gives a check the same id as its job.
      jobId: app?.slug === 'github-actions' ? id : null,
      hasAnnotations: true,
    },
  ]
}

/** A failed status. The id is made of the context and the commit, so that a repeated report is not new. */
function failedStatusFrom(status: z.infer<typeof Status>, commit: string): readonly HostFailedCheck[] {
  const { context, state, description, target_url: url, updated_at } = status
  if (!['failure', 'error'].includes(state)) return []
  return [
    {
      id: `status ${commit} ${context}`,
      name: context,
      conclusion: state,
      endedAt: utc(updated_at ?? new Date(0).toISOString()),
      url: url ?? null,
      summary: description ?? '',
      jobId: null,
      hasAnnotations: false,
    },
  ]
}
