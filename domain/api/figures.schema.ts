/** Figures of tasks in a period, summed by group: as JSON and as CSV. */
import { z } from 'zod'
import { groupings, measures, type Measure } from '../figures.ts'
import { saying } from '../kernel/readInput.ts'
import { defineFile, defineRead } from './call.schema.ts'
import { figuresRoutes, scopes } from './figures.ts'

// The cast holds because there is a number for each measure.
export const FiguresShown = z.object(
  Object.fromEntries(measures.map((measure) => [measure, z.number()])) as Record<Measure, z.ZodNumber>,
)

const aDay = { error: saying('must be a day such as 2026-01-31.') }
const Day = z.iso.date(aDay).refine((day) => day >= '2000-01-01' && day < '3000-01-01', aDay)

const query = {
  /** The first and last day of the period, in UTC, both included. The default period is the last twelve weeks. */
  from: Day.optional(),
  to: Day.optional(),
  by: z.enum(groupings).default('week'),
  /** The person's own tasks, or everybody's. Only administrators may request everybody's, and the audit log records their request. */
  scope: z.enum(scopes).default('own'),
}

/** The figures of one week, project, agent, model, payer or person. `key` is its id or name, or the Monday of the week, and `null` when unknown. */
export const FiguresGroup = z.object({
  key: z.string().nullable(),
  name: z.string().nullable(),
  figures: FiguresShown,
})
export type FiguresGroup = z.infer<typeof FiguresGroup>

/**
 * With `by: 'week'`, the answer has a group for each week of the period, sorted by time. Groups of any other kind are sorted by cost, then by turns,
 * then by tasks, the highest first. `others` is the sum of the groups that are not shown; `null` if all are shown.
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
    /** The same number as in `total`. Earlier versions sent `null` when the number was unknown. */
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
