/** Groups the texts on a pull request into pieces of feedback: a review with its comments, or a single comment. Has no side effects. */
import type { FeedbackReceived } from '#domain/task/codeHost/feedbackEvents.ts'
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
import { isMarked } from '#domain/task/visibleText.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import { cut } from './feedbackReading.ts'
import type { HostAuthor, HostFeedback, HostLineComment } from '#platform/ports/codeHostFeedback.ts'

type Content = EventOf<typeof FeedbackReceived>['content']

/** A piece of feedback whose author's permissions are not known yet. */
export interface Piece {
  readonly kind: 'review' | 'comment'
  readonly author: HostAuthor | null
  readonly verdict: 'approved' | 'changes_requested' | 'commented' | null
  readonly content: Content
}

/**
 * All pieces, oldest first, without texts by bots, by our App and by this server in a person's name, and without empty reviews. Line comments whose
 * keys are `known` are left out. A limited number of a piece's new comments have their text; the others have only ids and places.
 */
export function piecesOf(
  feedback: HostFeedback,
  { number, headCommit }: { number: number; headCommit: string },
  known: ReadonlySet<string>,
): readonly Piece[] {
  const about = { number, headCommit, reviewId: null, commentId: null, comments: [], check: null }
  const lines = feedback.lines.filter(
    ({ id, author, body }) => author?.isBot !== true && !isMarked(body) && !known.has(`line ${id}`),
  )
  const listed = new Set(feedback.reviews.map(({ id }) => id))
  const reviews = feedback.reviews.flatMap((review): readonly Piece[] => {
    const { id, author, body, state, commit, writtenAt, url } = review
    if (author?.isBot === true || isMarked(body)) return []
    const comments = lines.filter(({ reviewId }) => reviewId === id)
    if (body.trim() === '' && comments.length === 0) return []
    const content = {
      ...about,
      writtenAt,
      author: named(author),
      url,
      headCommit: commit ?? headCommit,
      reviewId: id,
      body: cut(body, feedbackLimits.body),
    }
    return [{ kind: 'review', author, verdict: state, content: { ...content, comments: linesOf(comments) } }]
  })
  // Line comments whose review the code host does not list. Each becomes a piece of its own.
  const lone = lines
    .filter(({ reviewId }) => reviewId === null || !listed.has(reviewId))
    .map((line): Piece => {
      const content = {
        ...about,
        writtenAt: line.writtenAt,
        author: named(line.author),
        url: line.url,
        body: '',
        comments: [lineOf(line)],
      }
      return { kind: 'review', author: line.author, verdict: 'commented', content }
    })
  const comments = feedback.comments
    .filter(
      ({ author, body, isByOurApp }) =>
        author?.isBot !== true && !isByOurApp && !isMarked(body) && body.trim() !== '',
    )
    .map(({ id, author, body, writtenAt, url }): Piece => {
      const content = {
        ...about,
        writtenAt,
        author: named(author),
        url,
        commentId: id,
        body: cut(body, feedbackLimits.body),
      }
      return { kind: 'comment', author, verdict: null, content }
    })
  return [...reviews, ...lone, ...comments].toSorted((a, b) =>
    a.content.writtenAt < b.content.writtenAt ? -1 : 1,
  )
}

/** The first comments with their text. Of the others only the places are recorded, so that they count as known and start no turn later. */
const linesOf = (comments: readonly HostLineComment[]) =>
  comments.map((one, index) =>
    index < feedbackLimits.comments ? lineOf(one) : lineOf({ ...one, body: '', hunk: '' }),
  )

function named(author: HostAuthor | null): Content['author'] {
  return author && { id: author.id, login: author.login }
}

function lineOf({ id, threadId, path, line, startLine, isOutdated, hunk, body }: HostLineComment) {
  return {
    id,
    threadId,
    path,
    line,
    startLine,
    isOutdated,
    // The commented lines are at the end of the hunk, so that end is kept.
    hunk: hunk.slice(-feedbackLimits.hunk),
    body: cut(body, feedbackLimits.body),
  }
}
