/** What a project does with feedback on its pull requests, and the limits that hold whatever it says. */

export const feedbackModes = ['off', 'ask', 'automatic'] as const
export type FeedbackMode = (typeof feedbackModes)[number]

export interface FeedbackRule {
  /** What people write on pull requests. */
  readonly reviews: FeedbackMode
  readonly checks: FeedbackMode
  /** Automatic tries to fix the checks of one commit, and of one pull request within 24 hours. */
  readonly triesPerCommit: number
  readonly triesPerDay: number
  /** Whether a thread is resolved once it is answered. */
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
  /** Of one task: what comes after them is not recorded. */
  items: 500,
  /** Of these, by people who may not write in the repository. */
  itemsByOutsiders: 300,
  /** Automatic turns of one pull request within an hour: whoever answers whom, it ends there. */
  automaticAnHour: 6,
  triesPerCommit: 5,
  triesPerDay: 20,
  /** Characters of a body, of one comment and of the lines that it stands at. */
  body: 20_000,
  hunk: 4_000,
  /** Of one review in full: of others it is recorded where they stand. */
  comments: 50,
  annotations: 20,
  /** Characters of the end of a log: what is recorded of it, and what of that an agent is given. */
  log: 64 * 1_024,
  logInMessage: 16_000,
} as const

/** Whether a comment of a review is there in full. Of those after the first `feedbackLimits.comments` only their ids and places are. */
export const isInFull = ({ body }: { readonly body: string }): boolean => body !== ''
