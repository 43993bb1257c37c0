/** What of an issue asks for a task: its label, or the App's name in its words. */
import { isMarked, visibleText } from '../task/visibleText.ts'
import { isSince, type IssueAsk } from './issues.ts'
import type { IssueRule } from './issueRule.ts'

interface Account {
  readonly id: string
  readonly login: string
  readonly isBot: boolean
}

/** Something that was written; `author` is `null` where the account is gone. Times are ISO 8601. */
interface Words {
  readonly body: string
  readonly author: Account | null
  /** Written by a token of our App. */
  readonly isByOurApp: boolean
}

/** An issue as the code host shows it, as far as this reads it. */
export interface AskingIssue extends Words {
  readonly createdAt: string
  readonly editedAt: string | null
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

export interface AskingComment extends Words {
  readonly id: string
  readonly writtenAt: string
}

export interface Asking {
  readonly issue: AskingIssue
  readonly labelEvents: readonly LabelEvent[]
  readonly comments: readonly AskingComment[]
}

/** People who mention the App on one issue, the latest: each costs a question about what they may do. */
const mostAsks = 10

/**
 * Who asks for the issue since the rule holds: by the label, then by mentions, oldest first. Nothing of bots and of what we wrote ourselves. `slug` is the App's name; `null`
 * where there is none.
 */
export function asksOf(
  { issue, labelEvents, comments }: Asking,
  { rule, since, slug }: { rule: IssueRule; since: string | null; slug: string | null },
): readonly IssueAsk[] {
  const mentions = rule.mentions && slug !== null
  const asks = [
    ...labelAsk(issue, labelEvents, rule.label),
    ...(mentions && isMentionedIn(issue.body, slug)
      ? ask('mention', issue, issue.editedAt ?? issue.createdAt, null)
      : []),
    ...(mentions
      ? comments
          .filter(({ body }) => isMentionedIn(body, slug))
          .flatMap((one) => ask('mention', one, one.writtenAt, one.id))
      : []),
  ]
  const inOrder = asks
    .filter((one) => isSince(one, since))
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  // The latest of each: whoever writes often pushes nobody out.
  const byWhom = new Map(inOrder.map((one) => [`${one.trigger} ${one.author.id}`, one]))
  const latest = inOrder.filter((one) => byWhom.get(`${one.trigger} ${one.author.id}`) === one)
  const [labels, others] = [true, false].map((isLabel) =>
    latest.filter(({ trigger }) => (trigger === 'label') === isLabel),
  )
  return [...(labels ?? []), ...(others ?? []).slice(-mostAsks)]
}

/** Whoever set the label that the issue has: not whoever wrote the issue. */
function labelAsk(
  { labels }: AskingIssue,
  events: readonly LabelEvent[],
  label: string,
): readonly IssueAsk[] {
  if (!labels.some((one) => isSameLabel(one, label))) return []
  const last = events.findLast((one) => isSameLabel(one.label, label))
  if (!last?.isSet) return []
  return ask('label', { body: '', author: last.actor, isByOurApp: last.isByOurApp }, last.at, null)
}

/** Labels are the same in any letters. */
export const isSameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

function ask(
  trigger: IssueAsk['trigger'],
  { body, author, isByOurApp }: Words,
  at: string,
  commentId: string | null,
): readonly IssueAsk[] {
  if (author === null || author.isBot || isByOurApp || isMarked(body)) return []
  return [{ trigger, at, author: { id: author.id, login: author.login }, commentId }]
}

/** Whether the App is named, as a word of its own, outside of code and quotations. */
export function isMentionedIn(body: string, slug: string): boolean {
  // Most texts name nobody.
  if (!body.toLowerCase().includes(`@${slug.toLowerCase()}`)) return false
  const name = slug.replaceAll(/[^A-Za-z0-9-]/g, '\\$&')
  const named = new RegExp(`(?<![\\w@/.\`-])@${name}(?:\\[bot\\])?(?![\\w-]|/|\\.\\w)`, 'i')
  // What is hidden may end a block, or begin one.
  return [body, visibleText(body)].every((text) => named.test(withoutQuotations(text)))
}

/** Without quotations, fenced and indented blocks, and code in lines. A fence that is never closed takes the rest. */
function withoutQuotations(text: string): string {
  const lines: string[] = []
  let fence: string | null = null
  for (const line of text.split('\n')) {
    const [, mark = ''] = /^\s{0,3}(?:>\s?)*(`{3,}|~{3,})/.exec(line) ?? []
    if (fence === null && mark !== '') fence = mark
    else if (fence !== null) {
      const isEnd = mark.startsWith(fence) && line.trim() === mark
      if (isEnd) fence = null
    } else if (!/^(?: {4}|\t|\s{0,3}>)/.test(line)) lines.push(line)
  }
  return lines.join('\n').replaceAll(/(?<!`)(`+)(?!`)[^]{0,2000}?(?<!`)\1(?!`)/g, ' ')
}
