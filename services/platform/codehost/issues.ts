/** Reads issues with REST, and the last editor and edit time of a text with GraphQL, since REST does not offer them. */
import type { Octokit } from '@octokit/rest'
import { z } from 'zod'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type {
  CodeHostIssues,
  HostEdit,
  HostIssue,
  HostIssueComment,
  HostIssueEvent,
  HostIssueText,
} from '#platform/ports/codeHostIssues.ts'
import { Author, authorFrom, Comment, commentFrom, utc } from './feedback.ts'
import { askGraphql, faultAt, issueQuery } from './graphql.ts'
import { lastPages, pages } from './pagedLists.ts'
import { ask, askIfChanged, misunderstood, type TokenCalls } from './request.ts'

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
const Editor = z
  .object({ __typename: z.string(), login: z.string(), databaseId: z.number().nullish() })
  .nullable()
const edited = { lastEditedAt: Time.nullable(), editor: Editor }
const Text = z.object({
  title: z.string(),
  body: z.string(),
  author: z.object({ login: z.string() }).nullable(),
  state: z.enum(['OPEN', 'CLOSED']),
  ...edited,
})
const CommentText = z.object({ id: z.string(), body: z.string(), ...edited })
/** The answer for a node that exists but is neither an issue nor a comment. */
const Nothing = z.strictObject({}).transform(() => null)
const Texts = z.object({
  node: z.union([Text, Nothing]).nullable(),
  nodes: z.array(z.union([CommentText, Nothing]).nullable()),
})
const ListedComment = Comment.extend({ node_id: z.string() })

const perPage = 100

interface IssuesHost extends TokenCalls {
  app(): Promise<AppRegistration | undefined>
}

export function issueCalls({ octokit, on, app }: IssuesHost): CodeHostIssues {
  const slugOf = async () => (await app())?.slug
  return {
    issues: async (accessToken, repository, { label, since, etag }) => {
      const { rest, at } = on(accessToken, repository)
      const query = {
        ...at,
        state: 'open',
        sort: 'updated',
        direction: 'asc',
        per_page: perPage,
        since,
      } as const
      const labels = label === null ? {} : { labels: label }
      const list = (headers: Record<string, string>, page = 1) =>
        rest.issues.listForRepo({ ...query, ...labels, headers, page })
      const found = await askIfChanged(z.array(Issue), etag, list)
      if (found === 'unchanged') return found
      const slug = await slugOf()
      const isOne = found.data.length < perPage
      const later = isOne
        ? { items: [], cut: false }
        : await pages(Issue, (page) => list({}, page.page), { from: 2 })
      const issues = [...found.data, ...later.items].map((one) => issueFrom(one, slug))
      // The ETag covers only the first page, which may be unchanged while further pages change.
      return { issues, isCut: later.cut, etag: isOne ? found.etag : null }
    },
    issue: async (accessToken, repository, number) => {
      const { rest, at } = on(accessToken, repository)
      const found = await ask(Issue, () => rest.issues.get({ ...at, issue_number: number }))
      return issueFrom(found, await slugOf())
    },
    issueText: (accessToken, nodeId, commentNodeIds) =>
      issueText(octokit(accessToken), nodeId, commentNodeIds),
    issueEvents: async (accessToken, repository, number) => {
      const { rest, at } = on(accessToken, repository)
      const of = { ...at, issue_number: number }
      const { items, cut } = await lastPages(IssueEvent, (page) => rest.issues.listEvents({ ...of, ...page }))
      const slug = await slugOf()
      return { events: items.flatMap((one) => eventFrom(one, slug)), isCut: cut }
    },
    issueComments: async (accessToken, repository, number, since) => {
      const { rest, at } = on(accessToken, repository)
      const of = { ...at, issue_number: number, ...(since === null ? {} : { since }) }
      const { items, cut } = await lastPages(ListedComment, (page) =>
        rest.issues.listComments({ ...of, ...page }),
      )
      const slug = await slugOf()
      return { comments: items.map((one) => listedFrom(one, slug)), isCut: cut }
    },
    issueComment: async (accessToken, repository, id) => {
      const { rest, at } = on(accessToken, repository)
      const of = { ...at, comment_id: Number(id) }
      const found = await ask(ListedComment, () => rest.issues.getComment(of))
      return listedFrom(found, await slugOf())
    },
    mentionName: async () => {
      const registered = await app()
      // An OAuth client without an App may be configured with any name, which the code host has not confirmed.
      return registered === undefined || registered.appId === null ? null : registered.slug
    },
  }
}

async function issueText(
  octokit: Octokit,
  nodeId: string,
  commentNodeIds: readonly string[],
): Promise<HostIssueText> {
  const variables = { id: nodeId, comments: commentNodeIds }
  const { data, errors } = await askGraphql(octokit, issueQuery, variables)
  const read = Texts.safeParse(data)
  if (!read.success) throw misunderstood(read.error)
  const { node, nodes } = read.data
  // A token without the permission for issues gets `null`, with an error about that.
  if (node === null) throw faultAt(errors, 'node')
  // Comments need the same permission as the issue, so a comment that is missing here was deleted.
  const comments = nodes.flatMap((one) => (one === null ? [] : [one]))
  const { title, body, author, state } = node
  return {
    title,
    body,
    author,
    isOpen: state === 'OPEN',
    edit: editFrom(node),
    comments: new Map(comments.map((one) => [one.id, { body: one.body, edit: editFrom(one) }])),
  }
}

function editFrom({
  lastEditedAt,
  editor,
}: Pick<z.infer<typeof Text>, 'lastEditedAt' | 'editor'>): HostEdit | null {
  if (lastEditedAt === null) return null
  // An editor without a number cannot be compared with accounts in other answers.
  const id = editor?.databaseId
  const by =
    editor === null || id === null || id === undefined
      ? null
      : { id: String(id), login: editor.login, isBot: editor.__typename !== 'User' }
  return { at: lastEditedAt, by }
}

const listedFrom = (one: z.infer<typeof ListedComment>, slug: string | undefined): HostIssueComment => ({
  ...commentFrom(one, slug),
  nodeId: one.node_id,
})

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
