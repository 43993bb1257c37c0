/** Fields that several calls share. */
import { z } from 'zod'
import { isBranchName, isEffortName, isModelName } from '../kernel/names.ts'
import { faultCodes } from '../kernel/errors.ts'
import { saying } from '../kernel/readInput.ts'

/** Whether the text can be stored: it contains no NUL and no lone surrogates. */
const canBeKept = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text)
const cannotBeKept = { error: saying('contains characters that cannot be stored, such as NUL.') }

export const Text = z.string().refine(canBeKept, cannotBeKept)

/** A schema for trimmed text that is not blank. `sentence` is the error for a blank text. */
export const required = (sentence: string, max: number) =>
  z
    .string({ error: ({ input }) => (input === undefined || input === null ? sentence : undefined) })
    .refine(canBeKept, cannotBeKept)
    .trim()
    .min(1, sentence)
    .max(max)

export const branchName = (sentence: string) =>
  required(sentence, 250).refine(isBranchName, {
    error: saying('does not have a name that git allows.'),
  })

/** The name of a model, which becomes an argument of the agent's program. An empty name becomes `null`: nobody chose a model. */
export const modelName = z
  .string()
  .refine((name) => name === '' || isModelName(name), { error: saying('does not have a valid name.') })
  .transform((name) => (name === '' ? null : name))

export const effortName = z
  .string()
  .refine(isEffortName, { error: saying('is not a level that an agent has.') })

export const success = { success: z.literal(true) }

export const queryNumber = (max: number) => z.coerce.number().int().min(1).max(max)

/** Where a page begins: `next` of the previous page. */
export const Cursor = z.string().regex(/^\d{20,40}$/, { error: saying('must come from the page before.') })

/** A time in ISO 8601, UTC. */
export const Moment = z.string()

const dayMs = 86_400_000
const latest = Date.UTC(9999, 11, 31)
const isDay = (given: string): boolean => given.length === 10
const moment = (ms: number): string => new Date(Math.min(ms, latest)).toISOString()
const DayOrMoment = z.union([z.iso.date(), z.iso.datetime()], {
  error: saying('must be a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.'),
})

/** The included start of a period: a day in UTC or a time. Parsed to a time. */
export const Since = DayOrMoment.transform((given) => moment(Date.parse(given)))
/** The end of a period, parsed to the first time after the period. A given day in UTC still belongs to the period; a given time does not. */
export const Until = DayOrMoment.transform((given) => moment(Date.parse(given) + (isDay(given) ? dayMs : 0)))

/** The body of every refusal. */
export const FaultAnswer = z.object({
  error: z.string(),
  code: z.enum(faultCodes),
  field: z.string().optional(),
  /** With some 409s: the current state, in the form of a successful answer. */
  current: z.record(z.string(), z.unknown()).optional(),
  requestId: z.string().optional(),
})
export type FaultAnswer = z.infer<typeof FaultAnswer>
