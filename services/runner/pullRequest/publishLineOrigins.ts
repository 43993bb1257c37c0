/** Publishes which turn wrote which lines of a task's commits. The format is git notes that other tools can read. */
import { randomUUID } from 'node:crypto'
import { agentConfigurations } from '#domain/agents/configuration.ts'
import type { AgentName } from '#domain/agents.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { traceRecordOf } from '#domain/provenance/agentTrace.ts'
import type { CommitOrigins, OriginTurn } from '#domain/provenance/lineOrigins.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { chatView } from '#domain/views/chat.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { ReadyWorkspace } from '../execution/prepareWorkspace.ts'
import { gitText } from '../workspace/git/git.ts'
import { addNote, fetchNotes, hasNote, pushNotes, type NotesRequest } from '../workspace/publish/gitNotes.ts'
import { linesAddedBy } from '../workspace/saved/provenance.ts'
import { addressOfTask } from './recordLink.ts'

type Deps = Pick<RecordingDeps, 'documents' | 'log' | 'clock' | 'logger'> &
  Pick<WorkspaceDeps, 'git' | 'snapshots' | 'publicAddress' | 'originNotes'>

interface Published {
  readonly state: LiveTask
  readonly pushSignal: AbortSignal
}

/** After this time the exchange of notes with the code host is aborted, since the pull request waits for it. */
const notesTimeoutMs = 20_000

/** How many of the branch's newest commits are examined. Those of earlier publications are included, since their notes may not have reached the host. */
const maxCommits = 20

/**
 * Publishes the notes. Returns the reason why the notes are not at the host, worded to follow a colon. Returns `null` if they are at the host, or if
 * the operator wants no notes. Never throws: a pull request does not depend on notes, and the next publication tries again.
 */
export async function publishOrigins(
  deps: Deps,
  { state, pushSignal }: Published,
  { workspace, access: { url, authorization } }: Pick<ReadyWorkspace, 'workspace' | 'access'>,
  headCommit: string,
): Promise<string | null> {
  const signal = AbortSignal.any([pushSignal, AbortSignal.timeout(notesTimeoutMs)])
  if (!deps.originNotes) return null
  const request: NotesRequest = { git: deps.git, workspace, url, authorization, signal }
  try {
    const notFetched = await fetchNotes(request)
    const turns = await deps.snapshots.counting(state, workspace)
    const { privateGitDir, startCommit } = workspace
    for (const commit of await commitsOf(request, state.taskId, headCommit)) {
      if (await hasNote(request, commit)) continue
      const found = await linesAddedBy({ git: deps.git, privateGitDir, startCommit, turns }, commit)
      const named = new Set(found.files.flatMap(({ lines }) => lines.map(({ executionId }) => executionId)))
      const origins = { ...found, commit, turns: await turnsNamed(deps, state, named) }
      await writeNotes(request, origins, deps.clock.now())
    }
    return notFetched ?? (await pushNotes(request))
  } catch (fault) {
    deps.logger.warn({ err: fault, taskId: state.taskId }, 'the origin of lines was not published')
    return 'something went wrong while they were traced'
  }
}

/** The commits of the task on the branch, oldest first. */
async function commitsOf(
  { git, workspace }: NotesRequest,
  taskId: string,
  head: string,
): Promise<readonly string[]> {
  const { privateGitDir: gitDir, startCommit } = workspace
  const format = '--format=%H %(trailers:key=Flightdeck-Task,valueonly,separator=%x20)'
  const since = startCommit === null ? [] : [`^${startCommit}`]
  const args = ['log', '--first-parent', `--max-count=${maxCommits}`, format, head, ...since, '--']
  const lines = (await gitText(git, { gitDir, args })).split('\n')
  return lines
    .filter((line) => line.endsWith(taskId))
    .map((line) => line.slice(0, line.indexOf(' ')))
    .toReversed()
}

async function writeNotes(request: NotesRequest, origins: CommitOrigins, at: Date): Promise<void> {
  const { commit } = origins
  const trace = traceRecordOf(origins, { id: randomUUID(), at: at.toISOString() })
  await addNote(request, { commit, text: `${JSON.stringify(trace)}\n` })
}

/** The facts that a note contains about the turns in `named`. */
async function turnsNamed(
  deps: Deps,
  { taskId, origin }: LiveTask,
  named: ReadonlySet<string | null>,
): Promise<ReadonlyMap<string, OriginTurn>> {
  const executionIds = [...named].filter((id) => id !== null)
  const models = await modelsOf(deps, taskId, executionIds)
  const turns = executionIds.map(async (executionId): Promise<readonly [string, OriginTurn]> => {
    const task = executionId === origin?.executionId ? origin.taskId : taskId
    const [request] = await deps.documents
      .find(chatView, {
        where: { task, executionId },
        sort: { field: 'executionId', direction: 'ascending' },
        limit: 100,
      })
      .then((messages) =>
        messages.filter(({ messageType }) => messageType === 'user' || messageType === 'command'),
      )
    const agent = request?.agent ?? null
    const taskUrl = deps.publicAddress === null ? null : addressOfTask(deps, task)
    const turn: OriginTurn = {
      taskId: task,
      executionId,
      kind: request?.isCommand === true ? 'command' : 'turn',
      agent,
      model: models.get(executionId) ?? null,
      provider: agent && providerOf(agent),
      taskUrl,
      // The address shows the task's history at the end of the turn.
      url: taskUrl === null || request === undefined ? taskUrl : `${taskUrl}/history?at=${request.version}`,
      proofUrl:
        taskUrl === null ? null : `${taskUrl.slice(0, -`/tasks/${task}`.length)}/api/tasks/${task}/audit`,
    }
    return [executionId, turn]
  })
  return new Map(await Promise.all(turns))
}

/** The provider as models.dev names it; `null` for an agent that has models of several providers. */
function providerOf(agent: AgentName): string | null {
  const { provider } = agentConfigurations[agent]
  return provider === agent ? null : provider
}

const readAtOnce = 500
const maxRead = 20_000

/** The model that each given turn used last, according to the latest events of the task. */
async function modelsOf(
  { log }: Pick<Deps, 'log'>,
  taskId: string,
  executionIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const models = new Map<string, string>()
  const unread = new Set(executionIds)
  let from: number | 'end' = 'end'
  for (let read = 0; read < maxRead && unread.size > 0; read += readAtOnce) {
    const events = await log.readBackwards(taskStream(taskId), from, readAtOnce)
    for (const event of events) {
      if (event.type === 'UsageRecorded' && event.data.model !== null && unread.has(event.data.executionId))
        models.set(event.data.executionId, models.get(event.data.executionId) ?? event.data.model)
      // The search goes backwards. A turn has no events before its request, so the request ends the search for the model of its turn.
      if (event.type === 'ExecutionRequested') unread.delete(event.data.executionId)
    }
    const last = events.at(-1)
    if (!last || last.revision === 0) break
    from = last.revision - 1
  }
  return models
}
