/** Provenance of the lines of a file: the turn that wrote each of them, and the message that requested that turn. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { AgentName, ToolKind } from '../task/events.ts'
import { defineRead } from './call.schema.ts'
import { Moment, Text } from './fields.schema.ts'
import { provenanceRoutes } from './provenance.ts'

const Call = z.object({
  id: z.string(),
  kind: ToolKind,
  /** The name of the tool; `null` when the name was erased. */
  name: z.string().nullable(),
  target: z.string().nullable(),
  additions: z.number().nullable(),
  deletions: z.number().nullable(),
  /** The revision of the task's stream at which the tool call ended. Links to the tool call contain this revision. */
  moment: z.number(),
})

export const getProvenance = defineRead(provenanceRoutes.getProvenance, {
  summary: 'Which turn wrote each line of a file, as the file is until the next turn.',
  params: z.object({ taskId: TaskId }),
  query: { path: Text.min(1).max(4_096) },
  answer: {
    /** The git object name of the file's content to which `ranges` belong; `null` when the runner is of an older version. */
    blob: z.string().nullable(),
    /** The ranges in order, from line 1 to the last line. */
    ranges: z.array(
      z.object({
        from: z.number(),
        to: z.number(),
        /** The turn that wrote the lines; `null` when they are older than the task or somebody else wrote them. */
        executionId: z.string().nullable(),
        /**
         * The id of the tool call that wrote the lines, which is among the `calls` of the turn; `null` when several calls may have written the lines,
         * or when no call is recorded.
         */
        callId: z.string().nullable(),
      }),
    ),
    turns: z.array(
      z.object({
        /** The task of the turn: the requested task, or the task from whose turn the requested task was created. */
        taskId: z.string(),
        executionId: z.string(),
        kind: z.enum(['turn', 'command']),
        /** The turn's number among the turns and commands of the task, from 1; `null` for a turn of another task, and when unknown. */
        number: z.number().nullable(),
        /** The requested task's revision at the turn's end; `null` for a turn of another task. */
        moment: z.number().nullable(),
        agent: AgentName.nullable(),
        messageId: z.string().nullable(),
        /** The message that requested the turn, cut to 500 characters; `null` for a turn of another task, and when the message was erased. */
        prompt: z.string().nullable(),
        at: Moment.nullable(),
        /** The ids of the command log's entries for the turn's edits of this file. A shell command may have written to the file as well. */
        edits: z.array(z.string()),
        /** How many of the turn's tool calls could have written any file: shell commands, other tools, and edits whose target was erased. */
        otherCalls: z.number(),
        /** The tool call that wrote all lines of the turn in this file; `null` when several tool calls wrote them, or when it is unknown. */
        call: Call.nullable(),
        calls: z.array(Call),
      }),
    ),
  },
  faults: ['not_found', 'not_initialized'],
})
