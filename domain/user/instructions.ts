/** A person's own instructions for agents, and commands of their own. */
import { z } from 'zod'
import { event } from '../kernel/event.schema.ts'

export const OwnCommand = z.object({
  name: z.string(),
  description: z.string(),
  /** The text that the agent gets; `$ARGUMENTS` stands for what follows the command's name. */
  text: z.string(),
})
export type OwnCommand = z.infer<typeof OwnCommand>

export const OwnInstructions = z.object({
  /** Instructions for all tasks of the person, as Markdown. */
  instructions: z.string(),
  commands: z.array(OwnCommand),
})
export type OwnInstructions = z.infer<typeof OwnInstructions>

export const InstructionsChanged = event('InstructionsChanged', 1, {
  data: z.object({}),
  content: OwnInstructions,
})
