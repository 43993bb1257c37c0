/** What a project does with feedback on its pull requests, and the limits that apply to every project. */

export const feedbackModes = ['off', 'ask', 'automatic'] as const
export type FeedbackMode = (typeof feedbackModes)[number]

export interface FeedbackRule {
  /** How comments and reviews by people are handled. */
  readonly reviews: FeedbackMode
  readonly checks: FeedbackMode
  /** Automatic tries to fix the checks of one commit, and of one pull request within 24 hours. */
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
  /** Per task; further feedback is not recorded. */
  items: 500,
  /** How many of these may come from people without write access. */
  itemsByOutsiders: 300,
  /** Automatic turns of one pull request per hour. This limit also ends a loop of answers, whoever gives them. */
  automaticAnHour: 6,
  triesPerCommit: 5,
  triesPerDay: 20,
  /** Characters of a body, of one comment, and of the diff lines that it is attached to. */
  body: 20_000,
  hunk: 4_000,
  /** Comments of one review that are recorded in full; of further ones, only their ids and places. */
  comments: 50,
  annotations: 20,
  /** Characters from the end of a log: how many are recorded, and how many of those an agent gets. */
  log: 64 * 1_024,
  logInMessage: 16_000,
} as const

/** Whether a review comment is recorded in full. After the first `feedbackLimits.comments`, only ids and places are recorded. */
export const isInFull = ({ body }: { readonly body: string }): boolean => body !== ''
