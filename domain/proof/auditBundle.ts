/**
 * The audit bundle of a task: its history with proofs, as lines of JSON that anybody can check without our server and its keys.
 * `docs/audit-bundle.md` specifies the format.
 */

export const bundleFormat = 'flightdeck-audit'
export const bundleVersion = 2
/** The payload type of a bundle's manifest, for tools that understand in-toto statements. */
export const manifestType = 'application/vnd.in-toto+json'
export const predicateType = 'https://flightdeck.dev/audit-manifest/v2'

/** The categories of content that can be withheld from a bundle. */
export const contentCategories = ['prompts', 'answers', 'tools', 'output', 'details'] as const
export type ContentCategory = (typeof contentCategories)[number]

/** Why content that was not withheld is missing from a bundle. */
export const unopenedKinds = ['erased', 'missing_key', 'changed'] as const

/**
 * The state in which the server found a blob. `kept`: the bytes match the hash. `changed`: the bytes do not match the hash. `erased`: the blob's key
 * was destroyed, whether or not the bytes still exist. `missing`: the bytes do not exist, although the key does.
 */
export const blobStates = ['kept', 'changed', 'erased', 'missing'] as const
export type BlobState = (typeof blobStates)[number]

const categories: Readonly<Record<string, readonly ContentCategory[]>> = {
  TaskCreated: ['prompts'],
  TaskUpdated: ['prompts'],
  // The transcript has both sides of the earlier conversation.
  TaskCreatedFromTurn: ['prompts', 'answers'],
  TaskForked: ['prompts'],
  TaskCreatedToCompare: ['prompts'],
  AlternativeAdded: ['prompts'],
  // The pull request's title and body may be derived from prompts and answers.
  PullRequestRequested: ['prompts', 'answers', 'details'],
  // The content of `FeedbackReceived` has the reviewers' texts, and the logs of failed checks.
  FeedbackReceived: ['prompts', 'output', 'details'],
  FeedbackSent: ['prompts', 'details'],
  // The issue's text is in a message. This event has only the issue's title and the requesting person.
  TaskCreatedFromIssue: ['prompts', 'details'],
  MessageQueued: ['prompts'],
  MessageEdited: ['prompts'],
  MessagePosted: ['answers'],
  MessageTextRecorded: ['answers'],
  ThinkingRecorded: ['answers'],
  SubagentSaid: ['answers'],
  QuestionAsked: ['answers', 'tools'],
  QuestionAnswered: ['prompts'],
  McpServersReported: ['tools'],
  ToolStarted: ['tools'],
  ToolFinished: ['tools'],
  ArtifactKept: ['tools'],
  CommandOutputRecorded: ['output'],
  TerminalOutputRecorded: ['output'],
  ProjectEnvironmentPrepared: ['output', 'details'],
  ProjectEnvironmentFailed: ['output', 'details'],
  ShellOutputRecorded: ['output'],
}

/** The categories to which the content of this type of event belongs; `details` for types that `categories` does not list. */
export function categoriesOf(type: string): readonly ContentCategory[] {
  return categories[type] ?? ['details']
}

/** The withheld category to which events of this type belong; `undefined` if there is none. */
export function withheldAs(type: string, withheld: readonly ContentCategory[]): ContentCategory | undefined {
  return categoriesOf(type).find((category) => withheld.includes(category))
}
