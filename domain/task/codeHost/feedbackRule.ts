/** What a project does with feedback on its pull requests, and the limits that apply to every project. */

export const feedbackModes = ['off', 'ask', 'automatic'] as const
export type FeedbackMode = (typeof feedbackModes)[number]

export interface FeedbackRule {
  /** How comments and reviews by people are handled. */
  readonly reviews: FeedbackMode
  readonly checks: FeedbackMode
  /** The most turns that try to fix the checks of a commit automatically. */
  readonly triesPerCommit: number
  /** The most turns that try to fix the checks of a pull request automatically within 24 hours. */
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
  /** The most pieces of feedback of a task; further ones are not recorded. */
  items: 500,
  /** The most pieces of feedback by people without write access. */
  itemsByOutsiders: 300,
  /** The most automatic turns of one pull request per hour. This limit also ends a loop in which bots answer each other. */
  automaticAnHour: 6,
  triesPerCommit: 5,
  triesPerDay: 20,
  /** The most characters of a body, of one comment, and of the diff lines that the comment is attached to. */
  body: 20_000,
  hunk: 4_000,
  /** The most comments of one review that are recorded in full; of further ones, only ids and places are recorded. */
  comments: 50,
  annotations: 20,
  /** The most characters of a log, counted from its end, that are recorded, and that an agent gets. */
  log: 64 * 1_024,
  logInMessage: 16_000,
} as const

/** Whether a review comment was recorded in full. Comments after the first `feedbackLimits.comments` have only ids and places. */
export const isInFull = ({ body }: { readonly body: string }): boolean => body !== ''
