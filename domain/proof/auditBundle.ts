/**
 * The audit bundle of a task: its history with proofs, in lines of JSON that anybody can check without our server and without its keys.
 * `docs/audit-bundle.md` writes the format down.
 */

export const bundleFormat = 'flightdeck-audit'
export const bundleVersion = 2
/** What a bundle's manifest is, for tools that know in-toto statements. */
export const manifestType = 'application/vnd.in-toto+json'
export const predicateType = 'https://flightdeck.dev/audit-manifest/v2'

/** What can be left out of a bundle, by who wrote it. */
export const contentCategories = ['prompts', 'answers', 'tools', 'output', 'details'] as const
export type ContentCategory = (typeof contentCategories)[number]

/** Why a content that was not withheld is not in a bundle. */
export const unopenedKinds = ['erased', 'missing_key', 'changed'] as const

/**
 * What the server found in the place of a blob. `kept`: bytes that have its hash. `changed`: other bytes. `erased`: its key was destroyed,
 * whether or not its bytes are still there. `missing`: nothing.
 */
export const blobStates = ['kept', 'changed', 'erased', 'missing'] as const
export type BlobState = (typeof blobStates)[number]

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
