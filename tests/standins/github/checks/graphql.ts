/** Checks and statuses in the form of GraphQL. */
import type { Context } from 'koa'
import { failed } from '../../../../services/codehost/graphql/context.ts'
import { connection, type PageArguments } from '../../../../services/codehost/graphql/connections.ts'
import { nodeId } from '../../../../services/codehost/rest/responses.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import { callerOf } from '../callers.ts'
import type { GitHubHost } from '../host.ts'
import { isGranted } from '../requires.ts'
import type { GitHubState } from '../state.ts'
import { actionsAppId, type CheckRun, type CommitStatus } from './records.ts'
import { reportsOf, rollupOf } from './rollup.ts'

/** The reports about a commit; `null` when there are none. */
export function checkRollup(
  host: GitHubHost,
  ctx: Context,
  repository: Repository,
  sha: string,
): object | null {
  if (!isGranted(callerOf(ctx, host), repository, host, [{ checks: 'read', statuses: 'read' }]))
    throw failed('FORBIDDEN', 'Resource not accessible by integration')
  const reports = reportsOf(host.github.current(), repository.id, sha)
  const state = rollupOf(reports)
  if (state === null) return null
  const all: readonly (() => object)[] = [
    ...reports.runs.map((run) => () => checkRun(run, appOf(host.github.current(), run.appId))),
    ...reports.statuses.map((status) => () => statusContext(status)),
  ]
  return {
    __typename: 'StatusCheckRollup',
    id: Buffer.from(`StatusCheckRollup:${sha}`).toString('base64url'),
    state,
    contexts: (args: PageArguments) => connection(all, args, (write) => write()),
  }
}

/** An App by its number, including GitHub's own; for an App that is gone, what is left of it. */
function appOf({ apps }: GitHubState, id: number): { readonly slug: string; readonly name: string } {
  if (id === actionsAppId) return { slug: 'github-actions', name: 'GitHub Actions' }
  return apps.find((app) => app.id === id) ?? { slug: 'ghost', name: 'Ghost' }
}

const checkRun = (run: CheckRun, { slug, name }: ReturnType<typeof appOf>): object => ({
  __typename: 'CheckRun',
  id: nodeId('CheckRun', run.id),
  databaseId: run.id,
  name: run.name,
  status: run.status.toUpperCase(),
  conclusion: run.conclusion?.toUpperCase() ?? null,
  checkSuite: { id: nodeId('CheckSuite', run.suiteId), app: { id: nodeId('App', run.appId), slug, name } },
})

const statusContext = (status: CommitStatus): object => ({
  __typename: 'StatusContext',
  id: nodeId('StatusContext', status.id),
  context: status.context,
  state: status.state.toUpperCase(),
})
