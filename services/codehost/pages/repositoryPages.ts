/** HTML for the list of repositories, for the page of a repository, and for the page of a pull request. */
import { accountOf } from '../state/accounts.ts'
import type { PullRequestFigures } from '../pulls/pullRequests.ts'
import type { PullRequest, Repository } from '../state/stateSchema.ts'
import { shownParts } from '#domain/kernel/hiddenCharacters.ts'
import type { Spot } from '../reviews/commentPlaces.ts'
import { lineForm } from './conversation/conversationHtml.ts'
import type { DiffFile, DiffLine } from '../git/diffLines.ts'
import { html } from '#platform/http/html.ts'
import type { Html } from '#platform/http/html.ts'

const addressOf = (repository: Repository): string => `/${repository.owner}/${repository.name}`

const personName = (login: string): string => accountOf(login)?.name ?? login

const repositoryRow = (repository: Repository): Html =>
  html`<li>
    <a class="row" href="${addressOf(repository)}">
      <span class="grow"
        ><span class="strong">${repository.owner}/${repository.name}</span><br />
        <span class="muted small">${repository.description ?? 'No description provided'}</span></span
      >
      ${repository.language !== null && html`<span class="muted small">${repository.language}</span>`}
      ${repository.isPrivate && html`<span class="chip">Private</span>`}</a
    >
  </li>`

export const homePage = (repositories: readonly Repository[]): Html =>
  html` <div class="stack">
      <h1>Repositories</h1>
      <p class="muted">This is the local code host: it stands in for GitHub on this machine.</p>
    </div>
    ${
      repositories.length === 0
        ? html`<p class="muted">There is no repository that you may see.</p>`
        : html`<ul class="panel">
            ${repositories.map(repositoryRow)}
          </ul>`
    }`

export const repositoryPage = (page: {
  readonly repository: Repository
  readonly branches: readonly string[]
  readonly pulls: readonly PullRequest[]
  readonly cloneUrl: string
}): Html =>
  html` <div class="stack">
      <h1>${page.repository.owner}/${page.repository.name}</h1>
      <p class="muted">${page.repository.description ?? 'No description provided'}</p>
      <p class="facts small muted">
        <span class="chip">${page.repository.isPrivate ? 'Private' : 'Public'}</span>
        ${page.repository.language !== null && html`<span>${page.repository.language}</span>`}
        <span>${counted(page.branches.length, 'branch', 'branches')}</span>
      </p>
    </div>
    <section class="stack">
      <h2>Clone</h2>
      <code class="copy">git clone ${page.cloneUrl}</code>
    </section>
    <p><a href="${`${addressOf(page.repository)}/issues`}">Issues</a></p>
    <section class="stack">
      <h2>Open pull requests</h2>
      ${
        page.pulls.length === 0
          ? html`<p class="muted">None.</p>`
          : html`<ul class="panel">
              ${page.pulls.map((pull) => pullRow(page.repository, pull))}
            </ul>`
      }
    </section>
    <section class="stack">
      <h2>Branches</h2>
      ${
        page.branches.length === 0
          ? html`<p class="muted">
              The repository is empty: the first push makes the branch ${page.repository.defaultBranch}.
            </p>`
          : html`<ul class="panel">
              ${page.branches.map(
                (branch) =>
                  html`<li class="row">
                    <code>${branch}</code>
                    ${branch === page.repository.defaultBranch && html`<span class="chip end">Default</span>`}
                  </li>`,
              )}
            </ul>`
      }
    </section>`

const pullRow = (repository: Repository, pull: PullRequest): Html =>
  html`<li>
    <a class="row" href="${`${addressOf(repository)}/pull/${pull.number}`}"
      ><span class="grow"
        ><span class="strong">${pull.title}</span><br />
        <span class="muted small"
          >#${pull.number} by ${personName(pull.author)}, <code>${pull.head}</code> into
          <code>${pull.base}</code></span
        ></span
      >
      ${pull.draft && html`<span class="chip">Draft</span>`}</a
    >
  </li>`

/** Whether the page shows the button to merge, and if not, why. */
export type MergeOffer = { readonly kind: 'offered' } | { readonly kind: 'not'; readonly why: string }

export const pullPage = (page: {
  readonly repository: Repository
  readonly pull: PullRequest
  readonly figures: PullRequestFigures
  readonly diff: { readonly files: readonly DiffFile[]; readonly truncated: boolean }
  readonly merge: MergeOffer
  /** The comments and reviews, and the forms to write more. */
  readonly conversation: Html
  readonly facts: Html | undefined
  /** The line below which the page shows the form for a comment; `undefined` for no form. */
  readonly commented: Spot | undefined
  /** Whether the buttons for closing, reopening and drafts are shown. */
  readonly mayChange: boolean
  /** Why the last change, such as a merge, was refused; `undefined` when nothing was refused. */
  readonly refused: string | undefined
}): Html => {
  const { repository, pull, figures, diff } = page
  return html` <div class="stack">
      <p class="small"><a href="${addressOf(repository)}">${repository.owner}/${repository.name}</a></p>
      <h1>${pull.title} <span class="muted">#${pull.number}</span></h1>
      <p class="facts">
        ${stateOf(pull)}<span class="muted"
          >${personName(pull.author)} ${pull.closedAt === null ? 'wants' : 'wanted'} to merge
          ${counted(figures.commits, 'commit', 'commits')} into <code>${pull.base}</code> from
          <code>${pull.head}</code></span
        >
        <span class="mono"
          ><span class="plus">+${figures.additions}</span>
          <span class="minus">−${figures.deletions}</span></span
        >
      </p>
    </div>
    ${page.refused !== undefined && html`<p class="alert" role="alert">${page.refused}</p>`}
    <section class="panel">
      <div class="body">
        ${
          pull.body === null || pull.body.trim() === ''
            ? html`<p class="muted">No description provided.</p>`
            : html`<pre class="text">${pull.body}</pre>`
        }
      </div>
    </section>
    ${pull.closedAt === null && mergeBox(repository, pull, page.merge)}
    ${page.mayChange && stateForms(repository, pull)} ${page.facts} ${page.conversation}
    <section class="stack">
      <h2>Changed files (${figures.changedFiles})</h2>
      ${diff.truncated && html`<p class="muted">The diff is longer than this page shows: fetch the branch to see all of it.</p>`}
      ${diff.files.length === 0 && html`<p class="muted">There is nothing to show.</p>`}
    </section>
    ${diff.files.map((file) => filePanel(file, { ...page, address: `${addressOf(repository)}/pull/${pull.number}` }))}`
}

function stateOf(pull: PullRequest): Html {
  if (pull.merged) {
    const by = pull.merged.by === null ? 'by a push' : `by ${personName(pull.merged.by)}`
    return html`<span class="state ok">Merged ${by}</span>`
  }
  if (pull.closedAt !== null) return html`<span class="state bad">Closed</span>`
  return pull.draft ? html`<span class="state muted">Draft</span>` : html`<span class="state run">Open</span>`
}

const mergeBox = (repository: Repository, pull: PullRequest, merge: MergeOffer): Html =>
  merge.kind === 'offered'
    ? html`<form method="post" action="${`${addressOf(repository)}/pull/${pull.number}/merge`}">
        <input type="hidden" name="sha" value="${pull.headSha}" /><button
          class="button primary"
          type="submit"
        >
          Merge pull request
        </button>
      </form>`
    : html`<p class="muted">${merge.why}</p>`

/** The changes of a pull request's state that forms can request, as they are written in the forms' addresses. */
export const stateChanges = ['close', 'reopen', 'draft', 'ready'] as const
export type StateChange = (typeof stateChanges)[number]

const changeWords: Readonly<Record<StateChange, string>> = {
  close: 'Close pull request',
  reopen: 'Reopen pull request',
  draft: 'Convert to draft',
  ready: 'Ready for review',
}

function stateForms(repository: Repository, pull: PullRequest): Html {
  const offered: readonly StateChange[] = pull.merged
    ? []
    : pull.closedAt !== null
      ? ['reopen']
      : [pull.draft ? 'ready' : 'draft', 'close']
  return html`<div class="facts">
    ${offered.map(
      (change) =>
        html`<form method="post" action="${`${addressOf(repository)}/pull/${pull.number}/${change}`}">
          <button class="button" type="submit">${changeWords[change]}</button>
        </form>`,
    )}
  </div>`
}

/** What the rows of a diff need to link to the comment form, and to show it below the line `commented`. */
interface Commenting {
  readonly address: string
  readonly pull: PullRequest
  readonly commented: Spot | undefined
}

const filePanel = (file: DiffFile, commenting: Commenting): Html =>
  html`<section class="panel">
    <div class="head"><code>${visible(file.path)}</code></div>
    <div class="diff" tabindex="0" role="region" aria-label="${`Changes of ${file.path}`}">
      <table class="code">
        <tbody>
          ${file.lines.map((line) => [
            row(line, lineNumbers(file.path, line, commenting)),
            formBelow(file.path, line, commenting),
          ])}
        </tbody>
      </table>
    </div>
  </section>`

/** The text with hidden characters replaced by their code points. */
const visible = (text: string): readonly (Html | string)[] =>
  shownParts(text).map((part) =>
    part.kind === 'text' ? part.text : html`<mark title="Hidden character">${part.codePoint}</mark>`,
  )

const signs = { added: '+', deleted: '-', same: ' ', hunk: '', note: '' } as const

const row = (line: DiffLine, numbers: Record<'oldLine' | 'newLine', Html | number | undefined>): Html =>
  html`<tr class="${line.kind}">
    <td class="n">${numbers.oldLine}</td>
    <td class="n">${numbers.newLine}</td>
    <td class="sign">${signs[line.kind]}</td>
    <td>${visible(line.text)}</td>
  </tr>`

/** The place to which a comment on this line refers: by its number in the old file for a deleted line, otherwise by its number in the new file. */
const spotOf = (path: string, { kind, oldLine, newLine }: DiffLine): Spot | undefined => {
  if (kind === 'deleted' && oldLine !== undefined) return { path, side: 'LEFT', line: oldLine }
  return newLine === undefined ? undefined : { path, side: 'RIGHT', line: newLine }
}

/** The numbers of a line in the old and the new file. While the pull request is open, one of them links to the form for a comment. */
function lineNumbers(path: string, line: DiffLine, { address, pull }: Commenting) {
  const spot = pull.closedAt === null ? spotOf(path, line) : undefined
  if (!spot) return { oldLine: line.oldLine, newLine: line.newLine }
  const query = new URLSearchParams({ path, side: spot.side, line: String(spot.line) })
  const link = html`<a
    href="${`${address}?${query}#comment`}"
    aria-label="${`Comment on line ${spot.line} of ${path}`}"
    >${spot.line}</a
  >`
  return spot.side === 'LEFT'
    ? { oldLine: link, newLine: line.newLine }
    : { oldLine: line.oldLine, newLine: link }
}

function formBelow(path: string, line: DiffLine, { address, pull, commented }: Commenting): Html | false {
  const spot = spotOf(path, line)
  if (!commented || spot?.path !== commented.path || spot.line !== commented.line) return false
  if (spot.side !== commented.side || pull.closedAt !== null) return false
  return html`<tr>
    <td class="form" colspan="4">${lineForm(address, { ...spot, head: pull.headSha })}</td>
  </tr>`
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
