/**
 * The built-in scripted model. It answers when there is no key for a real model, so that people can try the whole product. It looks around in the
 * repository and writes a small note to `FLIGHTDECK.md`. It tells people that it is not a real model.
 */
import { createHash } from 'node:crypto'
import { tokensIn } from '../modelApi.ts'
import { readConversation } from './wire.ts'
import type { Answer, AnswerBlock, Conversation, MessagesRequest, Step } from './wire.ts'

/** The file that the scripted model writes, in the repository's root. */
export const noteFile = 'FLIGHTDECK.md'

/** The model name with which an agent is started to use the scripted model. */
export const scriptedModel = 'flightdeck-scripted'

interface Call {
  readonly name: 'Bash' | 'Read' | 'Write' | 'Edit'
  readonly input: Readonly<Record<string, string>>
}
interface Move {
  readonly say: string
  readonly calls: readonly Call[]
}

const shell = (command: string, description: string): Call => ({
  name: 'Bash',
  input: { command, description },
})
const list = shell('pwd && ls -Ap', 'List the files at the top')
const status = shell('git status --short --branch', 'See what has changed')
const count = shell('git ls-files | wc -l', 'Count the tracked files')
// `--intent-to-add` makes git show new files in the diff.
const check = shell(`git add --intent-to-add ${noteFile} && git diff --stat`, 'Check what has changed')

/** The answer to a request. Equal requests always get the same answer. */
export function scriptedAnswer(request: MessagesRequest): Answer {
  const key = createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 24)
  const { say, calls } = nextMove(request)
  const blocks: AnswerBlock[] = [
    ...(say === '' ? [] : [{ type: 'text', text: say } as const]),
    ...calls.map((call, i): AnswerBlock => ({ type: 'tool_use', id: `toolu_${key}${i}`, ...call })),
  ]
  return {
    id: `msg_${key}`,
    model: request.model,
    blocks,
    stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
    inputTokens: tokensIn([request.system, request.messages, request.tools]),
    outputTokens: tokensIn(blocks),
  }
}

function nextMove(request: MessagesRequest): Move {
  const conversation = readConversation(request)
  const offered = new Set(request.tools?.map((tool) => tool.name))
  if (['Bash', 'Read', 'Write', 'Edit'].every((tool) => offered.has(tool))) return workOn(conversation)
  // For its own requests (a title, a check of the key), the CLI expects only a few words.
  return { say: conversation.message.split(/\s+/).slice(0, 6).join(' ') || 'Ready.', calls: [] }
}

function workOn(conversation: Conversation): Move {
  const { steps } = conversation
  const looking = [status, list, count].find((call) => stepOf(steps, call) === undefined)
  if (looking !== undefined)
    return { say: steps.length === 0 ? greeting(conversation) : '', calls: [looking] }

  const place = placeIn(stepOf(steps, list)?.result ?? '')
  const reads = place.worthReading.map((name): Call => ({
    name: 'Read',
    input: { file_path: `${place.folder}/${name}` },
  }))
  const unread = reads.filter((read) => stepOf(steps, read) === undefined)
  if (unread.length > 0) return { say: 'Let me read what stands at the top.', calls: unread }

  const wrote = steps.find((step) => step.name === 'Write' || step.name === 'Edit')
  if (wrote === undefined) {
    return { say: `I will leave a note in \`${noteFile}\`.`, calls: [noteCall(conversation, place)] }
  }
  if (wrote.failed) return { say: `I could not write \`${noteFile}\`: ${firstLine(wrote.result)}`, calls: [] }

  const checked = stepOf(steps, check)
  if (checked === undefined) return { say: 'Let me check what has changed.', calls: [check] }
  return { say: farewell(checked), calls: [] }
}

function greeting({ messageNumber, images }: Conversation): string {
  const seen =
    images > 0 ? ` I cannot see the ${images === 1 ? 'image' : `${images} images`} that came with it.` : ''
  if (messageNumber > 1)
    return `This is still the built-in scripted model.${seen} I will add your message to my note.`
  return [
    "This is Flightdeck's built-in scripted model, not a real one: no `ANTHROPIC_API_KEY` is configured.",
    `I will not do your task, but I will look around the repository and make one small, honest change.${seen}`,
  ].join(' ')
}

function farewell(checked: Step): string {
  const changes = checked.failed
    ? 'I could not ask git what has changed.'
    : `\`\`\`\n${checked.result.trim()}\n\`\`\``
  return [
    `I wrote your message and what I saw into \`${noteFile}\`. Nothing else was changed by me.`,
    changes,
    'To have a real model do the task, set `ANTHROPIC_API_KEY` where Flightdeck runs and start it again.',
  ].join('\n\n')
}

interface Place {
  readonly folder: string
  /** The paths of the readme (or, without one, of the first file) and of our own note if it exists. */
  readonly worthReading: readonly string[]
  readonly readme: string | undefined
}

function placeIn(listing: string): Place {
  const [folder = '.', ...names] = listing.trim().split('\n')
  const files = names.filter((name) => !name.endsWith('/') && name !== noteFile)
  const readme = files.find((name) => /^readme(?:\.(?:md|markdown|txt|rst))?$/i.test(name))
  const first =
    readme ??
    files.find((name) => /^[^.].*\.(?:md|txt|json|toml|ya?ml|[cm]?[jt]sx?|py|rs|go|java|rb|c|h)$/.test(name))
  return {
    folder,
    readme: first,
    worthReading: [...(first === undefined ? [] : [first]), ...(names.includes(noteFile) ? [noteFile] : [])],
  }
}

function noteCall(conversation: Conversation, place: Place): Call {
  const file_path = `${place.folder}/${noteFile}`
  const section = sectionFor(conversation, place)
  const note = stepOf(conversation.steps, { name: 'Read', input: { file_path } })
  const present = note === undefined || note.failed ? '' : withoutLineNumbers(note.result).trimEnd()
  if (present === '') {
    const opening = '# Flightdeck\n\nNotes of the built-in scripted model, which is not a real one.\n\n'
    return { name: 'Write', input: { file_path, content: `${opening}${section}\n` } }
  }
  const tail = uniqueTail(present)
  return { name: 'Edit', input: { file_path, old_string: tail, new_string: `${tail}\n\n${section}` } }
}

function sectionFor(conversation: Conversation, place: Place): string {
  const { message, messageNumber, steps } = conversation
  const quoted = message
    .slice(0, 2000)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
  const counted = stepOf(steps, count)
  const changed = stepOf(steps, status)
  const read =
    place.readme === undefined ? undefined : steps.find((step) => step.name === 'Read' && !step.failed)
  const title = read === undefined ? undefined : /^#+\s+(.+)$/m.exec(withoutLineNumbers(read.result))?.[1]
  const saw = [
    counted === undefined || counted.failed ? undefined : `- tracked files: ${counted.result.trim()}`,
    changed === undefined || changed.failed
      ? undefined
      : `- changed files before this note: ${changesIn(changed.result)}`,
    place.readme === undefined
      ? '- no readme'
      : `- \`${place.readme}\`${title === undefined ? '' : `: ${title.trim()}`}`,
  ].filter((line) => line !== undefined)
  return [`## Message ${messageNumber}`, '', ...quoted, '', 'What I saw:', '', ...saw].join('\n')
}

function changesIn(gitStatus: string): number {
  return gitStatus.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('##')).length
}

/** The shortest end of a text, in whole lines, that occurs only once in the text. */
function uniqueTail(text: string): string {
  const lines = text.split('\n')
  for (let from = lines.length - 1; from > 0; from -= 1) {
    const tail = lines.slice(from).join('\n')
    if (tail.trim() !== '' && text.indexOf(tail) === text.length - tail.length) return tail
  }
  return text
}

/** The content of a file as the Read tool prints it, without the line numbers and the text around the lines. */
function withoutLineNumbers(shown: string): string {
  return shown
    .split('\n')
    .map((line) => /^\s*\d+(?:\t|→)(.*)$/.exec(line)?.[1])
    .filter((line) => line !== undefined)
    .join('\n')
}

function stepOf(steps: readonly Step[], call: Call): Step | undefined {
  const same = (step: Step) =>
    call.name === 'Bash'
      ? step.input['command'] === call.input['command']
      : step.input['file_path'] === call.input['file_path']
  return steps.find((step) => step.name === call.name && same(step))
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
