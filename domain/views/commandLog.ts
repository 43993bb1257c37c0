/**
 * A task's command log: one document for each tool call, each thought, each text of a subagent, each turn with artifacts, each command of a person.
 */
import type { ShownArtifact } from '../api/artifacts.schema.ts'
import type { LogEntry } from '../api/chat.schema.ts'
import type { ShownImage } from '../api/images.schema.ts'
import type { Task } from '../api/tasks.schema.ts'
import { sortKey } from '../kernel/event.ts'
import type { BlobRef } from '../kernel/ids.schema.ts'
import { endOf, goneWithTask, type MessageDocument, messageDocumentId, outcomeOf, parseTask } from './chat.ts'
import { scopeOfStream, taskStream } from '../kernel/streams.ts'
import { shownImage, type AddressOf } from './images.ts'
import { isOneOf, type AnyRecorded, type View } from './view.ts'

export interface LogDocument extends Omit<LogEntry, 'images' | 'artifacts'> {
  readonly images?: readonly Logged<ShownImage>[] | undefined
  readonly artifacts?: readonly Logged<ShownArtifact>[] | undefined
  /** Set on entries with images, so that a query can find them. */
  readonly hasImages?: true
  /** The position as a text by which entries are sorted. */
  readonly order: string
}

/** An image or artifact in an entry. A document has its `blob`, and an answer of the server has a `url` instead. */
type Logged<Shown> = Omit<Shown, 'url'> & { readonly url?: string; readonly blob?: BlobRef }

const ofTool = ['ToolStarted', 'ToolImagesKept', 'ToolFinished'] as const
const ofCommand = [
  'MessageWithdrawn',
  'MessageEdited',
  'ExecutionStarted',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
  'CommandOutputRecorded',
] as const

export const logView: View<LogDocument> = {
  collection: 'logs',
  version: 1,
  streams: ['task'],
  types: [
    ...ofTool,
    ...ofCommand,
    'ArtifactKept',
    'ThinkingRecorded',
    'SubagentSaid',
    'MessageQueued',
    'TaskDeleted',
  ],
  indexes: [
    ['task', 'order'],
    ['task', 'status', 'order'],
  ],
  touches: (event) => {
    if (isOneOf(ofTool, event)) return [`${event.data.executionId}:${event.data.toolId}`]
    if (event.type === 'ThinkingRecorded' || event.type === 'SubagentSaid')
      return [`${event.data.executionId}:${event.data.messageId}`]
    // The ids of other entries begin with the id of an execution or task, so they cannot equal this id.
    if (event.type === 'ArtifactKept') return [`artifacts:${event.data.executionId}`]
    const isQueued = event.type === 'MessageQueued' && event.data.kind === 'command'
    return isQueued || isOneOf(ofCommand, event) ? [commandId(event, event.data)] : []
  },
  goneWith: goneWithTask,
  evolve: (entry, event, id) => {
    switch (event.type) {
      case 'ToolStarted':
        return {
          ...begun(event, id),
          messageId: null,
          executionId: event.data.executionId,
          kind: event.data.kind,
          ...(event.data.parentToolId !== null && {
            parentId: `${event.data.executionId}:${event.data.parentToolId}`,
          }),
          name: event.content?.name ?? null,
          target: event.content?.target ?? null,
          input: event.content?.input ?? null,
          status: 'running',
        }
      case 'ToolImagesKept':
        return entry && withImages(entry, event)
      case 'ToolFinished':
        return entry && toolFinished(entry, event)
      case 'ArtifactKept':
        return withArtifact(entry ?? thought(begun(event, id), event.data.executionId, null), event)
      case 'ThinkingRecorded':
        return { ...wordsOf(event, id), ...thoughtFor(event) }
      case 'SubagentSaid': {
        const { executionId, parentToolId, isThought } = event.data
        const words = wordsOf(event, id)
        const parentId = `${executionId}:${parentToolId}`
        return isThought ? { ...words, parentId } : { ...words, parentId, kind: 'said', name: 'said' }
      }
      case 'MessageQueued': {
        // Clients may choose message ids: a second message with the same id is ignored.
        if (entry !== undefined) return entry
        return queuedCommand(begun(event, id), event.data.messageId, event.content?.message ?? null)
      }
      case 'MessageEdited': {
        const text = event.content?.message ?? null
        return entry && { ...entry, target: text, input: text, version: event.revision }
      }
      case 'MessageWithdrawn':
        return undefined
      case 'ExecutionStarted':
        // When a command starts, its entry moves to the end of the log.
        return (
          entry && {
            ...entry,
            ...begun(event, id),
            executionId: event.data.executionId,
            status: 'running',
          }
        )
      case 'CommandOutputRecorded':
        return entry && { ...entry, output: event.content?.output ?? null, version: event.revision }
      case 'ExecutionCompleted':
      case 'ExecutionFailed':
      case 'ExecutionCancelled':
        return (
          entry && {
            ...entry,
            executionId: event.data.executionId,
            status: outcomeOf(event, true),
            exitCode: 'exitCode' in event.data ? event.data.exitCode : null,
            durationMs:
              entry.status === 'running' ? Date.parse(event.at) - Date.parse(entry.timestamp) : null,
            summary: endOf(event),
            version: event.revision,
          }
        )
      default:
        return entry
    }
  },
}

function commandId({ stream }: AnyRecorded, { messageId }: { readonly messageId: string }): string {
  return messageDocumentId(parseTask(stream), messageId)
}

export function commandOf({
  id,
  task,
  messageId,
  commandText,
  createdAt: at,
  position,
  version: revision,
}: MessageDocument): LogDocument {
  return queuedCommand(entryBegun(id, task, { at, position, revision }), messageId, commandText)
}

function queuedCommand(
  entry: ReturnType<typeof entryBegun>,
  messageId: string,
  text: string | null,
): LogDocument {
  const command = { kind: 'run', name: 'command', target: text, input: text, status: 'queued' } as const
  return { ...entry, ...command, messageId, executionId: null }
}

type Words = Extract<AnyRecorded, { type: 'ThinkingRecorded' | 'SubagentSaid' }>

function wordsOf(event: Words, id: string): LogDocument {
  return thought(begun(event, id), event.data.executionId, event.content?.text ?? null)
}

function thought(
  entry: ReturnType<typeof entryBegun>,
  executionId: string,
  output: string | null,
): LogDocument {
  const what = { messageId: null, kind: 'thinking', name: 'thinking', target: null, input: null } as const
  return { ...entry, ...what, executionId, status: 'completed', output }
}

/** The entry for a thought that is still being written. */
export function growingThought(
  {
    id: task,
    position,
    version: revision,
    updatedAt: at,
  }: Pick<Task, 'id' | 'position' | 'version' | 'updatedAt'>,
  words: { readonly executionId: string; readonly messageId: string; readonly text: string },
): LogDocument {
  const { executionId, messageId, text } = words
  const entry = entryBegun(`${executionId}:${messageId}`, task, { at, position, revision })
  return { ...thought(entry, executionId, text), status: 'running' }
}

/** The duration of a thought, and when it began. The time of the event is the end of the thought. */
function thoughtFor({ at, data: { durationMs } }: Extract<Words, { type: 'ThinkingRecorded' }>) {
  return { durationMs, timestamp: new Date(Date.parse(at) - (durationMs ?? 0)).toISOString() }
}

function begun(event: AnyRecorded, id: string) {
  return entryBegun(id, parseTask(event.stream), event)
}

function entryBegun(
  id: string,
  task: string,
  { at, position, revision }: Pick<AnyRecorded, 'at' | 'position' | 'revision'>,
) {
  return {
    id,
    task,
    exitCode: null,
    durationMs: null,
    additions: null,
    deletions: null,
    summary: null,
    output: null,
    timestamp: at,
    order: sortKey(position),
    position,
    version: revision,
  }
}

function toolFinished(
  entry: LogDocument,
  { data, content, revision }: Extract<AnyRecorded, { type: 'ToolFinished' }>,
): LogDocument {
  const { ok, exitCode, durationMs, additions, deletions } = data
  return {
    ...entry,
    exitCode,
    durationMs,
    additions,
    deletions,
    status: ok ? 'completed' : 'failed',
    ...(content ?? { summary: null, output: null }),
    version: revision,
  }
}

/** The entry with the images of its tool call. An image that a tool read has the name of its file, and any other image the name of the tool. */
function withImages(
  entry: LogDocument,
  { data: { images, leftOut }, revision }: Extract<AnyRecorded, { type: 'ToolImagesKept' }>,
): LogDocument {
  const named = (entry.kind === 'read' ? entry.target?.split('/').at(-1) : entry.name) || 'image'
  const logged = images.map(({ imageId, mediaType, blob }, index) => ({
    id: imageId,
    name: images.length === 1 ? named : `${named} ${index + 1}`,
    size: blob.size,
    type: mediaType,
    blob,
  }))
  return {
    ...entry,
    ...(logged.length > 0 && { images: logged, hasImages: true }),
    imagesLeftOut: leftOut,
    version: revision,
  }
}

/** The entry for a turn's artifacts, with another artifact added. */
function withArtifact(
  entry: LogDocument,
  { data, content, revision }: Extract<AnyRecorded, { type: 'ArtifactKept' }>,
): LogDocument {
  const { artifactId: id, mediaType: type, blob } = data
  const file = { id, name: content?.name ?? null, type, size: blob.size, blob }
  const kind = 'artifact'
  return { ...entry, kind, name: kind, artifacts: [...(entry.artifacts ?? []), file], version: revision }
}

/** The entry as the API shows it. `addressOf` makes the addresses of its images and artifacts. */
export function logEntryOf(document: LogDocument, addressOf: AddressOf): LogEntry {
  const { order: _order, hasImages: _hasImages, images, artifacts, ...shown } = document
  const { task } = document
  return {
    ...shown,
    ...(images && {
      images: images.flatMap(({ id: imageId, name, type: mediaType, blob }) =>
        blob === undefined ? [] : [shownImage({ imageId, name, mediaType, blob }, task, addressOf)],
      ),
    }),
    ...(artifacts && {
      artifacts: artifacts.flatMap(({ id, name, type, blob }) =>
        blob === undefined ? [] : [shownArtifact({ id, name, type, blob }, task, addressOf)],
      ),
    }),
  }
}

/** The artifact as the API shows it. */
function shownArtifact(
  { blob, ...artifact }: Pick<ShownArtifact, 'id' | 'name' | 'type'> & { readonly blob: BlobRef },
  taskId: string,
  addressOf: AddressOf,
): ShownArtifact {
  const { id: imageId, type: mediaType } = artifact
  const scope = scopeOfStream(taskStream(taskId))
  const url = addressOf({ imageId, scope, blob, mediaType, name: artifact.name ?? '' })
  return { ...artifact, size: blob.size, url }
}
