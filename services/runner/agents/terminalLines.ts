/** Converts an agent's events to readable terminal lines, coloured with ANSI codes. */
import { firstLine } from './shorten.ts'
import type { AgentEvent, ToolFinished, ToolStarted } from './port.ts'

const escape = '\u001B'
const bold = paint(1)
const dim = paint(2)
const red = paint(31)
const green = paint(32)
const yellow = paint(33)
const cyan = paint(36)

function paint(code: number): (text: string) => string {
  return (text) => `${escape}[${code}m${text}${escape}[0m`
}

/** Escape sequences that do not set a colour, such as those that move the cursor or set titles: a log must not hold them. */
const sequences = new RegExp(
  `${escape}(?:\\[[0-?]*[ -/]*[@-ln-~]|\\][^\\u0007${escape}]*(?:\\u0007|${escape}\\\\)|[()#%][0-9A-Za-z]|[=>78cDEHMNOZ])`,
  'g',
)

/** The sentence for a person when the agent summarized the conversation without being asked. */
export const compacted = 'The conversation had grown long and was summarized.'

/**
 * Makes a function that converts events to terminal text, and that remembers which tools are running. Each result is empty or ends with a line break,
 * except for the mark after a command's output.
 */
export function createTerminal(): (event: AgentEvent) => string {
  const tools = new Map<string, ToolStarted>()
  let model: string | undefined
  /** The id of the command whose line was shown last. Its output can then follow without naming the command again. */
  let lastCommand = ''

  const lineOf = (event: AgentEvent): string => {
    switch (event.type) {
      case 'session': {
        const changed = event.model !== model && (event.model !== '' || model === undefined)
        model = event.model
        return changed ? dim(`Session opened${event.model === '' ? '' : ` with ${event.model}`}`) : ''
      }
      case 'tool_started':
        tools.set(event.toolId, event)
        lastCommand = event.kind === 'run' ? event.toolId : ''
        return indentedForSubAgent(event, startLine(event))
      case 'tool_finished': {
        const started = tools.get(event.toolId)
        tools.delete(event.toolId)
        return started === undefined
          ? ''
          : indentedForSubAgent(started, finishLines(started, event, lastCommand))
      }
      case 'notice':
        return yellow(cleaned(event.text))
      case 'compacted':
        return yellow(compacted)
      case 'question':
        return yellow(event.asked.map(({ title }) => `? ${firstLine(title)}`).join('\n'))
      case 'unasked':
        return yellow('The agent works on its own: nobody asked it for what follows.')
      case 'error':
        return red(cleaned(event.message))
      case 'end':
        return event.ok ? dim(`Finished in ${(event.durationMs / 1000).toFixed(1)} s`) : ''
      case 'question_withdrawn':
      case 'write':
      // The agent's texts are shown in the chat, not in the terminal.
      case 'text':
      case 'text_delta':
      case 'text_restarted':
      case 'taken_up':
      case 'thinking_delta':
      case 'thinking':
      case 'subagent_words':
      case 'usage':
      case 'context':
      case 'mcp_servers':
      case 'models':
      case 'unknown':
        return ''
    }
  }
  return (event) => {
    const ended = event.type === 'tool_finished' ? endOf(tools.get(event.toolId), event) : ''
    const lines = lineOf(event)
    return lines === '' ? ended : `${lines}\n${ended}`
  }
}

/** Marks where a command's output ends. Commands of a sub-agent get no mark, as they are part of its own tool call. */
function endOf(started: ToolStarted | undefined, { ok, exitCode }: ToolFinished): string {
  if (started?.kind !== 'run' || started.parentToolId !== null) return ''
  return commandEnd(exitCode ?? (ok ? 0 : null))
}

/** The invisible sequence (OSC 133 D) by which shells tell a terminal that a command has ended, and with which exit code. */
export function commandEnd(exitCode: number | null): string {
  return `${escape}]133;D${exitCode === null ? '' : `;${exitCode}`}\u0007`
}

function startLine(tool: ToolStarted): string {
  const target = cleaned(tool.target)
  switch (tool.kind) {
    case 'run':
      return bold(`$ ${target.replaceAll('\n', '\n> ')}`)
    case 'read':
      return `${cyan('●')} Read ${target}`
    case 'edit':
      // An edit is shown when it has finished, with its changes.
      return ''
    case 'search':
      return `${cyan('⌕')} ${tool.name} ${target}`
    case 'fetch':
      return `${cyan('↓')} ${tool.name} ${target}`
    case 'todo':
      return `${cyan('☐')} ${target === '' ? 'Updated its to-do list' : target}`
    case 'other':
      return `${cyan('●')} ${`${tool.name} ${target}`.trim()}`
  }
}

function finishLines(tool: ToolStarted, finished: ToolFinished, lastCommand: string): string {
  const target = cleaned(tool.target)
  if (tool.kind === 'run') {
    const again = lastCommand === tool.toolId ? [] : [dim(`$ ${target.split('\n', 1)[0] ?? ''}`)]
    const output = cleaned(finished.output.replace(/^Exit code \d+\n?/, ''))
    const failed = finished.ok ? [] : [red(finished.summary)]
    return [...again, ...(output === '' ? [] : [output]), ...failed].join('\n')
  }
  if (!finished.ok) return red(`✗ ${tool.name} ${target}: ${cleaned(finished.summary)}`)
  if (tool.kind !== 'edit') return ''
  const counts =
    finished.additions === null
      ? ''
      : `${count(finished.additions, '+', green)}${count(finished.deletions ?? 0, '−', red)}`
  const isWhole = tool.name === 'Write' && (finished.deletions ?? 0) === 0
  return `${green('✎')} ${isWhole ? 'Wrote' : 'Edited'} ${target}${counts}`
}

/** The number `lines` after a space and its sign, coloured by `painted`; empty when the number is 0. */
function count(lines: number, sign: string, painted: (text: string) => string): string {
  return lines === 0 ? '' : ` ${painted(`${sign}${lines}`)}`
}

function indentedForSubAgent(tool: ToolStarted, lines: string): string {
  if (tool.parentToolId === null || lines === '') return lines
  return lines
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}

function cleaned(text: string): string {
  return text.replaceAll(sequences, '').replaceAll(/\r+\n/g, '\n').replace(/\n+$/, '')
}
