/** Reports about commits, in the form of the state; logs are files outside of it. */
import { z } from 'zod'

const Time = z.iso.datetime()
const Sha = z.string().regex(/^[0-9a-f]{40,64}$/)

export const conclusions = [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
] as const

/** A line of a file about which a check has a message. */
export const Annotation = z.object({
  path: z.string().min(1).max(4_096),
  startLine: z.int().positive(),
  endLine: z.int().positive(),
  level: z.enum(['notice', 'warning', 'failure']),
  message: z.string().min(1).max(65_536),
  title: z.string().max(255).nullable(),
  rawDetails: z.string().max(65_536).nullable(),
})

export const CheckRun = z.object({
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  /** Each App has one suite per head commit. */
  suiteId: z.int().positive(),
  headSha: Sha,
  appId: z.int().positive(),
  name: z.string(),
  status: z.enum(['queued', 'in_progress', 'completed']),
  conclusion: z.enum(conclusions).nullable(),
  externalId: z.string(),
  detailsUrl: z.string().nullable(),
  title: z.string().nullable(),
  summary: z.string().nullable(),
  text: z.string().nullable(),
  annotations: z.array(Annotation).readonly(),
  createdAt: Time,
  startedAt: Time,
  completedAt: Time.nullable(),
})

/** Reports about a commit by others than Apps: the latest of each context counts. */
export const CommitStatus = z.object({
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  sha: Sha,
  state: z.enum(['error', 'failure', 'pending', 'success']),
  context: z.string(),
  description: z.string().nullable(),
  targetUrl: z.string().nullable(),
  creator: z.string(),
  createdAt: Time,
})

export type Annotation = Readonly<z.infer<typeof Annotation>>
export type CheckRun = Readonly<z.infer<typeof CheckRun>>
export type CommitStatus = Readonly<z.infer<typeof CommitStatus>>

/** The App `github-actions`, whose check runs are jobs with logs. The id is the one it has on GitHub. */
export const actionsAppId = 15_368
/** The most reports about one commit; more are refused. */
export const mostReports = 1_000
