/** Answers with the file or folder at a path of a task's files, or with the paths that match a search. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FilesFrom, TaskFile } from '#domain/api/taskFiles.schema.ts'
import { taskFileLimits } from '#domain/api/taskFiles.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { limitPerPerson } from '#platform/async/queue.ts'
import { unlessDamaged } from '#platform/eventlog/sealedBlobs.ts'
import type { RpcRequest, RpcResponse } from '#platform/ports/rpc.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { ownSecrets, settingsOf, valuesOf } from '../execution/taskSecrets.ts'
import { isElsewhere, type ThisRunner } from '../queue/taskAffinity.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { commitFiles } from '../workspace/browse/commitFiles.ts'
import type { AtPath, FileSource } from '../workspace/browse/fileSource.ts'
import { withSavedWork } from '../workspace/browse/savedWork.ts'
import { workspaceFiles } from '../workspace/browse/workspaceFiles.ts'
import { commitOf } from '../workspace/git/git.ts'
import { bestMatches, type FindRepository } from './abilities.ts'

export type TaskFilesDeps = Pick<WorkspaceDeps, 'git' | 'treeGitFor' | 'workspaces' | 'scratch' | 'logger'> &
  Pick<RecordingDeps, 'blobs' | 'redaction' | 'checkImage'> &
  Pick<AgentDeps, 'commands' | 'projectSecrets' | 'modelKeys' | 'installed'>
type Deps = TaskFilesDeps & ThisRunner

type Request = RpcRequest<'taskFiles'>
type Response = RpcResponse<'taskFiles'>
type Repository = NonNullable<Awaited<ReturnType<FindRepository>>>

const maxAtOnce = 4
/** How many reads of one person wait at most; further ones get no answer. */
const mostWaiting = 20
/** The time after which nobody waits for the answer any more. */
const longestWaitMs = 15_000
/** How long a runner without the task's present workspace waits, so that the runner with the workspace can answer first. */
const graceMs = 1_500

export function taskFiles(
  deps: Deps,
  found: FindRepository,
): (request: Request) => Promise<Response | undefined> {
  const inTurn = inTurns()
  return async (request) => {
    const since = Date.now()
    try {
      const repository = await found(request)
      if (!repository) return undefined
      const { isAlone, workspaces } = deps
      if (!isAlone && (!(await workspaces.has(request.taskId)) || (await isElsewhere(deps, request.taskId))))
        await pause(graceMs)
      return await inTurn(request.ownerId, () => answer(deps, repository, request), since)
    } catch (fault) {
      deps.logger.info({ err: fault, taskId: request.taskId }, "failed to read a task's files")
      return undefined
    }
  }
}

/** Does at most `maxAtOnce` pieces of work at a time, and half as many of one person. Skips work that waited too long. */
export function inTurns(now: () => number = Date.now) {
  return limitPerPerson(maxAtOnce, mostWaiting, { waitMs: longestWaitMs, now })
}

/** Reads from the present workspace. If it is not here, reads from the saved work. If that is missing or unusable, reads from a branch. */
async function answer(deps: Deps, repository: Repository, request: Request): Promise<Response | undefined> {
  const { git, blobs, scratch } = deps
  const { taskId, branch, workingBranch, saved } = request
  const { mirror } = repository
  const respond = (source: FileSource, from: FilesFrom) =>
    responseOf(deps, repository, request, { source, from })
  const workspace = (await isElsewhere(deps, taskId)) ? undefined : await deps.workspaces.read(taskId, mirror)
  if (workspace)
    return respond(workspaceFiles(deps.treeGitFor(workspace), workspace), {
      kind: 'workspace',
      branch: workspace.branch,
    })
  const bundle = saved && (await unlessDamaged(blobs.get(scopeOfStream(taskStream(taskId)), saved)))
  const shown =
    bundle &&
    (await withSavedWork({ git, scratch }, { bundle, mirror }, (gitDir, commit) =>
      respond(commitFiles(git, gitDir, commit), { kind: 'saved', branch: workingBranch ?? branch }),
    ))
  if (shown) return shown
  for (const from of [
    { kind: 'pushed', branch: workingBranch } as const,
    { kind: 'base', branch } as const,
  ]) {
    const named = from.branch
    const commit = named === null ? null : await commitOf(git, mirror.dir, `refs/heads/${named}`)
    if (named !== null && commit !== null)
      return respond(commitFiles(git, mirror.dir, commit), { kind: from.kind, branch: named })
  }
  return undefined
}

async function responseOf(
  deps: TaskFilesDeps,
  repository: Repository,
  request: Request,
  { source, from }: { readonly source: FileSource; readonly from: FilesFrom },
): Promise<Response> {
  const { read } = request
  if (read.kind === 'search') {
    const best = await bestMatches(await source.paths(), read.search)
    const there = await Promise.all(best.map((path) => source.has(path)))
    return { kind: 'found', files: best.filter((_, index) => there[index]) }
  }
  const { path, download } = read
  const most = download
    ? taskFileLimits.downloadBytes
    : isImageName(path)
      ? taskFileLimits.imageBytes
      : taskFileLimits.textLength + beyondShown
  const found = await source.at(path, most)
  if (found.kind === 'missing') return { kind: 'missing' }
  const facts = { ...nothingShown, path }
  const redaction = await redactionFor(deps, repository, request)
  if (found.kind === 'folder') {
    const entries = found.entries.map(async (entry) => ({
      ...entry,
      target: entry.target && (await shownTarget(entry.target, redaction)),
    }))
    return { ...found, entries: await Promise.all(entries), from }
  }
  if (found.kind === 'link') {
    const target = await shownTarget(found.target, redaction)
    return fileAlone({ ...facts, kind: 'link', target }, from)
  }
  if (found.kind !== 'file') return fileAlone({ ...facts, kind: found.kind }, from)
  const { bytes, ...shown } = await contentOf(deps, redaction, {
    ...found,
    isImage: isImageName(path),
    download,
  })
  const file: TaskFile = { ...facts, size: found.size, ...shown }
  if (bytes === null) return fileAlone(file, from)
  if (bytes.length === 0) return fileAlone({ ...file, content: '' }, from)
  const content = await deps.blobs.put(scopeOfStream(taskStream(request.taskId)), bytes)
  return { kind: 'file', file, content, from }
}

const nothingShown = {
  size: null,
  target: null,
  mediaType: null,
  content: null,
  cut: false,
  redacted: false,
} satisfies Partial<TaskFile>

function fileAlone(file: TaskFile, from: FilesFrom): Response {
  return { kind: 'file', file, content: null, from }
}

/** The longest shown target of a link, in UTF-16 code units. */
const longestShownTarget = 200

async function shownTarget(target: string, redaction: Redaction): Promise<string> {
  return (await redaction.text(target)).slice(0, longestShownTarget)
}

/** How many bytes are read beyond the shown part of a text. A secret that crosses the end of the shown part is then still recognized. */
const beyondShown = 64 * 1_024

const isImageName = (path: string): boolean => /\.(png|jpe?g|gif|webp)$/i.test(path)

interface Reading extends Extract<AtPath, { kind: 'file' }> {
  readonly isImage: boolean
  readonly download: boolean
}

type Content = Pick<TaskFile, 'kind' | 'mediaType' | 'cut' | 'redacted'> & { readonly bytes: Buffer | null }

async function contentOf(deps: TaskFilesDeps, redaction: Redaction, reading: Reading): Promise<Content> {
  const { size, start, isImage, download } = reading
  const unshown = { kind: 'binary', mediaType: null, cut: false, redacted: false, bytes: null } as const
  if (download) {
    if (size > taskFileLimits.downloadBytes) return { ...unshown, cut: true }
    const bytes = await withoutSecrets(start, redaction)
    return { ...unshown, bytes, redacted: !bytes.equals(start) }
  }
  if (isImage && size <= taskFileLimits.imageBytes) {
    const image = await deps.checkImage(start).catch((fault: unknown) => {
      if (fault instanceof Fault) return undefined
      throw fault
    })
    if (image) return { ...unshown, kind: 'image', mediaType: image.mediaType, bytes: image.bytes }
  }
  if (isBinary(start)) return unshown
  const part = start.subarray(0, taskFileLimits.textLength + beyondShown)
  // A character at the end of the part may be incomplete, and is then left out.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(part, { stream: true })
  const redacted = await redaction.text(text)
  const shown = upTo(redacted, taskFileLimits.textLength)
  const cut = size > part.length || shown.length < redacted.length
  return {
    kind: 'text',
    mediaType: null,
    cut,
    redacted: redacted !== text,
    bytes: Buffer.from(shown),
  }
}

/** The text up to a length in UTF-16 code units, in whole lines if there are any. */
function upTo(text: string, length: number): string {
  if (text.length <= length) return text
  const end = text.lastIndexOf('\n', length - 1)
  return text.slice(0, end === -1 ? length : end + 1)
}

/** Whether git would take a file for binary. */
function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, 8_000).includes(0)
}

/** Removes secrets from a file of any kind; bytes that are not UTF-8 stay as they are. */
async function withoutSecrets(bytes: Buffer, redaction: Redaction): Promise<Buffer> {
  const text = bytes.toString('utf8')
  const encoding = Buffer.from(text).equals(bytes) ? 'utf8' : 'latin1'
  return Buffer.from(await redaction.text(bytes.toString(encoding)), encoding)
}

async function redactionFor(
  deps: TaskFilesDeps,
  { access }: Repository,
  { ownerId, projectId }: Request,
): Promise<Redaction> {
  const { secrets } = await settingsOf(deps, projectId)
  return deps.redaction(valuesOf([...secrets, ...(await ownSecrets(deps, access, { ownerId, projectId }))]))
}
