/** The page of a pull request's checks, and a form with which a person reports one as GitHub's own App would. */
import type { Router } from '@koa/router'
import { z } from 'zod'
import { html, type Html } from '#platform/http/html.ts'
import { actionsReporter } from '../checks/checks.ts'
import { conclusions, type Annotation, type CheckRun, type CommitStatus } from '../checks/records.ts'
import { reportsOf, rollupOf } from '../checks/rollup.ts'
import { notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import type { GitHubHost } from '../host.ts'
import type { PullRequest, Repository } from '../../../../services/codehost/state/stateSchema.ts'
import { show } from '../../../../services/codehost/pages/layout.ts'
import {
  addressOf,
  pageRequest,
  badForm,
  barOf,
  numberOf,
  seeOther,
  formRequest,
} from '../../../../services/codehost/pages/conversation/pageRequest.ts'
import {
  dated,
  textField,
  visible,
} from '../../../../services/codehost/pages/conversation/conversationHtml.ts'

const Report = z.object({
  name: z.string().trim().min(1).max(255),
  conclusion: z.enum(conclusions),
  log: z.string(),
  annotations: z.string(),
})

const checksPath = '/:owner/:repo/pull/:number/checks'

export function checkPages(router: Router, host: GitHubHost): void {
  router.get(checksPath, (ctx) => {
    const { repository, viewer, mayPush } = pageRequest(ctx, host)
    const pull = host.pulls.get(repository, numberOf(ctx))
    show(ctx, 200, {
      title: `Checks of ${pull.title} #${pull.number}`,
      bar: barOf(ctx, viewer),
      content: checksPage(host, repository, pull, mayPush),
    })
  })

  router.post(checksPath, async (ctx) => {
    const { repository, mayPush } = formRequest(ctx, host)
    const pull = host.pulls.get(repository, numberOf(ctx))
    if (!mayPush)
      throw new Refusal(403, `Only people who can push to ${repository.owner} can report a check.`)
    const form = Report.safeParse(ctx.request.body)
    if (!form.success) throw badForm('A check needs a name and a result.')
    const { name, conclusion, log } = form.data
    await host.checks.report(repository, actionsReporter, {
      name,
      conclusion,
      headSha: pull.headSha,
      annotations: annotationsIn(form.data.annotations),
      ...(log === '' ? {} : { log: log.replaceAll('\r\n', '\n') }),
    })
    seeOther(ctx, `${addressOf(repository)}/pull/${pull.number}/checks`)
  })

  router.get('/:owner/:repo/runs/:run/log', async (ctx) => {
    const { repository } = pageRequest(ctx, host)
    const run = host.checks.get(repository, numberOf(ctx, 'run'))
    const log = await host.checks.logs.read(host.checks.logs.lend(run.id))
    if (!log) throw notFound()
    ctx.type = 'text/plain; charset=utf-8'
    ctx.body = log
  })
}

/** The combined result of all checks in a word, with a link to them. */
export function checkFacts(host: GitHubHost, repository: Repository, pull: PullRequest): Html {
  const checks = rollupOf(reportsOf(host.github.current(), repository.id, pull.headSha))
  return html`<p class="facts">
    <a href="${`${addressOf(repository)}/pull/${pull.number}/checks`}">Checks</a>
    <span class="muted">${checks?.toLowerCase() ?? 'none yet'}</span>
  </p>`
}

/** Reads annotations, one per line: `path:line: message`. Throws Refusal 422 for any other line. */
function annotationsIn(text: string): readonly Annotation[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .slice(0, 50)
    .map((line) => {
      const [, path, number, message] = /^(.{1,4000}?):(\d{1,9}):\s*(.{1,60000})$/.exec(line) ?? []
      const at = Number(number)
      if (path === undefined || message === undefined || at < 1)
        throw badForm('An annotation is a line such as "src/a.ts:3: expected a semicolon".')
      return { path, startLine: at, endLine: at, level: 'failure', message, title: null, rawDetails: null }
    })
}

const colours: Readonly<Record<string, string>> = {
  success: 'ok',
  failure: 'bad',
  timed_out: 'bad',
  action_required: 'bad',
  error: 'bad',
}
const words = (name: string): string => name.replaceAll('_', ' ')

function checksPage(host: GitHubHost, repository: Repository, pull: PullRequest, mayReport: boolean): Html {
  const address = `${addressOf(repository)}/pull/${pull.number}`
  const { runs, statuses } = reportsOf(host.github.current(), repository.id, pull.headSha)
  return html`<div class="stack">
      <p class="small"><a href="${address}">${pull.title} #${pull.number}</a></p>
      <h1>Checks</h1>
      <p class="muted">Of the commit <code>${pull.headSha.slice(0, 12)}</code>.</p>
    </div>
    ${
      runs.length + statuses.length === 0
        ? html`<p class="muted">Nothing was reported of this commit.</p>`
        : html`<ul class="panel">
            ${runs.map((run) => runRow(repository, run))} ${statuses.map(statusRow)}
          </ul>`
    }
    ${mayReport && pull.closedAt === null && reportForm(address)}`
}

const runRow = (repository: Repository, run: CheckRun): Html => {
  const state = run.conclusion ?? run.status
  return html`<li class="row">
    <span class="grow"
      ><span class="strong">${visible(run.name)}</span>
      <span class="muted small">${dated(run.startedAt)}</span>
      ${run.annotations.map(
        (one) =>
          html`<br /><span class="small"
              ><code>${visible(one.path)}:${one.startLine}</code> ${visible(one.message)}</span
            >`,
      )}</span
    >
    <a class="small" href="${`${addressOf(repository)}/runs/${run.id}/log`}">Log</a>
    <span class="${colours[state] ?? 'muted'}">${words(state)}</span>
  </li>`
}

const statusRow = (status: CommitStatus): Html =>
  html`<li class="row">
    <span class="grow"><span class="strong">${visible(status.context)}</span></span>
    <span class="${colours[status.state] ?? 'muted'}">${status.state}</span>
  </li>`

const reportForm = (address: string): Html =>
  html`<form class="panel" method="post" action="${`${address}/checks`}">
    <h2 class="head">Report a check</h2>
    <div class="body stack">
      <p class="muted">As GitHub Actions would, to try what happens.</p>
      <label class="field"
        ><span class="small strong">Name</span><input type="text" name="name" value="test" required
      /></label>
      <label class="field"
        ><span class="small strong">Result</span>
        <select name="conclusion">
          ${['failure', ...conclusions.filter((one) => one !== 'failure')].map(
            (one) => html`<option value="${one}">${words(one)}</option>`,
          )}
        </select></label
      >
      ${textField({ name: 'log', label: 'Log', rows: 6 })}
      ${textField({ name: 'annotations', label: 'Annotations, such as src/a.ts:3: expected a semicolon', rows: 2 })}
      <button class="button primary" type="submit">Report check</button>
    </div>
  </form>`
