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
  /** Issues that were passed over, as a project remembers them. */
  passed: 200,
} as const

/** How an issue asks for a task. */
export const issueTriggers = ['label', 'mention'] as const
export type IssueTrigger = (typeof issueTriggers)[number]

/**
 * Why an issue that somebody with the right asked for is no task: it waits for a limit (`hour`, `day`), who asked has no account
 * here, its text was changed afterwards by somebody without the right, or it is another project's of the same repository.
 */
export const issuePasses = ['hour', 'day', 'not_known', 'edited', 'elsewhere'] as const
export type IssuePass = (typeof issuePasses)[number]

/** Why no task was made of an issue that was taken. */
export const issueFailures = ['changed', 'closed', 'refused'] as const
export type IssueFailure = (typeof issueFailures)[number]
