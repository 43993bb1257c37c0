/** An answer that is being written. It is stored as a text between visits, and turned into the answer that is sent. Pure. */
import type { FormField } from '#domain/task/questionEvents.ts'
import { tryOr } from '../../../state/tryOr.ts'
import { isRecord } from '../readUncached.ts'
import { texts } from './texts.ts'

export interface PlanComment {
  readonly quote: string
  readonly text: string
}

export interface AnswerDraft {
  /** The values of the chosen options. */
  readonly choices: readonly string[]
  readonly text: string
  /** The values of a form, by field. */
  readonly values: Readonly<Record<string, string>>
  readonly comments: readonly PlanComment[]
  /** The comment that is being written. Its box is below the passage of the plan with the index `block`. */
  readonly open: (PlanComment & { readonly block: number }) | null
}

export const emptyDraft: AnswerDraft = { choices: [], text: '', values: {}, comments: [], open: null }

/** The draft in a stored text; an empty draft when the text has another form. */
export function readDraft(stored: string): AnswerDraft {
  const value = stored === '' ? null : tryOr<unknown>(() => JSON.parse(stored), null)
  if (!isRecord(value)) return emptyDraft
  const { choices, text, values, comments, open } = value
  return {
    choices: Array.isArray(choices) ? choices.filter(isText) : [],
    text: isText(text) ? text : '',
    values: isRecord(values)
      ? Object.fromEntries(
          Object.entries(values).flatMap(([name, one]) => (isText(one) ? [[name, one]] : [])),
        )
      : {},
    comments: Array.isArray(comments) ? comments.filter(isComment) : [],
    open:
      isComment(open) && isRecord(open) && typeof open['block'] === 'number'
        ? { ...open, block: open['block'] }
        : null,
  }
}

/** The text to store for a draft; empty for an empty draft, which is then not stored. */
export function writeDraft(draft: AnswerDraft): string {
  const written = JSON.stringify(draft)
  return written === JSON.stringify(emptyDraft) ? '' : written
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isComment(value: unknown): value is PlanComment {
  return isRecord(value) && isText(value['quote']) && isText(value['text'])
}

/** How many characters of a passage are quoted. */
const quoteLength = 1_000

/** The comments on a plan as Markdown, each below the passage that it is about, followed by the text about the whole plan. */
export function sendBackText({ comments, text }: Pick<AnswerDraft, 'comments' | 'text'>): string {
  const parts = comments.map((comment) => `${quoted(comment.quote)}\n\n${comment.text.trim()}`)
  return [...parts, ...(text.trim() === '' ? [] : [text.trim()])].join('\n\n')
}

function quoted(passage: string): string {
  const all = [...passage.trim()]
  const cut = all.length > quoteLength ? `${all.slice(0, quoteLength).join('')}…` : all.join('')
  return cut
    .split(/\r?\n/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}

/** The values of a form as they are sent. A box that nobody ticked is `false`, and an empty field is left out. */
export function valuesOf(
  fields: readonly FormField[],
  values: AnswerDraft['values'],
): readonly { readonly name: string; readonly value: string }[] {
  return fields.flatMap(({ name, type }) => {
    const value = values[name] ?? (type === 'boolean' ? 'false' : '')
    return value.trim() === '' ? [] : [{ name, value }]
  })
}

/** The reason why the value of a field cannot be sent; `undefined` when it can. */
export function faultOf({ label, type, required }: FormField, value: string): string | undefined {
  if (value.trim() === '') return required && type !== 'boolean' ? texts.form.fillIn(label) : undefined
  if (type !== 'number' && type !== 'integer') return undefined
  const number = Number(value)
  const fits = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)
  return fits ? undefined : texts.form.wrong(label, type === 'integer')
}

/** Everything that was written in a draft, for a person whose answer came too late. */
export function writtenIn({ text, values, comments, open }: AnswerDraft): string {
  const all = open === null ? comments : [...comments, open]
  return [sendBackText({ comments: all, text }), ...Object.values(values)]
    .filter((part) => part.trim() !== '')
    .join('\n\n')
}
