/** Which issues of a project's repository become tasks automatically, and the limits that apply to every project. */

export interface IssueRule {
  readonly on: boolean
  /** The label that turns an issue into a task; case-insensitive. */
  readonly label: string
  /** Whether mentioning the App in an issue, or in a comment on one, also makes a task. */
  readonly mentions: boolean
}

export const defaultIssueRule: IssueRule = { on: false, label: 'flightdeck', mentions: true }

export const issueLimits = {
  labelLength: 50,
  /** How many tasks are made from a project's issues per hour and per day; further issues wait. */
  anHour: 5,
  aDay: 20,
  /** How many of the latest decisions a project's settings show. */
  decisions: 10,
  /**
   * How many issues that did not become tasks a project remembers: this many that wait for something other than a limit, and as many that do not
   * wait. All that wait for a limit are remembered.
   */
  passed: 200,
  /** How many issues can wait for a limit; further issues are read when fewer wait. */
  waiting: 200,
} as const

/** How an issue requests a task. */
export const issueTriggers = ['label', 'mention'] as const
export type IssueTrigger = (typeof issueTriggers)[number]

/**
 * Why an issue is not a task although one was requested: a limit is reached (`hour`, `day`); the person who asked has no account here or must sign in
 * again; the issue was edited later by somebody without permission; another project of the same repository takes it; the project's `owner` may not
 * write to the repository; too much happened on the issue to be sure; or the request was withdrawn while the issue waited.
 */
export const issuePasses = [
  'hour',
  'day',
  'not_known',
  'edited',
  'elsewhere',
  'sign_in',
  'owner',
  'unsure',
  'withdrawn',
] as const
export type IssuePass = (typeof issuePasses)[number]

const limits: readonly IssuePass[] = ['hour', 'day']
const passing: readonly IssuePass[] = ['not_known', 'sign_in', 'elsewhere', 'owner']

/** Whether the issue waits for a limit and becomes a task afterwards. */
export const isLimit = (pass: IssuePass): boolean => limits.includes(pass)

/** Whether the decision can change without any activity on the issue, which is why it is repeated from time to time. */
export const mayPassAway = (pass: IssuePass): boolean => passing.includes(pass)

/**
 * Why an accepted issue did not become a task: its text was edited, it was closed, it no longer exists, the task was refused, the person who asked or
 * the project's owner may no longer write, the rule was switched off, or the label was removed in the meantime.
 */
export const issueFailures = [
  'changed',
  'closed',
  'refused',
  'gone',
  'not_permitted',
  'unwanted',
  'unlabelled',
] as const
export type IssueFailure = (typeof issueFailures)[number]
