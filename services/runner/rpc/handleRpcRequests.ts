/** Handles the calls of other services to this runner. */
import type { RpcRequest, Rpc, RpcResponse } from '#platform/ports/rpc.ts'
import { abilityAnswers, foundRepositories, type AbilitiesDeps } from './abilities.ts'
import type { Rebuilds } from '../environment/rebuild.ts'
import { remoteServerOf } from '../mcp/runServers.ts'
import { readTools } from '../mcp/readTools.ts'
import { suggestedServers } from '../mcp/suggestedServers.ts'
import { limitPerPerson } from '#platform/async/queue.ts'
import { ruleOfCodeHost } from '#platform/http/egressRules.ts'
import { linesOf, type LinesDeps } from './fileLines.ts'
import { removeOwnWorkspace, type RemovalDeps } from './removeWorkspace.ts'
import { repositoryFacts, type FetchMirror } from './repositoryFacts.ts'
import type { Shells } from '../shell/shells.ts'
import { orNothing, suggestedHosts, type HostsDeps } from './suggestedHosts.ts'
import { taskFiles, type TaskFilesDeps } from './taskFiles.ts'
import { undoPreview, workspaceOf, type UndoPreviewDeps } from './undoPreview.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { openProgramVersions } from '../detected/programVersions.ts'
import { ownSecrets, settingsOf, valuesOf } from '../execution/taskSecrets.ts'
import { redactChanges } from '../execution/recording/changesReport.ts'
import { reachAsPerson, refreshMirror } from '../execution/repositoryAccess.ts'
import { isElsewhere, type ThisRunner } from '../queue/taskAffinity.ts'
import { readChanges } from '../workspace/changes/changes.ts'
import { provenanceOf } from '../workspace/saved/provenance.ts'

/**
 * Of some kinds of calls, at most this many of each kind are handled at once, and half as many of one person. Calls that do not get their turn get
 * no response: the caller then uses the recorded state, or calls again.
 */
const maxAtOnce = 4
/** How long a call about a workspace waits for its turn. Callers wait for 10 s, of which the response may take `responseTimeoutMs`. */
const longestWaitMs = 1_000

/** Handles calls until the returned function is called. Callers have checked access to the task or project. */
export function handleRpcRequests(
  deps: ChangesDeps &
    LinesDeps &
    HostsDeps &
    TaskFilesDeps &
    Omit<AbilitiesDeps, 'fetchMirror'> &
    UndoPreviewDeps &
    McpDeps & { readonly shells: Pick<Shells, 'open' | 'use'> } & Omit<
      RemovalDeps,
      'reach' | 'refreshMirror'
    >,
  {
    rpc,
    isAlone,
    rebuilds,
    codeHostUrl,
  }: {
    readonly rpc: Rpc
    readonly isAlone: boolean
    readonly rebuilds: Pick<Rebuilds, 'begin' | 'repositoryChanged'>
    readonly codeHostUrl: string
  },
): () => void {
  const ended = new AbortController()
  const fetchMirror = refreshesOf(deps, ended.signal)
  const own = { ...deps, isAlone }
  const removal: RemovalDeps = {
    ...deps,
    refreshMirror: fetchMirror,
    async reach(of) {
      const reached = await reachAsPerson(deps, of)
      return reached.kind === 'failed' ? undefined : reached.access
    },
  }
  // With several runners, no repository is fetched for an answer: each of the runners would fetch it, although one of them is enough.
  const firstFetch = isAlone ? fetchMirror : null
  const programVersions = openProgramVersions(deps)
  const found = foundRepositories({ ...deps, fetchMirror: firstFetch })
  const { abilities, files } = abilityAnswers({ ...deps, fetchMirror: firstFetch }, found)
  const stops = [
    rpc.handle('changes', ofOwnWorkspace(own, changesAgainst)),
    rpc.handle('lines', ofOwnWorkspace(own, linesOf)),
    rpc.handle('undoPreview', ofOwnWorkspace(own, undoPreview)),
    rpc.handle('origins', ofOwnWorkspace(own, lineOrigins)),
    rpc.handle('removeWorkspace', (request) => removeOwnWorkspace(removal, request)),
    rpc.handle('abilities', abilities),
    rpc.handle('files', files),
    rpc.handle('rebuildEnvironment', rebuilds.begin),
    rpc.handle('repositoryChanged', async (request) => {
      await rebuilds.repositoryChanged(request)
      return {}
    }),
    rpc.handle('taskFiles', taskFiles(own, found)),
    rpc.handle('openShell', deps.shells.open),
    rpc.handle('useShell', deps.shells.use),
    rpc.handle('hosts', (request) => orNothing(isAlone, suggestedHosts(deps, request))),
    rpc.handle('mcpSuggestions', (request) => orNothing(isAlone, suggestedServers(deps, request))),
    rpc.handle('mcpTools', mcpTools(deps, codeHostUrl)),
    rpc.handle('repository', (request) => repositoryFacts({ ...deps, programVersions }, request, firstFetch)),
  ]
  return () => {
    ended.abort()
    for (const stop of stops) stop()
  }
}

/** How long the test of an MCP server waits for its turn. Callers wait for 25 s, of which connecting may take 10 s. */
const longestTestWaitMs = 15_000

type McpDeps = Pick<AgentDeps, 'commands' | 'mcpHeaders' | 'mcpSignIns' | 'egress'>

function mcpTools(
  deps: McpDeps,
  codeHostUrl: string,
): (request: RpcRequest<'mcpTools'>) => Promise<RpcResponse<'mcpTools'> | undefined> {
  const codeHost = ruleOfCodeHost(`${codeHostUrl}/any/repository`, [])
  const inTurn = limitPerPerson(maxAtOnce, maxAtOnce, { waitMs: longestTestWaitMs })
  return ({ ownerId, ...asked }) =>
    inTurn(ownerId, async () => {
      const server = await remoteServerOf(deps, asked, codeHost)
      return {
        test: typeof server === 'string' ? { kind: 'failed', reason: server } : await readTools(server),
      }
    })
}

/** Refreshes mirrors until the signal aborts, for one project never twice at a time. The returned function never rejects: failures are logged. */
function refreshesOf(deps: WorkspaceDeps & Pick<RecordingDeps, 'logger'>, signal: AbortSignal): FetchMirror {
  const underWay = new Map<string, Promise<unknown>>()
  return (of) => {
    const refreshing =
      underWay.get(of.projectId) ??
      refreshMirror(deps, of, { signal })
        .catch((fault: unknown) =>
          deps.logger.warn({ err: fault, projectId: of.projectId }, 'failed to refresh a mirror'),
        )
        .finally(() => underWay.delete(of.projectId))
    underWay.set(of.projectId, refreshing)
    return refreshing
  }
}

/** Answers a call only if this runner has the task's present workspace. */
function ofOwnWorkspace<
  Deps extends Pick<WorkspaceDeps, 'workspaces'> & ThisRunner,
  Request extends { readonly taskId: string; readonly ownerId: string },
  Response,
>(
  deps: Deps,
  handler: (deps: Deps, request: Request) => Promise<Response | undefined>,
): (request: Request) => Promise<Response | undefined> {
  const inTurn = limitPerPerson(maxAtOnce, maxAtOnce, { waitMs: longestWaitMs })
  return (request) =>
    inTurn(request.ownerId, async () => {
      if (!(await deps.workspaces.has(request.taskId))) return undefined
      return (await isElsewhere(deps, request.taskId)) ? undefined : handler(deps, request)
    })
}

type ChangesDeps = WorkspaceDeps &
  Pick<RecordingDeps, 'blobs' | 'redaction'> &
  Pick<AgentDeps, 'commands' | 'projectSecrets' | 'modelKeys' | 'installed'>

const responseTimeoutMs = 9_000

/** The changes of a task compared with a branch other than the recorded one. */
async function changesAgainst(
  deps: ChangesDeps,
  { taskId, baseBranch }: RpcRequest<'changes'>,
): Promise<RpcResponse<'changes'> | undefined> {
  const task = await deps.documents.get(tasksView, taskId)
  if (!task) return undefined
  const signal = AbortSignal.timeout(responseTimeoutMs)
  const refreshed = await refreshMirror(deps, task, { signal })
  if (refreshed.kind !== 'ready') return undefined
  const workspace = await deps.workspaces.read(taskId, refreshed.mirror)
  if (!workspace) return undefined
  const { git } = deps
  const treeGit = deps.treeGitFor(workspace)
  const changes = await readChanges({ git, treeGit, workspace, baseBranch, signal })
  if (changes.kind === 'base_not_found') return { kind: 'base_not_found' }
  const { ahead, behind, total, truncated } = changes
  const { secrets } = await settingsOf(deps, task.projectId)
  const by = { ownerId: task.owner, projectId: task.projectId }
  const own = await ownSecrets(deps, refreshed.access, by)
  const redaction = deps.redaction(valuesOf([...secrets, ...own]))
  const { changes: redacted, files } = await redactChanges(changes, redaction)
  const { currentBranch } = redacted
  const scope = scopeOfStream(taskStream(taskId))
  const blob = redacted.files.length === 0 ? null : await deps.blobs.put(scope, files)
  return { kind: 'changes', currentBranch, ahead, behind, truncated, files: total, blob }
}

/** For files with more lines than this, the ranges of lines come without hashes, so that the response stays small. */
const maxHashedLines = 10_000

/** Which turn wrote each line of a file. */
async function lineOrigins(
  deps: UndoPreviewDeps,
  { taskId, path }: RpcRequest<'origins'>,
): Promise<RpcResponse<'origins'> | undefined> {
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  const workspace = state.kind === 'task' ? await workspaceOf(deps, taskId) : undefined
  if (state.kind !== 'task' || !workspace) return undefined
  const turns = await deps.snapshots.counting(state, workspace)
  const { git } = deps
  const { privateGitDir, startCommit } = workspace
  const isUndone = state.restorePoints.points.at(-1)?.kind === 'undo'
  const found = await provenanceOf({ git, privateGitDir, startCommit, turns, isUndone }, path)
  if (found === null) return { ranges: null }
  const isLong = (found.ranges.at(-1)?.to ?? 0) > maxHashedLines
  return {
    ranges: found.ranges.map(({ turn: executionId, hashes, path: then, ...range }) => ({
      ...range,
      executionId,
      ...(executionId !== null && then !== path && { path: then }),
      ...(executionId !== null && !isLong && { hashes }),
    })),
    blob: found.blob,
    turns: state.restorePoints.points.flatMap(({ kind, executionId }) =>
      kind === 'undo' ? [] : [executionId],
    ),
  }
}
