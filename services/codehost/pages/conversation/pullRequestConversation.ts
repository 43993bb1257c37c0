/** The conversation on the page of a pull request: comments and reviews in order of time, and the forms to write more. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { html, type Html } from '#platform/http/html.ts'
import { sameName } from '../../state/accounts.ts'
import { mostCharacters } from '../../state/reviewRecords.ts'
import type { Host } from '../../host.ts'
import type { PullRequest } from '../../state/stateSchema.ts'
import {
  addressOf,
  badForm,
  numberOf,
  seeOther,
  formRequest,
  type PageRequest,
  type PageContext,
} from './pageRequest.ts'
import { commentForm, commentPanel, reviewForm, reviewPanel, threadPanel } from './conversationHtml.ts'

const Text = z.object({ body: z.string().trim().min(1).max(mostCharacters) })
const Review = z.object({
  event: z.enum(['COMMENT', 'APPROVE', 'REQUEST_CHANGES']),
  body: z.string().trim().max(mostCharacters),
})
const Line = Text.extend({
  path: z.string().min(1).max(4_096),
  side: z.enum(['LEFT', 'RIGHT']),
  line: z.coerce.number().int().positive(),
  commit: z.string().max(64),
})

const pullPath = '/:owner/:repo/pull/:number'

export function conversationRoutes(router: Router, host: Host): void {
  router.post(`${pullPath}/comments`, async (ctx) => {
    const { repository, by } = formRequest(ctx, host)
    const { number } = host.pulls.get(repository, numberOf(ctx))
    const { body } = formAs(ctx, Text)
    const comment = await host.comments.add(repository, number, by, body)
    seeOther(ctx, `${addressOf(repository)}/pull/${number}#issuecomment-${comment.id}`)
  })

  router.post(`${pullPath}/reviews`, async (ctx) => {
    const { repository, by } = formRequest(ctx, host)
    const number = numberOf(ctx)
    const { event, body } = formAs(ctx, Review)
    const review = await host.reviews.submit(repository, number, by, {
      event,
      body,
      commitId: undefined,
      comments: [],
    })
    seeOther(ctx, `${addressOf(repository)}/pull/${number}#pullrequestreview-${review.id}`)
  })

  router.post(`${pullPath}/lines`, async (ctx) => {
    const { repository, by } = formRequest(ctx, host)
    const number = numberOf(ctx)
    const { path, side, line, commit, body } = formAs(ctx, Line)
    const comment = { path, body, line, side, startLine: null, startSide: null }
    await host.reviews.submit(repository, number, by, {
      event: 'COMMENT',
      body: '',
      commitId: commit,
      comments: [comment],
    })
    seeOther(ctx, `${addressOf(repository)}/pull/${number}`)
  })

  router.post(`${pullPath}/threads/:thread/reply`, async (ctx) => {
    const { repository, by } = formRequest(ctx, host)
    const { body } = formAs(ctx, Text)
    const number = numberOf(ctx)
    const thread = numberOf(ctx, 'thread')
    const first = host.reviews.comments(repository, number).find(({ threadId }) => threadId === thread)
    const reply = await host.reviews.reply(repository, { number, id: first?.id ?? 0 }, by, body)
    seeOther(ctx, `${addressOf(repository)}/pull/${number}#discussion_r${reply.id}`)
  })

  for (const change of ['resolve', 'unresolve'] as const)
    router.post(`${pullPath}/threads/:thread/${change}`, async (ctx) => {
      const { repository, by } = formRequest(ctx, host)
      const thread = await host.reviews.setResolved(
        repository,
        numberOf(ctx, 'thread'),
        by,
        change === 'resolve',
      )
      seeOther(ctx, `${addressOf(repository)}/pull/${thread.number}`)
    })
}

/** The fields of a form. Throws Refusal 422 when a field is missing or invalid. */
function formAs<Form>(ctx: PageContext, schema: z.ZodType<Form>): Form {
  const read = schema.safeParse(ctx.request.body)
  if (!read.success) throw badForm('The form is empty, or longer than a comment may be.')
  return read.data
}

/** The comments and reviews of a pull request, as HTML. */
export async function conversation(
  host: Host,
  { repository, speaker, mayPush }: PageRequest,
  pull: PullRequest,
): Promise<Html> {
  const { number } = pull
  const pullAddress = `${addressOf(repository)}/pull/${number}`
  const comments = host.reviews.comments(repository, number)
  const isOwn = sameName(pull.author, speaker.login)
  const threads = await Promise.all(
    host.reviews.threads(repository, number).map(async (thread) => {
      const own = comments.filter(({ threadId }) => threadId === thread.id)
      const [first] = own
      if (!first) return { at: '', panel: html`` }
      const place = await host.reviews.place(repository, first)
      const mayResolve = mayPush || isOwn
      return {
        at: first.createdAt,
        panel: threadPanel({ thread, comments: own, place, pullAddress, mayResolve }),
      }
    }),
  )
  const all = [
    ...host.comments.of(repository, number).map((one) => ({ at: one.createdAt, panel: commentPanel(one) })),
    // A review that has only comments on lines is not listed, because the threads show these comments.
    ...host.reviews
      .of(repository, number)
      .filter(({ body, state }) => body !== '' || state !== 'COMMENTED')
      .map((one) => ({ at: one.createdAt, panel: reviewPanel(one) })),
    ...threads,
  ].toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
  return html`<section class="blocks">
    <h2>Conversation</h2>
    ${all.length === 0 && html`<p class="muted">Nobody has said anything yet.</p>`}
    ${all.map(({ panel }) => panel)} ${commentForm(`${pullAddress}/comments`, speaker.login)}
    ${pull.closedAt === null && reviewForm(pullAddress, speaker.login, isOwn)}
  </section>`
}
