/** The route that requests a pull request and waits for the outcome. */
import { v5 as uuidv5 } from 'uuid'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { Fault, faultCodes, type FaultDetails } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { Proposal } from '#domain/task/codeHost/pullRequestProposal.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { awaitEvent } from '#platform/eventlog/awaitEvent.ts'
import { proposalFor } from '#platform/reads/pullRequestProposal.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { setDraft } from '../pullRequest/draft.ts'
import { executeOnTask, ownTask, route, taskAfter, written, type CommandServices } from '../services.ts'

/** How long to wait for the outcome. This is less than the client's timeout of 30 s, so that the client gets an answer and may ask again. */
const outcomeTimeoutMs = 25_000

export const pullRequestRoutes: readonly Route<CommandServices>[] = [
  route(createPullRequest, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { taskId } = params
    const stream = taskStream(taskId)
    const executed = await executeOnTask(services, taskId, request, {
      type: 'RequestPullRequest',
      requestId: request.commandId,
      title: body?.title ?? null,
      body: body?.body ?? null,
      draft: body?.draft ?? null,
      autoUpdate: body?.autoUpdate ?? null,
      ...(body?.tree !== undefined && { tree: body.tree }),
      opensNew: body?.openNew ?? false,
      proposed: await proposed(services, taskId, body),
    })
    const pending = executed.state.kind === 'task' ? executed.state.pullRequestRequest : null
    const requestId = pending ?? request.commandId
    const outcome = await awaitEvent(services, {
      stream,
      from: executed.repeated ? 0 : executed.head.revision,
      withinMs: outcomeTimeoutMs,
      match: (event): event is Outcome => isOutcome(event) && event.data.requestId === requestId,
    })
    if (!outcome) throw new Fault('pr_in_progress')
    if (outcome.type === 'PullRequestFailed') {
      const code = faultCodes.find((known) => known === outcome.data.code) ?? 'code_host_refused'
      const details = code === 'rate_limited' ? await waitOf(services, request.user.id) : {}
      throw new Fault(code, outcome.content?.reason, undefined, details)
    }
    const head = { revision: outcome.revision, hash: outcome.meta.hash }
    const made = { position: outcome.position, head }
    const isReady = body?.draft === false && (await isDraft(services, taskId))
    const ready = { ...request, commandId: uuidv5('ready', request.commandId) }
    const last = isReady ? await setDraft(services, taskId, ready, false) : made
    const placed = await written(last.position, services)
    const task = await taskAfter(services, taskId, last.head)
    return {
      pr: { html_url: outcome.content?.url ?? '', number: outcome.content?.number ?? 0 },
      task,
      ...placed,
    }
  }),
]

/** Whether the task's pull request is a draft. `false` also for a new pull request that was not read yet. */
async function isDraft({ documents }: CommandServices, taskId: string): Promise<boolean> {
  const task = await documents.get(tasksView, taskId)
  return task?.pullRequest?.state === 'draft'
}

/** How long the code host asked the person to wait; one minute if it named no time, or if it asked the App instead. */
async function waitOf({ access, codeHost }: CommandServices, userId: string): Promise<FaultDetails> {
  const waitMs = codeHost.waitMs(await access.tokenOf(userId))
  return { retryAfterSeconds: waitMs > 0 ? waitMs / 1_000 : 60 }
}

/** Proposes a title and a body. Returns `null` if the person wrote both, and for an existing pull request, which keeps its title and body. */
async function proposed(
  services: CommandServices,
  taskId: string,
  given:
    | {
        readonly title?: string | undefined
        readonly body?: string | undefined
        readonly openNew?: boolean | undefined
      }
    | undefined,
): Promise<Proposal | null> {
  if (given?.title !== undefined && given.body !== undefined) return null
  const task = await services.documents.get(tasksView, taskId)
  const isNew = task?.prNumber === null || given?.openNew === true
  return task && isNew ? proposalFor(services, task) : null
}

type Outcome = Extract<
  AnyRecorded,
  { type: 'PullRequestOpened' | 'PullRequestUpdated' | 'PullRequestFailed' }
>

function isOutcome(event: AnyRecorded): event is Outcome {
  return (
    event.type === 'PullRequestOpened' ||
    event.type === 'PullRequestUpdated' ||
    event.type === 'PullRequestFailed'
  )
}
