/** What a project does with feedback on its pull requests, and the limits that apply to every project. */

export const feedbackModes = ['off', 'ask', 'automatic'] as const
export type FeedbackMode = (typeof feedbackModes)[number]

export interface FeedbackRule {
  /** How comments and reviews by people are handled. */
  readonly reviews: FeedbackMode
  readonly checks: FeedbackMode
  /** How many automatic tries there are to fix the checks of one commit and, within 24 hours, of one pull request. */
  readonly triesPerCommit: number
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
  /** The most pieces of feedback per task; further ones are not recorded. */
  items: 500,
  /** How many of those may come from people without write access. */
  itemsByOutsiders: 300,
  /** The most automatic turns of one pull request per hour. This limit also ends a loop of answers, whoever gives them. */
  automaticAnHour: 6,
  triesPerCommit: 5,
  triesPerDay: 20,
  /** The maximum lengths, in characters, of a body, of one comment, and of the diff lines to which it is attached. */
  body: 20_000,
  hunk: 4_000,
  /** How many comments of one review are recorded in full; of further ones, only the ids and places are. */
  comments: 50,
  annotations: 20,
  /** How many characters from the end of a log are recorded, and how many of those an agent gets. */
  log: 64 * 1_024,
  logInMessage: 16_000,
} as const

/** Whether a review comment is recorded in full. After the first `feedbackLimits.comments`, only ids and places are recorded. */
export const isInFull = ({ body }: { readonly body: string }): boolean => body !== ''
