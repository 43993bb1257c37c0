/** Reactions to issues and comments. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { accountOf } from '../accounts.ts'
import { requires } from '../http/requires.ts'
import { invalid, notFound } from '../httpError.ts'
import { reactionKinds, type Reaction } from '../issues/records.ts'
import type { Host } from '../services.ts'
import { nodeId, simpleUser, time } from './answers.ts'
import { bodyAs, answerPage, numberIn } from './requests.ts'
import { aboutAsked, actorOf } from './repositories.ts'
import type { About } from './reviewAnswers.ts'

const NewReaction = z.object({ content: z.enum(reactionKinds) })
const mostReactions = 5_000

type Asked = Parameters<typeof aboutAsked>[0]
type Subject = Pick<Reaction, 'subject' | 'subjectId'>

export function reactionRoutes(router: Router, host: Host): void {
  const repo = '/repos/:owner/:repo'
  const subjects: readonly [path: string, subjectOf: (ctx: Asked, about: About) => Subject][] = [
    [
      `${repo}/issues/:number/reactions`,
      (ctx, { repository }) => ({
        subject: 'issue',
        subjectId: host.issues.get(repository, numberIn(ctx, 'number')).id,
      }),
    ],
    [
      `${repo}/issues/comments/:id/reactions`,
      (ctx, { repository }) => ({
        subject: 'issue_comment',
        subjectId: host.comments.get(repository, numberIn(ctx, 'id')).id,
      }),
    ],
    [
      `${repo}/pulls/comments/:id/reactions`,
      (ctx, { repository }) => ({
        subject: 'review_comment',
        subjectId: host.reviews.comment(repository, numberIn(ctx, 'id')).id,
      }),
    ],
  ]
  for (const [path, subjectOf] of subjects) {
    router.get(path, requires(host, { issues: 'read' }, { pull_requests: 'read' }), (ctx) => {
      const about = aboutAsked(ctx, host)
      const found = reactionsTo(about, subjectOf(ctx, about))
      answerPage(ctx, about.origin, found, (one) => reactionAnswer(about, one))
    })
    router.post(path, requires(host, { issues: 'write' }, { pull_requests: 'write' }), async (ctx) => {
      const { account } = actorOf(ctx, host)
      const about = aboutAsked(ctx, host)
      const { content } = bodyAs(ctx, NewReaction, 'Reaction')
      const subject = subjectOf(ctx, about)
      const { isNew, reaction } = await react(host, about, { ...subject, content, author: account.login })
      // The same sign by the same person is there once.
      ctx.status = isNew ? 201 : 200
      ctx.body = reactionAnswer(about, reaction)
    })
  }
}

const reactionsTo = ({ state, repository }: About, { subject, subjectId }: Subject): readonly Reaction[] =>
  state.reactions.filter(
    (one) => one.repositoryId === repository.id && one.subject === subject && one.subjectId === subjectId,
  )

function react(
  { store, clock }: Host,
  about: About,
  wanted: Pick<Reaction, 'subject' | 'subjectId' | 'content' | 'author'>,
): Promise<{ readonly isNew: boolean; readonly reaction: Reaction }> {
  return store.update<{ readonly isNew: boolean; readonly reaction: Reaction }>((state) => {
    const here = reactionsTo({ ...about, state }, wanted)
    const known = here.find(({ content, author }) => content === wanted.content && author === wanted.author)
    if (known) return [state, { isNew: false, reaction: known }]
    if (here.length >= mostReactions)
      throw invalid({ resource: 'Reaction', code: 'custom', message: 'Too many.' })
    if (!state.repositories.some(({ id }) => id === about.repository.id)) throw notFound()
    const reaction: Reaction = {
      ...wanted,
      id: state.nextTextId,
      repositoryId: about.repository.id,
      createdAt: clock.now().toISOString(),
    }
    const reactions = [...state.reactions, reaction]
    return [
      { ...state, nextTextId: state.nextTextId + 1, reactions },
      { isNew: true, reaction },
    ]
  })
}

/** `reaction`. */
function reactionAnswer({ origin }: About, { id, author, content, createdAt }: Reaction) {
  const account = accountOf(author)
  return {
    id,
    node_id: nodeId('Reaction', id),
    user: account ? simpleUser(origin, account) : null,
    content,
    created_at: time(createdAt),
  }
}
