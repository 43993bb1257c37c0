/** The rule by which a project handles feedback on its pull requests, and the limits that apply to every project. */

export const feedbackModes = ['off', 'ask', 'automatic'] as const
export type FeedbackMode = (typeof feedbackModes)[number]

export interface FeedbackRule {
  /** How comments and reviews by people are handled. */
  readonly reviews: FeedbackMode
  readonly checks: FeedbackMode
  /** The most automatic turns that try to fix the failed checks of one commit. */
  readonly triesPerCommit: number
  /** The most automatic turns within 24 hours that try to fix the failed checks of one task's pull requests. */
  readonly triesPerDay: number
  readonly resolves: boolean
}

export const defaultRule: FeedbackRule = {
  reviews: 'ask',
  checks: 'ask',
  triesPerCommit: 1,
  triesPerDay: 5,
  resolves: false,
}

export const feedbackLimits = {
  /** The most pieces of feedback that are recorded for a task. */
  items: 500,
  /** The most pieces of feedback by people without write access that are recorded for a task. */
  itemsByOutsiders: 300,
  /** The most automatic turns per hour in one task. This limit also ends a loop of automatic turns and automatic feedback. */
  automaticAnHour: 6,
  triesPerCommit: 5,
  triesPerDay: 20,
  /** The most characters of a review or a comment. */
  body: 20_000,
  /** The most characters of the diff lines to which a comment is attached. */
  hunk: 4_000,
  /** The most comments of one review that are recorded with their texts. */
  comments: 50,
  annotations: 20,
  /** The most characters at the end of a check's log that are recorded. */
  log: 64 * 1_024,
  /** The most characters at the end of a check's log that an agent gets. */
  logInMessage: 16_000,
} as const

/** Whether a comment of a review was recorded with its text. Of comments beyond `feedbackLimits.comments`, only ids and places are recorded. */
export const isInFull = ({ body }: { readonly body: string }): boolean => body !== ''
