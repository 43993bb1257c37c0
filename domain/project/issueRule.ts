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
   * Of the issues that did not become tasks, a project remembers all that wait for a limit, this many that wait for something else, and this many
   * that do not wait.
   */
  passed: 200,
  /** How many issues can wait for a limit; further issues are read when fewer wait. */
  waiting: 200,
} as const

/** How an issue requests a task. */
export const issueTriggers = ['label', 'mention'] as const
export type IssueTrigger = (typeof issueTriggers)[number]

/**
 * Why an issue is not a task although somebody requested one: a limit is reached (`hour`, `day`), the person who asked has no account here
 * (`not_known`) or must sign in again (`sign_in`), somebody without permission edited the issue later (`edited`), another project of the same
 * repository takes the issue (`elsewhere`), the project's owner may not write to the repository (`owner`), too much happened on the issue to be sure
 * (`unsure`), or the request was withdrawn while the issue waited (`withdrawn`).
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

/** Whether the decision can change without any activity on the issue. Such decisions are repeated from time to time. */
export const mayPassAway = (pass: IssuePass): boolean => passing.includes(pass)

/**
 * Why an accepted issue did not become a task: its text was edited (`changed`), the issue was `closed` or no longer exists (`gone`), the task was
 * `refused`, the person who asked or the project's owner may no longer write to the repository (`not_permitted`), the rule was switched off
 * (`unwanted`), or the label was removed (`unlabelled`).
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
