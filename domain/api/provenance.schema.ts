/** Where the lines of a file come from: the turn that wrote each of them, and what that turn was asked. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { AgentName } from '../task/events.ts'
import { defineRead } from './call.schema.ts'
import { Moment, Text } from './fields.schema.ts'
import { provenanceRoutes } from './provenance.ts'

export const getProvenance = defineRead(provenanceRoutes.getProvenance, {
  summary: 'Which turn wrote each line of a file, as the file was at the end of the last turn.',
  params: z.object({ taskId: TaskId }),
  query: { path: Text.min(1).max(4_096) },
  answer: {
    /** In order, from line 1 to the last. */
    ranges: z.array(
      z.object({
        from: z.number(),
        to: z.number(),
        /** `null`: unknown. The lines were there before the task, or came from others. */
        executionId: z.string().nullable(),
      }),
    ),
    /** The turns and commands that the ranges name. */
    turns: z.array(
      z.object({
        /** Another task than this one, where it was created from a turn of that. */
        taskId: z.string(),
        executionId: z.string(),
        kind: z.enum(['turn', 'command']),
        agent: AgentName.nullable(),
        messageId: z.string().nullable(),
        /** What was asked, cut to 500 characters; `null` where it is not in this task or was erased. */
        prompt: z.string().nullable(),
        at: Moment.nullable(),
        /** The edits of the turn that name this file, by their entries in the command log. A shell command may have written it as well. */
        edits: z.array(z.string()),
      }),
    ),
  },
  faults: ['not_found', 'not_initialized'],
})
