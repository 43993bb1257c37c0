/** A person's own instructions and commands for agents. */
import { z } from 'zod'
import { event } from '../kernel/event.schema.ts'

export const OwnCommand = z.object({
  name: z.string(),
  description: z.string(),
  /** The text that the agent gets; `$ARGUMENTS` stands for what the person types after the name. */
  text: z.string(),
})
export type OwnCommand = z.infer<typeof OwnCommand>

export const OwnInstructions = z.object({
  /** Markdown that applies to every task of the person. */
  instructions: z.string(),
  commands: z.array(OwnCommand),
})
export type OwnInstructions = z.infer<typeof OwnInstructions>

export const InstructionsChanged = event('InstructionsChanged', 1, {
  data: z.object({}),
  content: OwnInstructions,
})
