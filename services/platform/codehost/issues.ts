/** Issues, by REST; the time at which the text of one was changed last, which REST does not tell, by GraphQL. */
import type { Octokit } from '@octokit/rest'
import { z } from 'zod'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type { CodeHostIssues, HostIssue, HostIssueEvent } from '#platform/ports/codeHostIssues.ts'
import { checkedName } from './address.ts'
import { Author, authorFrom, Comment, commentFrom, utc } from './feedback.ts'
import { askGraphql, issueQuery } from './graphql.ts'
import { pages } from './pages.ts'
import { ask, isUnchanged } from './request.ts'

const Id = z.number().transform(String)
const Time = z.iso.datetime({ offset: true }).transform(utc)
const ViaApp = z.object({ slug: z.string().nullish() }).nullish()

const Issue = z.object({
  id: Id,
  node_id: z.string(),
  number: z.int(),
  html_url: z.string(),
  user: Author,
  pull_request: z.unknown().optional(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
  comments: z.int().default(0),
  created_at: Time,
  updated_at: Time,
  performed_via_github_app: ViaApp,
})
const IssueEvent = z.object({
  event: z.string(),
  actor: Author,
  created_at: Time,
  label: z.object({ name: z.string().nullish() }).nullish(),
  performed_via_github_app: ViaApp,
})
const Text = z.object({
  node: z
    .object({
      title: z.string(),
      body: z.string(),
      author: z.object({ login: z.string() }).nullable(),
      state: z.enum(['OPEN', 'CLOSED']),
      lastEditedAt: Time.nullable(),
    })
    .nullable(),
})

const perPage = 100

interface IssuesHost {
  octokit(accessToken: string): Octokit
  app(): Promise<AppRegistration | undefined>
}

export function issueCalls({ octokit, app }: IssuesHost): CodeHostIssues {
  const slugOf = async () => (await app())?.slug
  return {
    issues: async (accessToken, repository, { label, since, etag }) => {
      const { owner, name: repo } = checkedName(repository)
      const query = { state: 'open', sort: 'updated', direction: 'asc', per_page: perPage, since } as const
      const labels = label === null ? {} : { labels: label }
      const list = (headers: Record<string, string>, page = 1) =>
        octokit(accessToken).rest.issues.listForRepo({ owner, repo, headers, ...query, ...labels, page })
      let tag: string | undefined
      const found = await ask(z.union([z.array(Issue), z.literal('unchanged')]), async () => {
        try {
          const answer = await list(etag === undefined ? {} : { 'if-none-match': etag })
          tag = answer.headers.etag
          return answer
        } catch (error) {
          if (isUnchanged(error)) return { data: 'unchanged' }
          throw error
        }
      })
      if (found === 'unchanged') return found
      const slug = await slugOf()
      const isOne = found.length < perPage
      const rest = isOne
        ? { items: [], cut: false }
        : await pages(Issue, (page) => list({}, page.page), { from: 2 })
      const issues = [...found, ...rest.items].map((one) => issueFrom(one, slug))
      // Of several pages the first may stay as it is while others change.
      return { issues, isCut: rest.cut, etag: isOne ? (tag ?? null) : null }
    },
    issueText: async (accessToken, nodeId) => {
      const { data, errors } = await askGraphql(octokit(accessToken), issueQuery, { id: nodeId })
      const found = Text.safeParse(data)
      if (!found.success || found.data.node === null)
        throw new CodeHostFault('not_found', errors[0]?.message ?? 'GitHub does not show the issue.')
      const { title, body, author, state, lastEditedAt } = found.data.node
      return { title, body, author, isOpen: state === 'OPEN', editedAt: lastEditedAt }
    },
    issueEvents: async (accessToken, repository, number) => {
      const { owner, name: repo } = checkedName(repository)
      const { rest } = octokit(accessToken)
      const of = { owner, repo, issue_number: number }
      const { items } = await pages(IssueEvent, (page) => rest.issues.listEvents({ ...of, ...page }))
      const slug = await slugOf()
      return items.flatMap((one) => eventFrom(one, slug))
    },
    issueComments: async (accessToken, repository, number) => {
      const { owner, name: repo } = checkedName(repository)
      const { rest } = octokit(accessToken)
      const of = { owner, repo, issue_number: number }
      const { items } = await pages(Comment, (page) => rest.issues.listComments({ ...of, ...page }))
      const slug = await slugOf()
      return items.map((one) => commentFrom(one, slug))
    },
    mentionName: async () => {
      const registered = await app()
      // One that is known by an OAuth client alone has a name that nobody confirmed.
      return registered === undefined || registered.appId === null ? null : registered.slug
    },
  }
}

const isOurs = (via: z.infer<typeof ViaApp>, slug: string | undefined): boolean =>
  slug !== undefined && via?.slug === slug

const issueFrom = (one: z.infer<typeof Issue>, slug: string | undefined): HostIssue => ({
  id: one.id,
  nodeId: one.node_id,
  number: one.number,
  url: one.html_url,
  author: authorFrom(one.user),
  isByOurApp: isOurs(one.performed_via_github_app, slug),
  isPullRequest: one.pull_request !== undefined && one.pull_request !== null,
  labels: one.labels.flatMap((label) =>
    typeof label === 'string' ? [label] : label.name ? [label.name] : [],
  ),
  comments: one.comments,
  createdAt: one.created_at,
  updatedAt: one.updated_at,
})

const kinds = ['labeled', 'unlabeled', 'renamed'] as const

function eventFrom(one: z.infer<typeof IssueEvent>, slug: string | undefined): readonly HostIssueEvent[] {
  const kind = kinds.find((known) => known === one.event)
  if (kind === undefined) return []
  const isByOurApp = isOurs(one.performed_via_github_app, slug)
  return [
    { kind, label: one.label?.name ?? null, at: one.created_at, actor: authorFrom(one.actor), isByOurApp },
  ]
}
