/** The records of issues, labels and events of issues in the code host's state. Issues and pull requests share one sequence of numbers. */
import { z } from 'zod'

const Time = z.iso.datetime()

export const Issue = z.object({
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullable(),
  author: z.string(),
  /** The App whose token was used to open the issue; `null` when it was opened on a page. */
  viaApp: z.int().positive().nullable(),
  /** The names of the issue's labels. */
  labels: z.array(z.string()).readonly(),
  createdAt: Time,
  updatedAt: Time,
  /** When somebody last changed the title or the text; `null` when nobody changed them. */
  editedAt: Time.nullable(),
  /** Who last changed the title or the text; `null` when nobody changed them, and when unknown. */
  editedBy: z.string().nullable().default(null),
  closed: z.object({ at: Time, by: z.string(), reason: z.enum(['completed', 'not_planned']) }).nullable(),
})

export const Label = z.object({
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  name: z.string(),
  color: z.string(),
  description: z.string().nullable(),
})

/** An event of an issue or pull request: a label was added or removed, or it was closed or reopened. */
export const IssueEvent = z.object({
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  number: z.int().positive(),
  kind: z.enum(['labeled', 'unlabeled', 'closed', 'reopened']),
  actor: z.string(),
  label: z.string().nullable(),
  createdAt: Time,
})

export type Issue = Readonly<z.infer<typeof Issue>>
export type Label = Readonly<z.infer<typeof Label>>
export type IssueEvent = Readonly<z.infer<typeof IssueEvent>>

/** The maximum number of issues in one repository. Further issues are refused. */
export const mostIssues = 5_000
/** The maximum number of labels on one issue, as on GitHub. */
export const mostLabels = 100
/** The maximum number of labels in one repository. */
export const mostLabelsOfAll = 1_000
/** The maximum number of events of one issue. Older events are dropped. */
export const mostEvents = 300
