/** Fields that many calls share, with the spec's limits and texts. */
import { z } from 'zod'
import { isBranchName, isModelName } from '../kernel/names.ts'
import { faultCodes } from '../kernel/errors.ts'
import { saying } from '../kernel/readInput.ts'

/** Whether no character is in it that no screen can show: NUL and lone surrogates. */
const canBeKept = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text)
const cannotBeKept = { error: saying('contains characters that cannot be stored, such as NUL.') }

/** Text without what no screen can show. */
export const Text = z.string().refine(canBeKept, cannotBeKept)

/** Text that is not blank, trimmed. */
export const required = (sentence: string, max: number) =>
  z
    .string({ error: ({ input }) => (input === undefined || input === null ? sentence : undefined) })
    .refine(canBeKept, cannotBeKept)
    .trim()
    .min(1, sentence)
    .max(max)

/** A branch, by a name that git takes for one and for nothing else. */
export const branchName = (sentence: string) =>
  required(sentence, 250).refine(isBranchName, {
    error: saying('does not have a name that git allows.'),
  })

/** A model by its name. It becomes an argument of the agent's program; a client that leaves it blank chooses none. */
export const modelName = z
  .string()
  .refine((name) => name === '' || isModelName(name), { error: saying('does not have a valid name.') })
  .transform((name) => (name === '' ? null : name))

export const success = { success: z.literal(true) }

/** A number in a query string. */
export const queryNumber = (max: number) => z.coerce.number().int().min(1).max(max)

/** Where a page of a list begins: the `next` of the page before. */
export const Cursor = z.string().regex(/^\d{20,40}$/, { error: saying('must come from the page before.') })

/** A moment, ISO 8601 in UTC. */
export const Moment = z.string()

/** What every refusal answers. */
export const FaultAnswer = z.object({
  error: z.string(),
  code: z.enum(faultCodes),
  field: z.string().optional(),
  /** With a 409: what is true now, as an answer of success would show it. */
  current: z.record(z.string(), z.unknown()).optional(),
  requestId: z.string().optional(),
})
export type FaultAnswer = z.infer<typeof FaultAnswer>
