/** Finds the requests to turn an issue into a task: by the label that the project chose, or by mentions of the App. */
import { isMarked, visibleText } from '../task/visibleText.ts'
import { isSince, type IssueRequest, type RuleSince } from './issues.ts'
import type { IssueRule } from './issueRule.ts'
import { ownWords } from './ownWords.ts'

interface Account {
  readonly id: string
  readonly login: string
  readonly isBot: boolean
}

/** The last edit of a text; `by` is `null` when the account no longer exists. */
interface Edit {
  readonly at: string
  readonly by: Account | null
}

/** A text that somebody wrote; `author` is `null` when the account no longer exists. Times are ISO 8601. */
interface Words {
  readonly body: string
  readonly author: Account | null
  /** Whether the text was written with a token of our App. */
  readonly isByOurApp: boolean
}

/** A text with its last edit, which is `null` when the text was never edited. */
interface EditableWords extends Words {
  readonly edit: Edit | null
}

/** The fields of an issue at the code host that are searched for requests. */
export interface IssueFields extends EditableWords {
  readonly createdAt: string
  readonly labels: readonly string[]
}

/** A label was added to or removed from the issue. In lists of these events, the oldest comes first. */
export interface LabelEvent {
  readonly label: string
  readonly isSet: boolean
  readonly at: string
  readonly actor: Account | null
  readonly isByOurApp: boolean
}

/** A comment from a list of comments. Such a list does not say who edited a comment. */
export interface ListedComment extends Words {
  readonly id: string
  readonly writtenAt: string
}

export type EditableComment = ListedComment & EditableWords

export interface SearchedIssue {
  readonly issue: IssueFields
  readonly labelEvents: readonly LabelEvent[]
  readonly comments: readonly EditableComment[]
}

const maxOfText = 10_000

/** One person's comments that contain the App's name, latest first. The name may be in code or a quotation, where it does not count as a mention. */
export interface Naming<Comment> {
  readonly author: string
  readonly comments: readonly Comment[]
}

/** Groups, by person, the comments that contain the App's name. The person with the latest comment comes first. */
export function mayMention<Comment extends ListedComment>(
  comments: readonly Comment[],
  slug: string,
): readonly Naming<Comment>[] {
  const people = new Map<string, Comment[]>()
  for (const one of comments.toReversed()) {
    if (one.author === null || !mayCount(one) || !holdsName(one.body, slug)) continue
    const theirs = people.get(one.author.id)
    if (theirs) theirs.push(one)
    else people.set(one.author.id, [one])
  }
  return [...people].map(([author, theirs]) => ({ author, comments: theirs }))
}

const beginningOf = (body: string): string => body.slice(0, maxOfText)

const holdsName = (body: string, slug: string): boolean =>
  beginningOf(body).toLowerCase().includes(`@${slug.toLowerCase()}`)

/**
 * The requests made since the rule began to apply: first by label, then by mention. Each group has only the latest request of each person, oldest
 * first. Requests by bots or this server, and texts edited by others, do not count. `slug` is the App's name; `null` when there is no App.
 */
export function requestsOf(
  { issue, labelEvents, comments }: SearchedIssue,
  { rule, since, slug }: { rule: IssueRule; since: RuleSince; slug: string | null },
): readonly IssueRequest[] {
  const named = rule.mentions ? slug : null
  const asks = [
    ...labelAsk(issue, labelEvents, rule.label),
    ...mention(issue, issue.createdAt, null, named),
    ...comments.flatMap((one) => mention(one, one.writtenAt, one.id, named)),
  ]
  const inOrder = asks
    .filter((one) => isSince(one, since))
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  const byWhom = new Map(inOrder.map((one) => [`${one.trigger} ${one.author.id}`, one]))
  const latest = inOrder.filter((one) => byWhom.get(`${one.trigger} ${one.author.id}`) === one)
  const [labels, others] = [true, false].map((isLabel) =>
    latest.filter(({ trigger }) => (trigger === 'label') === isLabel),
  )
  return [...(labels ?? []), ...(others ?? [])]
}

/** The request that a text contains, if it mentions the App. A text that somebody other than its author edited last does not count. */
function mention(
  words: EditableWords,
  writtenAt: string,
  commentId: string | null,
  slug: string | null,
): readonly IssueRequest[] {
  const { body, author, edit } = words
  if (slug === null || !isMentionedIn(body, slug)) return []
  if (edit !== null && (edit.by === null || edit.by.isBot || edit.by.id !== author?.id)) return []
  return ask('mention', words, edit?.at ?? writtenAt, commentId)
}

/** The request by the person who set the label on the issue, if the issue still has the label. */
function labelAsk(
  { labels }: IssueFields,
  events: readonly LabelEvent[],
  label: string,
): readonly IssueRequest[] {
  if (!labels.some((one) => isSameLabel(one, label))) return []
  const last = lastOf(label, events)
  if (!last?.isSet) return []
  return ask('label', { body: '', author: last.actor, isByOurApp: last.isByOurApp }, last.at, null)
}

const lastOf = (label: string, events: readonly LabelEvent[]): LabelEvent | undefined =>
  events.findLast((one) => isSameLabel(one.label, label))

/** Whether the event that set the issue's label is missing from `labelEvents`. `isCut` says that `labelEvents` has only the latest events. */
export function isUnsure(
  { issue, labelEvents }: Pick<SearchedIssue, 'issue' | 'labelEvents'>,
  isCut: boolean,
  label: string,
): boolean {
  const isLabelled = issue.labels.some((one) => isSameLabel(one, label))
  return isCut && isLabelled && lastOf(label, labelEvents) === undefined
}

const mayCount = ({ body, author, isByOurApp }: Words): boolean =>
  author !== null && !author.isBot && !isByOurApp && !isMarked(body)

/** Whether two labels are the same; labels are case-insensitive. */
export const isSameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

function ask(
  trigger: IssueRequest['trigger'],
  words: Words,
  at: string,
  commentId: string | null,
): readonly IssueRequest[] {
  const { author } = words
  if (author === null || !mayCount(words)) return []
  return [{ trigger, at, author: { id: author.id, login: author.login }, commentId }]
}

/** Whether the beginning of the text mentions the App, as a separate word, outside of code and quotations. */
export function isMentionedIn(body: string, slug: string): boolean {
  // A cheap check first: most texts do not contain the name.
  if (!holdsName(body, slug)) return false
  const name = slug.replaceAll(/[^A-Za-z0-9-]/g, '\\$&')
  const named = new RegExp(`(?<![\\w@/.\`-])@${name}(?:\\[bot\\])?(?![\\w-]|/|\\.\\w)`, 'i')
  // Hidden text can begin or end a quotation or code block, so the App must be mentioned both with and without the hidden text.
  const read = beginningOf(body)
  return [read, visibleText(read)].every((text) => named.test(ownWords(text)))
}
