/** Messages of the commits that carry a task's work: what a reader of `git log` finds years later. */
import { visibleText } from '../visibleText.ts'

/** Feedback that a turn worked on, with what a commit message says about it. */
export interface AnsweredFeedback {
  readonly kind: 'review' | 'comment' | 'check'
  /** Login of the author; `null` for checks and when it was erased. */
  readonly author: string | null
  /** Name of the check; `null` for other feedback. */
  readonly check: string | null
}

export interface FollowUp {
  /** Number of the pull request. */
  readonly number: number
  /** The agent's last message in the turn; `null` when there was none. */
  readonly said: string | null
  /** The person's request; `null` when the turn worked on feedback. */
  readonly asked: string | null
  readonly feedback: readonly AnsweredFeedback[]
}

/** The longest subject that git's own tools show in full. */
export const subjectLength = 72
const requestLength = 300
/** How many sentences of the agent's message are searched for the one that says what was done. */
const sentencesRead = 12

/** The message of the first commit: the title, repeated in full in the body when it is too long for a subject. */
export function firstCommitMessage(title: string): string {
  const whole = quiet(title)
  const subject = cutAtWord(whole, subjectLength)
  return subject === whole ? whole : `${subject}\n\n${whole}`
}

/** The message of a later commit: the subject says what was done, the body who or what asked for it. It mentions nobody. */
export function followUpMessage(work: FollowUp): string {
  const subject = summaryIn(work.said ?? '') ?? requestSubject(work)
  return [subject, ...requestsOf(work).filter((line) => line !== subject)].join('\n\n')
}

function requestSubject({ number, asked, feedback }: FollowUp): string {
  const [first] = feedback
  if (first?.kind === 'check')
    return cutAtWord(`Fix check ${quiet(first.check ?? '')} of #${number}`, subjectLength)
  if (first) return `Address ${first.kind} of #${number}`
  return cutAtWord(quiet((asked ?? '').trim().split('\n')[0] ?? ''), subjectLength) || `Continue #${number}`
}

function requestsOf({ number, asked, feedback }: FollowUp): readonly string[] {
  const lines = feedback.map(({ kind, author, check }) => {
    if (kind === 'check') return `Asked for by the failed check ${quiet(check ?? '')} of #${number}.`
    return `Asked for in a ${kind}${author === null ? '' : ` by ${quiet(author)}`} on #${number}.`
  })
  const request = cutAtWord(quiet(asked ?? ''), requestLength)
  return [...new Set(request === '' ? lines : [...lines, `Asked for: ${request}`])]
}

/** The sentence that says what was done, as an imperative of at most 72 characters; `undefined` when there is none. */
function summaryIn(answer: string): string | undefined {
  for (const sentence of sentencesOf(answer).slice(0, sentencesRead)) {
    const [first = '', ...rest] = sentence.replace(beginnings, '').split(' ')
    const verb = imperatives.get(first.toLowerCase())
    if (verb === undefined || rest.length === 0 || sentence.includes('@')) continue
    const subject = shortened([verb, ...rest].join(' '))
    if (subject !== undefined) return subject
  }
  return undefined
}

/** Sentences in plain words, without code blocks, headings, tables and quotations. */
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

/** As it is, or up to where a side clause begins; `undefined` where neither is short enough. */
function shortened(sentence: string): string | undefined {
  if (sentence.length <= subjectLength) return sentence
  const ends = [
    ...sentence.matchAll(/,? (?:so that|so|because|which|since|by|and|in order to|as) |, | \(| [–—-] /g),
  ]
  const fits = ends.map(({ index }) => index).filter((index) => index <= subjectLength)
  const end = fits.findLast((index) => sentence.slice(0, index).split(' ').length > 2)
  return end === undefined ? undefined : sentence.slice(0, end)
}

/** Verbs with which agents tell of their work: the imperative and its past. */
const verbs = `
  Add added, Adjust adjusted, Allow allowed, Avoid avoided, Change changed, Convert converted,
  Correct corrected, Cover covered, Create created, Delete deleted, Document documented, Enable enabled,
  Ensure ensured, Escape escaped, Export exported, Extend extended, Extract extracted, Fix fixed,
  Format formated, Guard guarded, Handle handled, Implement implemented, Improve improved,
  Include included, Increase increased, Introduce introduced, Limit limited, Link linked, Mark marked,
  Merge merged, Migrate migrated, Move moved, Normalize normalized, Pass passed, Prevent prevented,
  Protect protected, Raise raised, Reduce reduced, Refactor refactored, Reject rejected, Remove removed,
  Rename renamed, Reorder reordered, Replace replaced, Report reported, Resolve resolved,
  Restore restored, Return returned, Revert reverted, Round rounded, Simplify simplified, Sort sorted,
  Support supported, Switch switched, Test tested, Translate translated, Turn turned, Update updated,
  Upgrade upgraded, Use used, Validate validated, Drop dropped, Log logged, Skip skipped, Stop stopped,
  Trim trimmed, Wrap wrapped, Make made, Write wrote, Rewrite rewrote, Keep kept, Hide hid, Set set,
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

/** On one line, and without what a code host would take for a mention. */
const quiet = (text: string): string => oneLine(text).replaceAll(/@(?=\w)/g, '')

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()

/** At most so long, cut behind a word where there is one. */
function cutAtWord(text: string, length: number): string {
  const characters = [...text]
  if (characters.length <= length) return text
  const cut = characters.slice(0, length - 1).join('')
  const space = cut.lastIndexOf(' ')
  return `${(space > length / 2 ? cut.slice(0, space) : cut).trimEnd()}…`
}
