/** The proposed title and description of a pull request, made from the task, the whole diff and the chat. */

export interface ProposedFile {
  readonly fileName: string
  readonly previousName?: string | undefined
  readonly status: 'added' | 'untracked' | 'modified' | 'deleted' | 'renamed'
  readonly additions: number
  readonly deletions: number
}

export interface ProposalOf {
  readonly title: string
  readonly description: string
  /** Later messages by people, oldest first. */
  readonly asked: readonly string[]
  /** The agent's last message. */
  readonly answered: string | null
  readonly files: readonly ProposedFile[]
  /** Of all files, including those that `files` leaves out. */
  readonly totals: { readonly files: number; readonly additions: number; readonly deletions: number }
}

export interface Proposal {
  readonly title: string
  readonly body: string
}

const most = { title: 250, description: 10_000, answer: 10_000, asked: 20, askedLength: 200, files: 50 }

/** Proposes a title and a body in Markdown, well below the code host's limits. It depends on the task alone. */
export function proposePullRequest(task: ProposalOf): Proposal {
  const description = withoutFirstLine(task.description.trim(), task.title)
  const sections = [
    cut(description, most.description),
    section('What was done', cut((task.answered ?? '').trim(), most.answer)),
    section('Asked for on the way', askedLines(task.asked)),
    section('Changes', changeLines(task)),
  ]
  return { title: cut(oneLine(task.title), most.title), body: sections.filter(Boolean).join('\n\n') }
}

function section(heading: string, text: string): string {
  return text === '' ? '' : `## ${heading}\n\n${text}`
}

/** The description without its first line if that is the title. */
function withoutFirstLine(description: string, title: string): string {
  const [first = '', ...rest] = description.split('\n')
  return first.trim() === title.trim() ? rest.join('\n').trim() : description
}

function askedLines(asked: readonly string[]): string {
  const latest = asked.map(oneLine).filter(Boolean).slice(-most.asked)
  return latest.map((message) => `- ${cut(message, most.askedLength)}`).join('\n')
}

function changeLines({ files, totals }: ProposalOf): string {
  if (totals.files === 0) return ''
  const sum = `${counted(totals.files)}, +${totals.additions} −${totals.deletions}`
  const lines = files.slice(0, most.files).map(fileLine)
  const others = totals.files - lines.length
  return [sum, '', ...lines, ...(others > 0 ? [`- and ${others} more`] : [])].join('\n')
}

function fileLine({ fileName, previousName, status, additions, deletions }: ProposedFile): string {
  const counts = `(+${additions} −${deletions})`
  switch (status) {
    case 'added':
    case 'untracked':
      return `- ${code(fileName)} is new ${counts}`
    case 'deleted':
      return `- ${code(fileName)} is gone ${counts}`
    case 'renamed':
      return `- ${code(previousName ?? '')} is now ${code(fileName)} ${counts}`
    case 'modified':
      return `- ${code(fileName)} ${counts}`
  }
}

function counted(files: number): string {
  return files === 1 ? '1 file' : `${files} files`
}

/** Any text as inline code in Markdown: nothing in it becomes a mention, a link or a tag. */
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

/** Cuts by code points, so that no character is split. */
function cut(text: string, length: number): string {
  const characters = [...text]
  return characters.length <= length
    ? text
    : `${characters
        .slice(0, length - 1)
        .join('')
        .trimEnd()}…`
}
