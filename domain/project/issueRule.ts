/** Which issues of a project's repository become tasks automatically, and the limits that apply to every project. */

export interface IssueRule {
  readonly on: boolean
  /** The label that turns an issue into a task; case-insensitive. */
  readonly label: string
  /** Whether naming the App in an issue, or in a comment on it, makes a task too. */
  readonly mentions: boolean
}

export const defaultIssueRule: IssueRule = { on: false, label: 'flightdeck', mentions: true }

export const issueLimits = {
  labelLength: 50,
  /** The most tasks made from a project's issues per hour and per day; further issues wait. */
  anHour: 5,
  aDay: 20,
  /** How many of the latest decisions a project's settings show. */
  decisions: 10,
  /**
   * How many issues without a task a project remembers in addition to those that wait for a limit: this many that wait for something else, and as
   * many others.
   */
  passed: 200,
  /** How many issues may wait for the limits; further issues are read once there is room. */
  waiting: 200,
} as const

/** How an issue asks for a task. */
export const issueTriggers = ['label', 'mention'] as const
export type IssueTrigger = (typeof issueTriggers)[number]

/**
 * Why an issue for which somebody asked is no task: it waits for a limit (`hour`, `day`), the person who asked has no account here or must sign in
 * again, its text was edited later by somebody without the permission, another project of the same repository takes it, the project's `owner` may not
 * write to the repository, too much happened on the issue to be sure, or nobody asks for it any more after it waited.
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

/** Whether the issue becomes a task once there is room. */
export const isLimit = (pass: IssuePass): boolean => limits.includes(pass)

/** Whether the decision can change without any activity on the issue, so that the issue is considered again from time to time. */
export const mayPassAway = (pass: IssuePass): boolean => passing.includes(pass)

/**
 * Why an issue that was accepted did not become a task: its text was edited, it was closed, it no longer exists, the task was refused, the person who
 * asked or the project's owner may no longer write, the rule was switched off, or the label was removed meanwhile.
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
