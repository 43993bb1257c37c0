/** Which issues of a project's repository become tasks automatically, and the limits that apply to every project. */

export interface IssueRule {
  readonly on: boolean
  /** The label that turns an issue into a task; case-insensitive. */
  readonly label: string
  /** Whether mentioning the App in an issue, or in a comment on an issue, also turns the issue into a task. */
  readonly mentions: boolean
}

export const defaultIssueRule: IssueRule = { on: false, label: 'flightdeck', mentions: true }

export const issueLimits = {
  labelLength: 50,
  /** The most issues of a project that are accepted per hour and per day, even if some do not become tasks. Further issues wait. */
  perHour: 5,
  perDay: 20,
  /** How many of the latest decisions a project's settings show. */
  decisions: 10,
  /**
   * How many issues that did not become tasks a project remembers: all that wait for the limit per hour or day, at most this many that wait for
   * something else, and at most this many that do not wait.
   */
  passedOver: 200,
  /** The most issues that wait for the limit per hour or day. Further issues are read only when fewer wait. */
  waiting: 200,
} as const

/** How an issue requests a task. */
export const issueTriggers = ['label', 'mention'] as const
export type IssueTrigger = (typeof issueTriggers)[number]

/**
 * Why an issue is not a task although somebody requested one, or may have requested one.
 * - `hour`, `day`: the limit per hour or day is reached.
 * - `not_known`: the person who requested the task has no account on this server. `sign_in`: the person must sign in again.
 * - `edited`: the issue was edited after the request, by somebody without write permission or, if its author has none, by anybody.
 * - `elsewhere`: another project of the same repository takes the issue.
 * - `owner`: the project's owner may not write to the repository.
 * - `unsure`: the issue has too many events or comments to find the request among them.
 * - `withdrawn`: the request was withdrawn while the issue waited.
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
const selfResolving: readonly IssuePass[] = ['not_known', 'sign_in', 'elsewhere', 'owner']

/** Whether the reason is the limit per hour or day, for which the issue waits. */
export const isLimit = (pass: IssuePass): boolean => limits.includes(pass)

/** Whether the reason, other than a limit, may disappear without any activity on the issue. Such issues are decided again from time to time. */
export const mayResolveItself = (pass: IssuePass): boolean => selfResolving.includes(pass)

/**
 * Why an accepted issue did not become a task.
 * - `changed`: its text was edited.
 * - `closed`: it was closed. `gone`: it no longer exists.
 * - `refused`: the creation of the task was refused, or another project has made the task.
 * - `not_permitted`: the person who requested the task, or the project's owner, may no longer write to the repository, or that person may no longer
 *   use this server.
 * - `unwanted`: the rule, or its part about mentions, was switched off.
 * - `unlabelled`: the label was removed.
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
