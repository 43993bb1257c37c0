/** Where the lines of a file come from: the turn that wrote each of them, and what that turn was asked. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { AgentName, ToolKind } from '../task/events.ts'
import { defineRead } from './call.schema.ts'
import { Moment, Text } from './fields.schema.ts'
import { provenanceRoutes } from './provenance.ts'

const Call = z.object({
  id: z.string(),
  kind: ToolKind,
  /** `null` where they were erased. */
  name: z.string().nullable(),
  target: z.string().nullable(),
  additions: z.number().nullable(),
  deletions: z.number().nullable(),
  /** The moment at which it had ended. */
  moment: z.number(),
})

export const getProvenance = defineRead(provenanceRoutes.getProvenance, {
  summary: 'Which turn wrote each line of a file, as the file is until the next turn.',
  params: z.object({ taskId: TaskId }),
  query: { path: Text.min(1).max(4_096) },
  answer: {
    /** Git's name of the content whose lines these are; `null` from a runner of an older version. */
    blob: z.string().nullable(),
    /** In order, from line 1 to the last. */
    ranges: z.array(
      z.object({
        from: z.number(),
        to: z.number(),
        /** `null`: unknown. The lines were there before the task, or came from others. */
        executionId: z.string().nullable(),
        /** The tool call that wrote the lines, among the `calls` of its turn; `null` where several can have, or none is recorded. */
        callId: z.string().nullable(),
      }),
    ),
    /** The turns and commands that the ranges name. */
    turns: z.array(
      z.object({
        /** Another task than this one, where it was created from a turn of that. */
        taskId: z.string(),
        executionId: z.string(),
        kind: z.enum(['turn', 'command']),
        /** Counts the turns and commands of its task, from 1; `null` for one of another task. */
        number: z.number().nullable(),
        /** The moment at which it had ended: a revision of its task's stream. `null` where its message is not in this task. */
        moment: z.number().nullable(),
        agent: AgentName.nullable(),
        messageId: z.string().nullable(),
        /** What was asked, cut to 500 characters; `null` where it is not in this task or was erased. */
        prompt: z.string().nullable(),
        at: Moment.nullable(),
        /** The edits of the turn that name this file, by their entries in the command log. A shell command may have written it as well. */
        edits: z.array(z.string()),
        /** How many of its tool calls may have written any file: shell commands, and tools of which only the name is known. */
        otherCalls: z.number(),
        /** The tool call that wrote all of its lines in this file; `null` where there are several, or it is not known. */
        call: Call.nullable(),
        /** The tool calls that the ranges name. */
        calls: z.array(Call),
      }),
    ),
  },
  faults: ['not_found', 'not_initialized'],
})
