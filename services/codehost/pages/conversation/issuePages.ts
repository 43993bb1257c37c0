/** The pages for issues: the list of issues, a single issue with its labels and comments, and the form for a new issue. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { html, type Html } from '#platform/http/html.ts'
import { sameName } from '../../state/accounts.ts'
import type { Issue } from '../../state/issueRecords.ts'
import { mostCharacters } from '../../state/reviewRecords.ts'
import type { Host } from '../../host.ts'
import type { Repository } from '../../state/stateSchema.ts'
import { show } from '../layout.ts'
import {
  addressOf,
  pageRequest,
  badForm,
  barOf,
  numberOf,
  seeOther,
  formRequest,
  type PageRequest,
} from './pageRequest.ts'
import { commentForm, commentPanel, personName, textField, textPanel } from './conversationHtml.ts'

const LabelName = z.string().trim().min(1).max(50)
const NewIssue = z.object({
  title: z.string().trim().min(1).max(256),
  body: z.string().max(mostCharacters),
  label: z.string().trim().max(50).default(''),
})
const Text = z.object({ body: z.string().trim().min(1).max(mostCharacters) })
const Label = z.object({ label: LabelName })

const issuesPath = '/:owner/:repo/issues'

export function issuePages(router: Router, host: Host): void {
  router.get(issuesPath, (ctx) => {
    const { repository, viewer } = pageRequest(ctx, host)
    const isClosed = ctx.query['state'] === 'closed'
    const found = host.issues.of(repository).filter(({ closed }) => (closed !== null) === isClosed)
    show(ctx, 200, {
      title: `Issues of ${repository.owner}/${repository.name}`,
      bar: barOf(ctx, viewer),
      content: listPage(repository, found.toReversed(), isClosed),
    })
  })

  router.get(`${issuesPath}/new`, (ctx) => {
    const all = pageRequest(ctx, host)
    show(ctx, 200, {
      title: 'New issue',
      bar: barOf(ctx, all.viewer),
      content: newPage(all),
    })
  })

  router.post(issuesPath, async (ctx) => {
    const { repository, by } = formRequest(ctx, host)
    const form = NewIssue.safeParse(ctx.request.body)
    if (!form.success) throw badForm('An issue needs a title of at most 256 characters.')
    const { title, body, label } = form.data
    const labels = label === '' ? [] : [label]
    const issue = await host.issues.open(repository, by, { title, body: body.trim() || null, labels })
    seeOther(ctx, `${addressOf(repository)}/issues/${issue.number}`)
  })

  router.get(`${issuesPath}/:number`, (ctx) => {
    const all = pageRequest(ctx, host)
    const number = numberOf(ctx)
    const address = addressOf(all.repository)
    // Issues and pull requests share their numbers, so the address of an issue redirects to a pull request if the number belongs to a pull request.
    if (host.pulls.of(all.repository).some((pull) => pull.number === number))
      return seeOther(ctx, `${address}/pull/${number}`)
    const issue = host.issues.get(all.repository, number)
    show(ctx, 200, {
      title: `${issue.title} #${number}`,
      bar: barOf(ctx, all.viewer),
      content: issuePage(host, all, issue),
    })
  })
  issueForms(router, host)
}

function issueForms(router: Router, host: Host): void {
  router.post(`${issuesPath}/:number/comments`, async (ctx) => {
    const { repository, by } = formRequest(ctx, host)
    const { number } = host.issues.get(repository, numberOf(ctx))
    const form = Text.safeParse(ctx.request.body)
    if (!form.success) throw badForm('The comment is empty, or longer than a comment may be.')
    const comment = await host.comments.add(repository, number, by, form.data.body)
    seeOther(ctx, `${addressOf(repository)}/issues/${number}#issuecomment-${comment.id}`)
  })

  for (const change of ['label', 'unlabel', 'close', 'reopen'] as const)
    router.post(`${issuesPath}/:number/${change}`, async (ctx) => {
      const { repository, by } = formRequest(ctx, host)
      const number = numberOf(ctx)
      if (change === 'close' || change === 'reopen') {
        await host.issues.edit(repository, number, by, { state: change === 'close' ? 'closed' : 'open' })
      } else {
        const form = Label.safeParse(ctx.request.body)
        if (!form.success) throw badForm('A label has 1 to 50 characters.')
        const { label } = form.data
        if (change === 'label') await host.issues.addLabels(repository, number, by, [label])
        else await host.issues.removeLabel(repository, number, by, label)
      }
      seeOther(ctx, `${addressOf(repository)}/issues/${number}`)
    })
}

const labelChips = (issue: Issue): readonly Html[] =>
  issue.labels.map((label) => html`<span class="chip">${label}</span>`)

const listPage = (repository: Repository, issues: readonly Issue[], isClosed: boolean): Html => {
  const address = addressOf(repository)
  return html`<div class="stack">
      <p class="small"><a href="${address}">${repository.owner}/${repository.name}</a></p>
      <h1>${isClosed ? 'Closed issues' : 'Issues'}</h1>
      <p class="facts">
        <a class="button primary" href="${`${address}/issues/new`}">New issue</a>
        <a href="${isClosed ? `${address}/issues` : `${address}/issues?state=closed`}"
          >${isClosed ? 'Open issues' : 'Closed issues'}</a
        >
      </p>
    </div>
    ${
      issues.length === 0
        ? html`<p class="muted">None.</p>`
        : html`<ul class="panel">
            ${issues.map(
              (issue) =>
                html`<li>
                  <a class="row" href="${`${address}/issues/${issue.number}`}"
                    ><span class="grow"
                      ><span class="strong">${issue.title}</span><br /><span class="muted small"
                        >#${issue.number} by ${personName(issue.author)}</span
                      ></span
                    >
                    ${labelChips(issue)}</a
                  >
                </li>`,
            )}
          </ul>`
    }`
}

const newPage = ({ repository, speaker, mayTriage }: PageRequest): Html =>
  html`<div class="stack">
      <p class="small"><a href="${`${addressOf(repository)}/issues`}">Issues</a></p>
      <h1>New issue</h1>
    </div>
    <form class="panel" method="post" action="${`${addressOf(repository)}/issues`}">
      <div class="body stack">
        <label class="field"
          ><span class="small strong">Title</span><input type="text" name="title" maxlength="256" required
        /></label>
        ${textField({ name: 'body', label: 'Description', rows: 8 })}
        ${
          mayTriage &&
          html`<label class="field"
            ><span class="small strong">Label</span><input type="text" name="label" maxlength="50"
          /></label>`
        }
        <button class="button primary" type="submit">Open issue as ${speaker.login}</button>
      </div>
    </form>`

function issuePage(host: Host, { repository, speaker, mayTriage }: PageRequest, issue: Issue): Html {
  const address = `${addressOf(repository)}/issues/${issue.number}`
  const { closed } = issue
  const comments = host.comments.of(repository, issue.number)
  const mayClose = mayTriage || sameName(issue.author, speaker.login)
  return html`<div class="stack">
      <p class="small"><a href="${`${addressOf(repository)}/issues`}">Issues</a></p>
      <h1>${issue.title} <span class="muted">#${issue.number}</span></h1>
      <p class="facts">
        ${
          closed === null
            ? html`<span class="state run">Open</span>`
            : html`<span class="state muted">Closed by ${personName(closed.by)}</span>`
        }
        ${labelChips(issue)}
      </p>
    </div>
    ${textPanel({ ...issue, body: issue.body ?? '' }, { id: `issue-${issue.id}`, did: 'opened this' })}
    ${mayTriage && labelForms(address, issue)} ${comments.map(commentPanel)}
    ${commentForm(`${address}/comments`, speaker.login)}
    ${
      mayClose &&
      html`<form method="post" action="${`${address}/${closed === null ? 'close' : 'reopen'}`}">
        <button class="button" type="submit">${closed === null ? 'Close issue' : 'Reopen issue'}</button>
      </form>`
    }`
}

const labelForms = (address: string, issue: Issue): Html =>
  html`<div class="facts">
    <form class="facts" method="post" action="${`${address}/label`}">
      <input type="text" name="label" maxlength="50" aria-label="Label" required />
      <button class="button" type="submit">Add label</button>
    </form>
    ${issue.labels.map(
      (label) =>
        html`<form method="post" action="${`${address}/unlabel`}">
          <input type="hidden" name="label" value="${label}" /><button class="button" type="submit">
            Remove ${label}
          </button>
        </form>`,
    )}
  </div>`
