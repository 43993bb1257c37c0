/** A task's history, in the form that viewers received live, and the seals and the audit bundle that prove it. */
import { z } from 'zod'
import { Position } from '../kernel/event.schema.ts'
import { unreadableReasons } from '../kernel/event.ts'
import { TaskId } from '../kernel/ids.schema.ts'
import { contentCategories } from '../proof/auditBundle.ts'
import { defineFile, defineRead } from './call.schema.ts'
import { MessageDelta, TerminalOutput } from './chat.schema.ts'
import { Moment, queryNumber } from './fields.schema.ts'
import { historyPageSize, historyRoutes, mostSizesAsked } from './history.ts'
import { GitDiff } from './tasks.schema.ts'

/** An event of the task's stream, as `task_event` carries it. */
const TaskEventItem = z.object({
  kind: z.literal('event'),
  event: z.object({
    id: z.string(),
    stream: z.string(),
    revision: z.number(),
    position: Position,
    type: z.string(),
    version: z.number(),
    at: Moment,
    data: z.unknown(),
    /** `null` when the event has no content, or when its content was erased. */
    content: z.unknown(),
    meta: z.object({
      actor: z.union([
        z.object({ kind: z.literal('user'), userId: z.string() }),
        z.object({ kind: z.literal('system'), service: z.string() }),
      ]),
      commandId: z.string(),
      correlationId: z.string(),
      causationId: z.string().nullable(),
      follows: z.number().nullable(),
      content: z.object({ sealed: z.string(), commitment: z.string() }).nullable(),
      prev: z.string(),
      hash: z.string(),
    }),
  }),
})

/** For an event of the terminal's stream: the revision of the task's last event before it. */
const follows = z.number()

/** Terminal output, in the form of the socket's message `terminal_output`. */
export const OutputItem = z.object({
  kind: z.literal('output'),
  follows,
  output: TerminalOutput,
  erased: z.literal(true).optional(),
})

/** A piece of a message while it was being written, as `chat_message_delta` carries it, with the time at which each part was written. */
export const DeltaItem = z.object({
  kind: z.literal('delta'),
  follows,
  delta: MessageDelta,
  at: Moment,
  /** When the first part of the piece was written. */
  begunAt: Moment,
  /** The length of each part in UTF-16 code units, and when it was written, in milliseconds after `begunAt`. */
  chunks: z.array(z.array(z.number())),
  erased: z.literal(true).optional(),
})

/** Consecutive pieces of output or of a message: the first one, and for each further one how it differs from the piece before it. */
export const JoinedItem = z.object({
  kind: z.literal('joined'),
  first: z.discriminatedUnion('kind', [OutputItem, DeltaItem]),
  more: z.array(
    z.object({
      text: z.string(),
      /** The milliseconds since the piece before. */
      ms: z.number(),
      /** The difference of the two positions; the two versions differ by 1. */
      step: z.number(),
      /** For a piece of a message: `begunAt`, in milliseconds relative to the time of the piece. */
      begun: z.number().exactOptional(),
      chunks: DeltaItem.shape.chunks.exactOptional(),
    }),
  ),
})

const params = z.object({ taskId: TaskId })

export const getTaskHistory = defineRead(historyRoutes.getTaskHistory, {
  summary:
    "A page of the events of a task and of its terminal, oldest first. An event of the terminal comes right after the task's event that it follows.",
  params,
  query: {
    limit: queryNumber(historyPageSize).default(historyPageSize),
    /** `next` of the previous page: the next revision of the task's stream, a dot, and the next revision of the terminal's stream. */
    after: z
      .string()
      .regex(/^\d{1,15}\.\d{1,15}$/)
      .optional(),
    /** Set on the request for each page when the client saves the history as a file of this type. The audit log records the first request. */
    export: z.literal('replay').optional(),
    /** Set to get the page as `joined`, with empty `items`. That makes long histories several times smaller. */
    pieces: z.literal('joined').optional(),
  },
  answer: {
    items: z.array(z.discriminatedUnion('kind', [TaskEventItem, OutputItem, DeltaItem])),
    joined: z.array(z.discriminatedUnion('kind', [TaskEventItem, JoinedItem])).exactOptional(),
    /** The place where the next page begins, even if nothing is there yet. */
    next: z.string(),
    more: z.boolean(),
    total: z.number(),
    /** For each stream in which the pages have reached an unreadable event: this event, and why. No page has later events of the stream. */
    missing: z.array(
      z.object({
        stream: z.enum(['task', 'terminal']),
        revision: z.number(),
        reason: z.enum(unreadableReasons),
      }),
    ),
  },
  faults: ['not_found'],
})

export const getRecordedChanges = defineRead(historyRoutes.getRecordedChanges, {
  summary: 'The changes of a task as they were recorded last at a revision of its stream.',
  params,
  query: { revision: z.coerce.number().int().min(0) },
  answer: {
    data: GitDiff,
    /** False when the diff was deleted: `data` then has the number of changed files, but not the files. */
    kept: z.boolean(),
  },
  faults: ['not_found'],
})

export const getTaskRecord = defineRead(historyRoutes.getTaskRecord, {
  summary:
    "How good the record of a task is: what of it is sealed, and what this server's own check of it found.",
  params,
  answer: {
    /** The number of events of the task and its terminal together. */
    events: z.number(),
    /** How many of the events, from the first on, were found unchanged in a check that began at `at`. One request checks some thousands at most. */
    checked: z.object({ at: Moment, events: z.number() }),
    /** The first event that differs from what was recorded or sealed. */
    damage: z.object({ stream: z.enum(['task', 'terminal']), revision: z.number() }).nullable(),
    isSealing: z.boolean(),
    /** The time of the log's newest seal, and how many of the `events` the seal provably covers. `null` before the first seal. */
    seal: z.object({ at: Moment, events: z.number() }).nullable(),
    /** The fingerprint of the key that signs seals; `null` as long as the log has no key. */
    key: z.string().nullable(),
  },
  faults: ['not_found', 'not_sealed'],
})

export const getSeals = defineRead(historyRoutes.getSeals, {
  summary: 'How far the log is sealed, and the keys that it is sealed with.',
  open: 'signed_in',
  answer: {
    logId: z.string(),
    /** Counts from 1 and increases with each restore of the log. */
    epoch: z.number(),
    /** The time of the newest seal, and how many events of the log it covers. `null` before the first seal. */
    seal: z.object({ at: Moment, size: z.number() }).nullable(),
    /** The keys, newest first; empty as long as the log has none. The first key in the list signs new seals. */
    keys: z.array(
      z.object({
        /** A key's fingerprint, for people to compare: 32 hexadecimal digits in groups of four. */
        fingerprint: z.string(),
        /** The key as text, in the form for `flightdeck-verify --key`. */
        verifierKey: z.string(),
      }),
    ),
  },
})

const Withheld = z
  .string()
  .transform((listed) => listed.split(',').filter((name) => name !== ''))
  .pipe(z.array(z.enum(contentCategories)))

const Size = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)
/**
 * Sizes of the log, from seals that somebody has kept. The bundle contains a proof for each of these sizes that is smaller than its checkpoint's, if
 * it can be proven. The parameter may be repeated.
 */
const Sizes = z.union([Size.transform((size) => [size]), z.array(Size).max(mostSizesAsked)])

/**
 * An audit bundle: the task's whole history with its proofs, as specified in `docs/audit-bundle.md`. A new seal is requested first, so that it covers
 * the task's last event. The download is recorded. A deleted task has a bundle without content, for its former owner and for administrators.
 */
export const getTaskAudit = defineFile(historyRoutes.getTaskAudit, {
  summary: 'The audit record of the task, with proofs that can be checked without this server.',
  params: z.object({ taskId: TaskId }),
  query: { withhold: Withheld.default([]), seal: Sizes.default([]) },
  file: { type: 'application/x-ndjson', name: 'audit.ndjson' },
  faults: ['not_found', 'not_sealed'],
})
