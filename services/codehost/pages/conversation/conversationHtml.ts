/** HTML for comments, reviews and threads, and for the forms with which people write them. */
import { shownParts } from '#domain/kernel/hiddenCharacters.ts'
import { html, type Html } from '#platform/http/html.ts'
import { accountOf } from '../../state/accounts.ts'
import type { Place } from '../../reviews/commentPlaces.ts'
import type { IssueComment, Review, ReviewComment, ReviewThread } from '../../state/reviewRecords.ts'

export const personName = (login: string): string => accountOf(login)?.name ?? login

/** The text with hidden characters replaced by their code points. */
export const visible = (text: string): readonly (Html | string)[] =>
  shownParts(text).map((part) =>
    part.kind === 'text' ? part.text : html`<mark title="Hidden character">${part.codePoint}</mark>`,
  )

export const dated = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`

type Said = Pick<IssueComment, 'author' | 'createdAt' | 'editedAt' | 'body'>

/** A panel with a text and its author. `did` is shown between author and time, for example 'commented'. */
export const textPanel = (
  said: Said,
  { id, did }: { readonly id: string; readonly did: Html | string },
): Html =>
  html`<article class="panel" id="${id}">
    <p class="head small">
      <span class="strong">${personName(said.author)}</span>
      <span class="muted">${did} ${dated(said.createdAt)}${said.editedAt !== null && ', edited'}</span>
    </p>
    ${said.body !== '' && html`<div class="body"><pre class="text">${visible(said.body)}</pre></div>`}
  </article>`

export const commentPanel = (comment: IssueComment): Html =>
  textPanel(comment, { id: `issuecomment-${comment.id}`, did: 'commented' })

const verdicts: Readonly<Record<Review['state'], Html>> = {
  APPROVED: html`<span class="ok">approved</span>`,
  CHANGES_REQUESTED: html`<span class="bad">requested changes</span>`,
  COMMENTED: html`reviewed`,
  DISMISSED: html`had a review that was dismissed`,
}

export const reviewPanel = (review: Review): Html =>
  textPanel(review, { id: `pullrequestreview-${review.id}`, did: verdicts[review.state] })

/** A panel with a thread and the lines of code to which it belongs. `mayResolve` says whether the viewer may resolve the thread. */
export const threadPanel = (shown: {
  readonly thread: ReviewThread
  readonly comments: readonly ReviewComment[]
  readonly place: Place
  readonly pullAddress: string
  readonly mayResolve: boolean
}): Html => {
  const { thread, comments, place, pullAddress } = shown
  const [first] = comments
  if (!first) return html``
  const isResolved = thread.resolvedBy !== null
  const where = place.line === null ? `line ${first.line}, outdated` : `line ${place.line}`
  const hunk = first.diffHunk.split('\n').slice(-6).join('\n')
  return html`<section class="panel" aria-label="${`Thread on ${first.path}`}">
    <div class="head facts small">
      <code>${visible(first.path)}</code><span class="muted">${where}</span>
      ${isResolved && html`<span class="chip">Resolved by ${personName(thread.resolvedBy ?? '')}</span>`}
    </div>
    <pre class="hunk">${visible(hunk)}</pre>
    ${comments.map(
      (one) =>
        html`<div class="row said" id="${`discussion_r${one.id}`}">
          <div class="grow">
            <p class="small">
              <span class="strong">${personName(one.author)}</span>
              <span class="muted">${dated(one.createdAt)}${one.editedAt !== null && ', edited'}</span>
            </p>
            <pre class="text">${visible(one.body)}</pre>
          </div>
        </div>`,
    )}
    <div class="body stack">
      <form class="stack" method="post" action="${`${pullAddress}/threads/${thread.id}/reply`}">
        ${textField({ name: 'body', label: 'Reply', rows: 2 })}
        <button class="button" type="submit">Reply</button>
      </form>
      ${
        shown.mayResolve &&
        html`<form
          method="post"
          action="${`${pullAddress}/threads/${thread.id}/${isResolved ? 'unresolve' : 'resolve'}`}"
        >
          <button class="button" type="submit">${isResolved ? 'Unresolve' : 'Resolve'} conversation</button>
        </form>`
      }
    </div>
  </section>`
}

/** A field for several lines of text. */
export const textField = (field: {
  readonly name: string
  readonly label: string
  readonly rows: number
  readonly value?: string
}): Html =>
  html`<label class="field"
    ><span class="small strong">${field.label}</span>
    <textarea name="${field.name}" rows="${field.rows}">${field.value}</textarea>
  </label>`

/** The form for a comment at the end of a conversation. */
export const commentForm = (action: string, speaker: string): Html =>
  html`<form class="stack" method="post" action="${action}">
    ${textField({ name: 'body', label: `Comment as ${speaker}`, rows: 4 })}
    <button class="button" type="submit">Comment</button>
  </form>`

/** The form for a review of a whole pull request. With `isOwn`, it offers neither to approve nor to request changes. */
export const reviewForm = (pullAddress: string, speaker: string, isOwn: boolean): Html =>
  html`<form class="panel" method="post" action="${`${pullAddress}/reviews`}">
    <h2 class="head">Review as ${speaker}</h2>
    <div class="body stack">
      ${textField({ name: 'body', label: 'What you think of it', rows: 3 })}
      <div class="buttons">
        <button class="button" type="submit" name="event" value="COMMENT">Comment</button>
        ${
          !isOwn &&
          html`<button class="button" type="submit" name="event" value="APPROVE">Approve</button>
            <button class="button" type="submit" name="event" value="REQUEST_CHANGES">
              Request changes
            </button>`
        }
      </div>
    </div>
  </form>`

/** The form for a comment on a line of the diff. */
export const lineForm = (
  pullAddress: string,
  spot: { readonly path: string; readonly side: string; readonly line: number; readonly head: string },
): Html =>
  html`<form class="stack" id="comment" method="post" action="${`${pullAddress}/lines`}">
    <input type="hidden" name="path" value="${spot.path}" /><input
      type="hidden"
      name="side"
      value="${spot.side}"
    /><input type="hidden" name="line" value="${spot.line}" /><input
      type="hidden"
      name="commit"
      value="${spot.head}"
    />
    ${textField({ name: 'body', label: `Comment on line ${spot.line} of ${spot.path}`, rows: 3 })}
    <div class="buttons">
      <button class="button primary" type="submit">Comment</button
      ><a class="button" href="${pullAddress}">Cancel</a>
    </div>
  </form>`
