/** Proposes title and description of a pull request, from the task and the chat, and appends the repository's template. */
import { withoutMentions } from '../visibleText.ts'
import { issueTitle } from './commitMessage.ts'

export interface ProposalOf {
  readonly title: string
  readonly description: string
  /** People's messages after the first message, oldest first. */
  readonly asked: readonly string[]
  readonly answered: string | null
  /** The number of the issue from which the task was created; `null` when there is none. */
  readonly issue: number | null
}

export interface Proposal {
  readonly title: string
  readonly body: string
}

const most = { title: 250, description: 10_000, answer: 10_000, asked: 20, askedLength: 200 }

/** Proposes a title, and a body in Markdown. Both are shorter than the code host allows. */
export function proposePullRequest(task: ProposalOf): Proposal {
  const description = withoutFirstLine(task.description.trim(), task.title)
  const sections = [
    cut(description, most.description),
    section('What was done', withoutMentions(cut((task.answered ?? '').trim(), most.answer))),
    section('Asked for on the way', withoutMentions(askedLines(task.asked))),
  ]
  // After several turns, the agent's last message describes only the last turn, so the title must not be made from it.
  const said = task.asked.length === 0 ? task.answered : null
  const title =
    task.issue === null ? task.title : issueTitle({ number: task.issue, title: oneLine(task.title), said })
  return { title: cut(oneLine(title), most.title), body: sections.filter(Boolean).join('\n\n') }
}

function section(heading: string, text: string): string {
  return text === '' ? '' : `## ${heading}\n\n${text}`
}

/** The description without its first line if that line is the title. */
function withoutFirstLine(description: string, title: string): string {
  const [first = '', ...rest] = description.split('\n')
  return first.trim() === title.trim() ? rest.join('\n').trim() : description
}

function askedLines(asked: readonly string[]): string {
  const latest = asked.map(oneLine).filter(Boolean).slice(-most.asked)
  return latest.map((message) => `- ${cut(message, most.askedLength)}`).join('\n')
}

/** The text as inline code in Markdown, in which nothing can be a mention, a link or a tag. */
export function code(text: string): string {
  const shown = text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `\`${shown}\`` : `${fence} ${shown} ${fence}`
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** Cuts the text to `length` characters. Counts code points, so that no character is split. */
function cut(text: string, length: number): string {
  const characters = [...text]
  if (characters.length <= length) return text
  const beginning = characters.slice(0, length - 1).join('')
  return `${beginning.trimEnd()}…`
}

/** The HTML comment after which the repository's template begins in a body. */
const mark = '<!-- Template of the repository -->'

/** The maximum length of a body on GitHub, in characters. */
const longestBody = 65_536

/** Our text with the template below it. The template is left out if the body would be too long for GitHub. */
export function withTemplate(ours: string, template: string | null): string {
  if (template === null) return ours
  const above = ours.replaceAll(mark, '').trimEnd()
  const body = `${above}\n\n---\n${mark}\n\n${template.replaceAll(mark, '')}`
  return body.length > longestBody ? ours : body.trimStart()
}

/** The repository's template in a body, as people filled it in; `null` when the body has no `mark`. */
export function belowTemplateMark(body: string): string | null {
  const at = body.indexOf(mark)
  return at === -1 ? null : body.slice(at + mark.length).trimStart()
}
