/** Which issues of a project's repository become tasks by themselves, and the limits that hold whatever a project says. */

export interface IssueRule {
  readonly on: boolean
  /** The label that makes a task of an issue, in any letters. */
  readonly label: string
  /** Whether naming the App in an issue, or in a comment on it, makes a task too. */
  readonly mentions: boolean
}

export const defaultIssueRule: IssueRule = { on: false, label: 'flightdeck', mentions: true }

export const issueLimits = {
  labelLength: 50,
  /** Tasks that a project's issues become within an hour, and within a day: the others wait. */
  anHour: 5,
  aDay: 20,
  /** Decisions that the settings of a project show, the latest. */
  decisions: 10,
  /** Issues that were passed over, as a project remembers them, beside those that wait for the limits: of those that wait, and of the others. */
  passed: 200,
  /** Issues that wait for the limits: the next are read once there is room. */
  waiting: 200,
} as const

/** How an issue asks for a task. */
export const issueTriggers = ['label', 'mention'] as const
export type IssueTrigger = (typeof issueTriggers)[number]

/**
 * Why an issue that was asked for is no task: it waits for a limit (`hour`, `day`), who asked has no account here or has to sign in again,
 * its text was changed afterwards by somebody without the right, it is another project's of the same repository, the project's `owner` may
 * not write to it, too much happened on it to be sure, or nobody asks for it any more after it had waited.
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

/** Whether the answer may be another without anything that happens on the issue: it is asked for again now and then. */
export const mayPassAway = (pass: IssuePass): boolean => passing.includes(pass)

/**
 * Why no task was made of an issue that was taken: its text was changed, it was closed, it is gone, the task was refused, who asked for it
 * or the project's owner may no longer write, the rule was switched off, or the label was taken off meanwhile.
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
