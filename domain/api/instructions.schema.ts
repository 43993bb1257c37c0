/** A person's own instructions and commands for agents, which each of their tasks gets. */
import { z } from 'zod'
import { saying } from '../kernel/readInput.ts'
import { bytesOf } from '../project/settings.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { Text } from './fields.schema.ts'
import { instructionLimits, instructionRoutes } from './instructions.ts'

const OwnCommandInput = z.object({
  name: z
    .string()
    .max(instructionLimits.commandNameLength)
    .regex(
      /^[a-z0-9][a-z0-9_-]*$/,
      'Use only lowercase letters, digits, hyphens and underscores. Start with a letter or a digit.',
    ),
  description: Text.trim().max(instructionLimits.descriptionLength),
  text: Text.refine((text) => text.trim() !== '', 'A command needs a text.').refine(
    (text) => bytesOf(text) <= instructionLimits.commandBytes,
    { error: saying('can have at most 16 KiB.') },
  ),
})

const Instructions = z.object({
  instructions: Text.refine((text) => bytesOf(text) <= instructionLimits.instructionBytes, {
    error: saying('can have at most 16 KiB.'),
  }),
  commands: z
    .array(OwnCommandInput)
    .max(instructionLimits.commands, {
      error: saying(`can have at most ${instructionLimits.commands} entries.`),
    })
    .refine(
      (commands) => new Set(commands.map(({ name }) => name)).size === commands.length,
      'Two commands have the same name.',
    )
    .refine(
      (commands) => commands.reduce((sum, { text }) => sum + bytesOf(text), 0) <= instructionLimits.allBytes,
      'All commands together can be at most 128 KiB.',
    ),
})

const answer = {
  instructions: z.string(),
  commands: z.array(z.object({ name: z.string(), description: z.string(), text: z.string() })),
}

export const getInstructions = defineRead(instructionRoutes.getInstructions, {
  summary: "The signed-in user's own instructions and commands for agents.",
  answer,
})

/** Changes apply when the agent of a task next starts. A repository's command wins over an own command of the same name. */
export const updateInstructions = defineWrite(instructionRoutes.updateInstructions, {
  summary: "Replaces the signed-in user's own instructions for agents, all own commands, or both.",
  body: Instructions.partial(),
  answer,
})
