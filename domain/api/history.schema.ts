/** The history of a task: everything that was recorded, in order, as viewers received it. */
import { z } from 'zod'
import { Position } from '../kernel/event.schema.ts'
import { unreadableReasons } from '../kernel/event.ts'
import { TaskId } from '../kernel/ids.schema.ts'
import { contentCategories } from '../proof/auditBundle.ts'
import { defineFile, defineRead } from './call.schema.ts'
import { MessageDelta, TerminalOutput } from './chat.schema.ts'
import { Moment, queryNumber } from './fields.schema.ts'
import { historyPageSize, historyRoutes } from './history.ts'
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
    /** `null` when it has none or it was erased. */
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

/** Of an event of the terminal's stream: the revision of the task's stream that it came after. */
const follows = z.number()

/** Terminal output, as `terminal_output` carries it. */
const OutputItem = z.object({
  kind: z.literal('output'),
  follows,
  output: TerminalOutput,
  /** The text was erased. */
  erased: z.literal(true).optional(),
})

/** A piece of a message that was being written, as `chat_message_delta` carries it, with the time of each part of it. */
const DeltaItem = z.object({
  kind: z.literal('delta'),
  follows,
  delta: MessageDelta,
  /** When it was recorded. */
  at: Moment,
  /** When its first part was written. */
  begunAt: Moment,
  /** Length of each part in UTF-16 code units, and when it was written, in ms after `begunAt`. */
  chunks: z.array(z.array(z.number())),
  erased: z.literal(true).optional(),
})

const params = z.object({ taskId: TaskId })

export const getTaskHistory = defineRead(historyRoutes.getTaskHistory, {
  summary:
    "A page of the events of a task and of its terminal, oldest first. An event of the terminal comes right after the task's event that it follows.",
  params,
  query: {
    limit: queryNumber(historyPageSize).default(historyPageSize),
    /** `next` of the page before: the revisions, of the task's stream and of its terminal's, that come next. */
    after: z
      .string()
      .regex(/^\d{1,15}\.\d{1,15}$/)
      .optional(),
    /** The history is saved as this: given with each page, and recorded in the audit log with the first. */
    export: z.literal('replay').optional(),
  },
  answer: {
    items: z.array(z.discriminatedUnion('kind', [TaskEventItem, OutputItem, DeltaItem])),
    /** Where the page after this one begins, also when there is nothing there yet. */
    next: z.string(),
    /** There was more to read. */
    more: z.boolean(),
    /** Events of both streams. */
    total: z.number(),
    /** From which event on a stream cannot be read, and why. What can be read is in the pages. */
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
    /** False when the diff itself is no longer kept; the figures are. */
    kept: z.boolean(),
  },
  faults: ['not_found'],
})

/** Categories of content that are left out, with commas. */
const Withheld = z
  .string()
  .transform((listed) => listed.split(',').filter((name) => name !== ''))
  .pipe(z.array(z.enum(contentCategories)))

/**
 * An audit bundle: the task's whole history with its proofs, as `docs/audit-bundle.md` has it. A seal is made for it where the newest is older
 * than the task's last event. Downloading is recorded.
 */
export const getTaskAudit = defineFile(historyRoutes.getTaskAudit, {
  summary: 'The audit record of the task, with proofs that can be checked without this server.',
  params: z.object({ taskId: TaskId }),
  query: { withhold: Withheld.default([]) },
  file: { type: 'application/x-ndjson', name: 'audit.ndjson' },
  faults: ['not_found', 'not_sealed'],
})
