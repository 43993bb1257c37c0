/** Figures of tasks, summed from all past events. */
import { z } from 'zod'
import { groupings, measures, type Measure } from '../figures.ts'
import { saying } from '../kernel/readInput.ts'
import { defineFile, defineRead } from './call.schema.ts'
import { figuresRoutes, scopes } from './figures.ts'

// There is one number per measure, with the keys of `Figures`.
export const FiguresShown = z.object(
  Object.fromEntries(measures.map((measure) => [measure, z.number()])) as Record<Measure, z.ZodNumber>,
)

const aDay = { error: saying('must be a day such as 2026-01-31.') }
const Day = z.iso.date(aDay).refine((day) => day >= '2000-01-01' && day < '3000-01-01', aDay)

const query = {
  /** The period: days in UTC, both included. Defaults to the last twelve weeks. */
  from: Day.optional(),
  to: Day.optional(),
  by: z.enum(groupings).default('week'),
  /** The person's own tasks, or everybody's. Everybody's are for administrators only, and the request is recorded in the audit log. */
  scope: z.enum(scopes).default('own'),
}

/** One group of the figures: `key` is an id, a name or a Monday, and `null` when unknown; `name` is `null` for something deleted. */
export const FiguresGroup = z.object({
  key: z.string().nullable(),
  name: z.string().nullable(),
  figures: FiguresShown,
})
export type FiguresGroup = z.infer<typeof FiguresGroup>

/**
 * Groups are sorted by cost, then by turns. Weeks are sorted by time, and every week of the period is listed. `others` is the sum of the groups that
 * are not shown.
 */
export const getFigures = defineRead(figuresRoutes.getFigures, {
  summary: 'What tasks took in a period: turns, outcomes, times, tokens, cost and pull requests, by group.',
  query,
  answer: {
    from: z.string(),
    to: z.string(),
    by: z.enum(groupings),
    scope: z.enum(scopes),
    total: FiguresShown,
    groups: z.array(FiguresGroup),
    others: z.object({ groups: z.number(), figures: FiguresShown }).nullable(),
    /** Repeats `mergedPullRequests` of `total`; earlier versions sent `null` for an unknown number. */
    mergedPullRequests: z.number().nullable(),
  },
  faults: ['forbidden'],
})

/** The figures as a CSV table with all groups. */
export const exportFigures = defineFile(figuresRoutes.exportFigures, {
  summary: 'The same figures as CSV.',
  query,
  file: { type: 'text/csv', name: 'figures.csv' },
  faults: ['forbidden'],
})
