/**
 * The audit bundle of a task: its history with proofs, in lines of JSON that anybody can check without our server and without its keys.
 * `docs/audit-bundle.md` writes the format down.
 */

export const bundleFormat = 'flightdeck-audit'
export const bundleVersion = 1
/** What a bundle's manifest is, for tools that know in-toto statements. */
export const manifestType = 'application/vnd.in-toto+json'
export const predicateType = 'https://flightdeck.dev/audit-manifest/v1'

/** What can be left out of a bundle, by who wrote it. */
export const contentCategories = ['prompts', 'answers', 'tools', 'output', 'details'] as const
export type ContentCategory = (typeof contentCategories)[number]

const categories: Readonly<Record<string, readonly ContentCategory[]>> = {
  TaskCreated: ['prompts'],
  TaskUpdated: ['prompts'],
  // Its transcript has both sides of the conversation that it goes on with.
  TaskCreatedFromTurn: ['prompts', 'answers'],
  TaskForked: ['prompts'],
  TaskCreatedToCompare: ['prompts'],
  AlternativeAdded: ['prompts'],
  // Proposed of what was asked and answered.
  PullRequestRequested: ['prompts', 'answers', 'details'],
  // What reviewers wrote, and the logs of failed checks.
  FeedbackReceived: ['prompts', 'output', 'details'],
  FeedbackSent: ['prompts', 'details'],
  // Its words are a message; this names who asked.
  TaskCreatedFromIssue: ['prompts', 'details'],
  MessageQueued: ['prompts'],
  MessageEdited: ['prompts'],
  MessagePosted: ['answers'],
  MessageTextRecorded: ['answers'],
  ToolStarted: ['tools'],
  ToolFinished: ['tools'],
  CommandOutputRecorded: ['output'],
  TerminalOutputRecorded: ['output'],
}

/** Which categories the content of this kind of event belongs to. What names branches, commits and reasons are details. */
export function categoriesOf(type: string): readonly ContentCategory[] {
  return categories[type] ?? ['details']
}

/** The category that keeps the content of this kind of event out of a bundle; `undefined` when it may be in it. */
export function withheldAs(type: string, withheld: readonly ContentCategory[]): ContentCategory | undefined {
  return categoriesOf(type).find((category) => withheld.includes(category))
}
