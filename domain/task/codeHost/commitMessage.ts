/** Messages of the commits that contain a task's work, written for people who read `git log` years later. */
import { visibleText } from '../visibleText.ts'

/** Feedback on which a turn worked, with the fields that a commit message mentions. */
export interface AnsweredFeedback {
  readonly kind: 'review' | 'comment' | 'check'
  /** The login of the author; `null` for checks, and when the login was erased. */
  readonly author: string | null
  /** The name of the check; `null` for other feedback. */
  readonly check: string | null
}

export interface FollowUp {
  readonly number: number
  /** The agent's last message in the turn; `null` when there was none. */
  readonly said: string | null
  /** The person's request; `null` when the turn worked on feedback. */
  readonly asked: string | null
  readonly feedback: readonly AnsweredFeedback[]
}

/** The maximum length of a commit's subject, in characters. */
export const subjectLength = 72
const requestLength = 300
const sentencesRead = 12

/** The message of the first commit: the task's title, which the body repeats if it is too long for a subject, and the task's issue. */
export function firstCommitMessage(title: string, issue: number | null): string {
  const whole = quiet(title)
  const subject = cutAtWord(whole, subjectLength)
  const parts = [
    subject,
    subject === whole ? '' : whole,
    issue === null ? '' : `Asked for in issue #${issue}.`,
  ]
  return parts.filter(Boolean).join('\n\n')
}

/**
 * The title for work on an issue: the first sentence of the agent's answer if it says what was done, else the issue's title if it is in the
 * imperative, else `Address #5: …`. An issue's title often describes the fault, and would then be wrong for the work.
 */
export function issueTitle({
  number,
  title,
  said,
}: {
  readonly number: number
  readonly title: string
  readonly said: string | null
}): string {
  const [first = ''] = title.toLowerCase().split(' ')
  const isImperative = imperatives.get(first)?.toLowerCase() === first
  return summaryIn(said ?? '', 1) ?? (isImperative ? title : `Address #${number}: ${title}`)
}

/** The message of a later commit: the subject says what was done, and the body who or what asked for it. No `@` in the message can notify anybody. */
export function followUpMessage(work: FollowUp): string {
  const asked = withoutPlea(work.asked ?? '')
  const subject = summaryIn(work.said ?? '') ?? requestSubject({ ...work, asked })
  return [subject, ...requestsOf({ ...work, asked }, subject)].join('\n\n')
}

/** Removes the polite beginning of a request: 'Could you please make it blue?' becomes 'Make it blue?'. */
function withoutPlea(asked: string): string {
  const [plea = ''] = /^\s*(?:(?:please|kindly|(?:can|could|would|will) you)[\s,]+)*/i.exec(asked) ?? []
  const rest = asked.slice(plea.length)
  return plea.trim() === '' ? rest : rest.slice(0, 1).toUpperCase() + rest.slice(1)
}

function requestSubject({ number, asked, feedback }: FollowUp): string {
  const [first] = feedback
  if (first?.kind === 'check')
    return cutAtWord(`Fix check ${quiet(first.check ?? '')} of #${number}`, subjectLength)
  if (first) return `Address ${first.kind} of #${number}`
  const [line = ''] = (asked ?? '').trim().split('\n')
  return cutAtWord(quiet(line).replace(/[.?!]+$/, ''), subjectLength) || `Continue #${number}`
}

function requestsOf({ number, asked, feedback }: FollowUp, subject: string): readonly string[] {
  const lines = feedback.map(({ kind, author, check }) => {
    if (kind === 'check') return `Asked for by the failed check ${quiet(check ?? '')} of #${number}.`
    return `Asked for in a ${kind}${author === null ? '' : ` by ${quiet(author)}`} on #${number}.`
  })
  const request = cutAtWord(quiet(asked ?? ''), requestLength)
  const isTold = request === '' || request.replace(/[.?!]+$/, '') === subject
  return [...new Set(isTold ? lines : [...lines, `Asked for: ${request}`])]
}

/** The agent's first sentence about its work, in the imperative and at most 72 characters long; `undefined` when there is no such sentence. */
function summaryIn(answer: string, sentences = sentencesRead): string | undefined {
  for (const sentence of sentencesOf(answer).slice(0, sentences)) {
    const [first = '', ...rest] = sentence.replace(beginnings, '').split(' ')
    const verb = imperatives.get(first.toLowerCase())
    if (verb === undefined || rest.length === 0 || sentence.includes('@')) continue
    const subject = shortened(inOneTense([verb, ...rest].join(' ')))
    if (subject !== undefined) return subject
  }
  return undefined
}

/** The sentences of the agent's answer, without code blocks, headings, tables and quotations. */
function sentencesOf(answer: string): readonly string[] {
  return visibleText(answer)
    .replaceAll(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))/gm, '\n')
    .split('\n')
    .filter((line) => !/^\s*(?:[#>|]|$)/.test(line))
    .flatMap((line) =>
      line
        .replace(/^\s*(?:[-*+]|\d{1,3}[.)])\s+/, '')
        .replaceAll(/\[([^\]\n]{1,200})\]\([^)\n]{0,500}\)/g, '$1')
        .replaceAll(/[*`]|(?<!\w)_|_(?!\w)/g, '')
        .split(/(?<=[.!?:;])\s+/),
    )
    .map((sentence) => oneLine(sentence).replace(/[.!:;]+$/, ''))
}

const beginnings =
  /^(?:(?:done|ok|okay|yes|sure)[,.!: –-]+)?(?:(?:i|we)(?:['’]ve| have)?\s+)?(?:(?:now|also|successfully|just)\s+)*/i

/** Turns the verbs after `and` and `then` into imperatives too. The sentence is cut there if an unknown verb in the past tense follows. */
const inOneTense = (sentence: string): string =>
  sentence
    .replaceAll(
      / (and|then) (\w+)\b/g,
      (_, joint: string, word: string) => ` ${joint} ${imperatives.get(word)?.toLowerCase() ?? word}`,
    )
    .replace(/,? (?:and|then) \w+ed (?:it|its|them|this|that|the|an?|all)\b.*/, '')

/** The sentence if it is short enough, or else the sentence cut where a side clause begins; `undefined` when it would still be too long. */
function shortened(sentence: string): string | undefined {
  if (sentence.length <= subjectLength) return sentence
  const ends = [
    ...sentence.matchAll(/,? (?:so that|so|because|which|since|by|and|in order to|as) |, | \(| [–—-] /g),
  ]
  const fits = ends.map(({ index }) => index).filter((index) => index <= subjectLength)
  const end = fits.findLast((index) => sentence.slice(0, index).split(' ').length > 2)
  return end === undefined ? undefined : sentence.slice(0, end)
}

/** Verbs with which agents say that they changed something: each with its imperative and its past tense. */
const verbs = `
  Add added, Adjust adjusted, Allow allowed, Apply applied, Avoid avoided, Bump bumped, Change changed, Clarify clarified, Convert converted,
  Correct corrected, Cover covered, Create created, Delete deleted, Document documented, Enable enabled,
  Ensure ensured, Escape escaped, Export exported, Extend extended, Extract extracted, Fix fixed,
  Format formatted, Guard guarded, Handle handled, Implement implemented, Improve improved,
  Include included, Inline inlined, Increase increased, Introduce introduced, Limit limited, Link linked, Mark marked,
  Merge merged, Migrate migrated, Move moved, Name named, Normalize normalized, Pass passed, Pin pinned, Prevent prevented,
  Protect protected, Pull pulled, Raise raised, Reduce reduced, Refactor refactored, Reject rejected, Remove removed,
  Rename renamed, Reorder reordered, Replace replaced, Report reported, Resolve resolved,
  Restore restored, Return returned, Revert reverted, Round rounded, Simplify simplified, Sort sorted,
  Shorten shortened, Support supported, Switch switched, Translate translated, Turn turned, Update updated,
  Upgrade upgraded, Use used, Validate validated, Drop dropped, Log logged, Stop stopped,
  Trim trimmed, Wrap wrapped, Make made, Write wrote, Rewrite rewrote, Hide hid, Set set,
  Split split`

const imperatives: ReadonlyMap<string, string> = new Map(
  verbs.split(',').flatMap((pair) => {
    const [imperative = '', past = ''] = pair.trim().split(' ')
    return [
      [imperative.toLowerCase(), imperative],
      [past, imperative],
    ]
  }),
)

/** The text on one line, with `@` removed where a code host would see a mention. */
const quiet = (text: string): string => oneLine(text).replaceAll(/@(?=\w)/g, '')

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()

/** Cuts the text to this length, at the end of a word if possible. */
function cutAtWord(text: string, length: number): string {
  const characters = [...text]
  if (characters.length <= length) return text
  const cut = characters.slice(0, length - 1).join('')
  const space = cut.lastIndexOf(' ')
  return `${(space > length / 2 ? cut.slice(0, space) : cut).trimEnd()}…`
}
