/** What of an issue asks for a task: its label, or the App's name in its words. */
import { isMarked, visibleText } from '../task/visibleText.ts'
import { isSince, type IssueAsk, type RuleSince } from './issues.ts'
import type { IssueRule } from './issueRule.ts'
import { ownWords } from './ownWords.ts'

interface Account {
  readonly id: string
  readonly login: string
  readonly isBot: boolean
}

/** The last change of a text; `by` is `null` where the account is gone. */
interface Edit {
  readonly at: string
  readonly by: Account | null
}

/** Something that was written; `author` is `null` where the account is gone. Times are ISO 8601. */
interface Words {
  readonly body: string
  readonly author: Account | null
  /** Written by a token of our App. */
  readonly isByOurApp: boolean
}

/** The same, with whether it was changed afterwards: `null` where it never was. */
interface EditableWords extends Words {
  readonly edit: Edit | null
}

/** An issue as the code host shows it, as far as this reads it. */
export interface AskingIssue extends EditableWords {
  readonly createdAt: string
  readonly labels: readonly string[]
}

/** Something that happened to its labels, oldest first. */
export interface LabelEvent {
  readonly label: string
  readonly isSet: boolean
  readonly at: string
  readonly actor: Account | null
  readonly isByOurApp: boolean
}

/** As it is in a list, which does not say who changed it. */
export interface ListedComment extends Words {
  readonly id: string
  readonly writtenAt: string
}

export type AskingComment = ListedComment & EditableWords

export interface Asking {
  readonly issue: AskingIssue
  readonly labelEvents: readonly LabelEvent[]
  readonly comments: readonly AskingComment[]
}

/** In characters: so far a text is read. */
const mostOfText = 10_000

/** Somebody's comments in which the App's name stands, perhaps in code or in a quotation: the latest first. */
export interface Naming<Comment> {
  /** The account's id. */
  readonly author: string
  readonly comments: readonly Comment[]
}

/** People in whose comments the App's name stands: who wrote last first. */
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

const beginningOf = (body: string): string => body.slice(0, mostOfText)

const holdsName = (body: string, slug: string): boolean =>
  beginningOf(body).toLowerCase().includes(`@${slug.toLowerCase()}`)

/**
 * Who asks for the issue since the rule holds: by the label, then by mentions, oldest first. Nothing of bots, of what we wrote ourselves, and
 * of words that somebody else changed. `slug` is the App's name; `null` where there is none.
 */
export function asksOf(
  { issue, labelEvents, comments }: Asking,
  { rule, since, slug }: { rule: IssueRule; since: RuleSince; slug: string | null },
): readonly IssueAsk[] {
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

/** What was changed last by anybody but its author is not the author's word. */
function mention(
  words: EditableWords,
  writtenAt: string,
  commentId: string | null,
  slug: string | null,
): readonly IssueAsk[] {
  const { body, author, edit } = words
  if (slug === null || !isMentionedIn(body, slug)) return []
  if (edit !== null && (edit.by === null || edit.by.isBot || edit.by.id !== author?.id)) return []
  return ask('mention', words, edit?.at ?? writtenAt, commentId)
}

/** Whoever set the label that the issue has: not whoever wrote the issue. */
function labelAsk(
  { labels }: AskingIssue,
  events: readonly LabelEvent[],
  label: string,
): readonly IssueAsk[] {
  if (!labels.some((one) => isSameLabel(one, label))) return []
  const last = lastOf(label, events)
  if (!last?.isSet) return []
  return ask('label', { body: '', author: last.actor, isByOurApp: last.isByOurApp }, last.at, null)
}

const lastOf = (label: string, events: readonly LabelEvent[]): LabelEvent | undefined =>
  events.findLast((one) => isSameLabel(one.label, label))

/** Whether so much happened that who set the label is not among it: the list has the latest, and `isCut` says that not all. */
export function isUnsure(
  { issue, labelEvents }: Pick<Asking, 'issue' | 'labelEvents'>,
  isCut: boolean,
  label: string,
): boolean {
  const isLabelled = issue.labels.some((one) => isSameLabel(one, label))
  return isCut && isLabelled && lastOf(label, labelEvents) === undefined
}

/** Whether a person wrote it, and not we. */
const mayCount = ({ body, author, isByOurApp }: Words): boolean =>
  author !== null && !author.isBot && !isByOurApp && !isMarked(body)

/** Labels are the same in any letters. */
export const isSameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

function ask(
  trigger: IssueAsk['trigger'],
  words: Words,
  at: string,
  commentId: string | null,
): readonly IssueAsk[] {
  const { author } = words
  if (author === null || !mayCount(words)) return []
  return [{ trigger, at, author: { id: author.id, login: author.login }, commentId }]
}

/** Whether the App is named in the beginning of a text, as a word of its own, outside of code and quotations. */
export function isMentionedIn(body: string, slug: string): boolean {
  // Most texts name nobody.
  if (!holdsName(body, slug)) return false
  const name = slug.replaceAll(/[^A-Za-z0-9-]/g, '\\$&')
  const named = new RegExp(`(?<![\\w@/.\`-])@${name}(?:\\[bot\\])?(?![\\w-]|/|\\.\\w)`, 'i')
  // What is hidden may end a block, or begin one.
  const read = beginningOf(body)
  return [read, visibleText(read)].every((text) => named.test(ownWords(text)))
}
