/** Reads the requests that `claude` makes over its control protocol during a turn, and writes the answers. */
import { permissionOptions, planOptions, type AgentMode, type Answer } from '#domain/task/questionEvents.ts'
import { bounded, fenced, kept, marked, most, permissionAsked, plain, planAsked } from '../questions.ts'
import { elicited, formAsked } from '../elicitation.ts'
import type { AskedQuestion } from '../port.ts'
import { UserQuestions, type ControlRequest } from './lines.ts'

/** A request of claude that waits for a person's answers: about a tool call, or on behalf of an MCP server. */
export type ClaudeRequest = Extract<ControlRequest['request'], { subtype: 'can_use_tool' | 'elicitation' }>
type ToolRequest = Extract<ClaudeRequest, { subtype: 'can_use_tool' }>
type Elicitation = Extract<ClaudeRequest, { subtype: 'elicitation' }>

/** Tools whose only purpose is to ask. They are shown as questions and not as tool calls. */
export const askingTools: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode'])

/** The questions that a request puts to the person; none when the request cannot be read. */
export function askedIn(request: ClaudeRequest): readonly AskedQuestion[] {
  return (request.subtype === 'elicitation' ? formsIn(request) : askedByTool(request)).map(bounded)
}

function askedByTool(request: ToolRequest): readonly AskedQuestion[] {
  switch (request.tool_name) {
    case 'AskUserQuestion':
      return questionsOf(request)
    case 'ExitPlanMode':
      return [planAsked(typeof request.input['plan'] === 'string' ? request.input['plan'] : '')]
    default: {
      const rules = request.suppress_always_allow_rule === true ? [] : rulesOf(request)
      return [permissionAsked(wordsOf(request), rules)]
    }
  }
}

function questionsOf({ input }: ToolRequest): readonly AskedQuestion[] {
  const read = UserQuestions.safeParse(input)
  return (read.success ? read.data.questions : []).map(({ question, options, multiSelect }) => ({
    ...plain,
    kind: 'question',
    multiple: multiSelect,
    title: question,
    options: options.map(({ label, description, preview }) => ({
      value: label,
      label,
      description,
      preview,
    })),
  }))
}

const editingTools = ['Edit', 'Write', 'NotebookEdit']

/** The rules that 'Always in this task' would allow, written as in claude's settings, such as `Bash(npm test *)`. */
function rulesOf({ tool_name: tool, permission_suggestions: suggestions }: ToolRequest): string[] {
  if (editingTools.includes(tool)) return [...editingTools]
  const suggested = suggestions.flatMap(({ rules = [] }) => rules)
  if (suggested.length === 0) return tool === 'Bash' ? [] : [tool]
  return suggested
    .map(({ toolName, ruleContent }) =>
      ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
    )
    .filter((rule) => rule.length <= kept.rule)
    .slice(0, most.rules)
}

function wordsOf({ tool_name: tool, input }: ToolRequest): Pick<AskedQuestion, 'title' | 'body'> {
  const of = (field: string) => {
    const value = input[field]
    return typeof value === 'string' ? value : ''
  }
  const path = of('file_path') || of('notebook_path')
  switch (tool) {
    case 'Bash':
      return { title: of('description') || 'Run a command', body: fenced('sh', of('command')) }
    case 'Edit': {
      const diff = [...marked('-', of('old_string')), ...marked('+', of('new_string'))]
      return { title: `Edit ${path}`, body: fenced('diff', diff.join('\n')) }
    }
    case 'Write':
      return { title: `Write ${path}`, body: fenced('diff', marked('+', of('content')).join('\n')) }
    default:
      return { title: `Use ${tool}`, body: fenced('json', JSON.stringify(input, null, 2)) }
  }
}

function formsIn({ mcp_server_name: server, message, url, requested_schema: fields }: Elicitation) {
  return fields === null ? [] : [formAsked({ server, message, url, fields })]
}

/** The line that answers a request, with one answer for each of its questions. */
export function answerLine(
  requestId: string,
  request: ClaudeRequest,
  answers: readonly Answer[],
  mode: AgentMode,
): string {
  const [first] = answers
  const response =
    request.subtype === 'elicitation'
      ? elicited(request.requested_schema ?? undefined, first)
      : first === undefined
        ? { behavior: 'deny', message: 'Nobody can answer this.' }
        : decided(request, answers, first, mode)
  return controlLine('control_response', { subtype: 'success', request_id: requestId, response })
}

export function refusalLine(requestId: string): string {
  const response = { subtype: 'error', request_id: requestId, error: 'This is not supported here.' }
  return controlLine('control_response', response)
}

function controlLine(type: 'control_response', response: object): string {
  return `${JSON.stringify({ type, response })}\n`
}

function decided(
  request: ToolRequest,
  answers: readonly Answer[],
  { choices, text }: Answer,
  mode: AgentMode,
): object {
  const { input } = request
  const allow = { behavior: 'allow', updatedInput: input }
  switch (request.tool_name) {
    case 'AskUserQuestion': {
      const read = UserQuestions.safeParse(input)
      const questions = read.success ? read.data.questions : []
      const words = questions.map(({ question }, index) => [question, inWords(answers[index])])
      return { ...allow, updatedInput: { ...input, answers: Object.fromEntries(words) } }
    }
    case 'ExitPlanMode': {
      if (choices.includes(planOptions.sendBack))
        return { behavior: 'deny', message: `The person wants this plan changed first:\n\n${text}` }
      const asks = mode === 'ask' || choices.includes(planOptions.approveAndAsk)
      const change = { type: 'setMode', mode: asks ? 'default' : 'bypassPermissions', destination: 'session' }
      return { ...allow, updatedPermissions: [change] }
    }
    default:
      return permitted(request, choices, text)
  }
}

function permitted(request: ToolRequest, choices: readonly string[], text: string): object {
  if (choices.includes(permissionOptions.deny)) {
    const reason = text.trim() === '' ? 'Find another way, or ask what to do.' : text
    return { behavior: 'deny', message: `The person does not allow this. ${reason}` }
  }
  const allow = { behavior: 'allow', updatedInput: request.input }
  if (!choices.includes(permissionOptions.allowInTask)) return allow
  const rules = { type: 'addRules', rules: rulesOf(request).map(parsedRule), behavior: 'allow' }
  // A command that writes a file needs permission for the folder as well.
  const folders = request.permission_suggestions.filter(({ type }) => type === 'addDirectories')
  const updatedPermissions = [rules, ...folders].map((update) => ({ ...update, destination: 'session' }))
  return { ...allow, updatedPermissions }
}

function parsedRule(rule: string): { readonly toolName: string; readonly ruleContent?: string } {
  const [, toolName = rule, ruleContent] = /^(\w+)\((.*)\)$/s.exec(rule) ?? []
  return ruleContent === undefined ? { toolName } : { toolName, ruleContent }
}

const inWords = (answer: Answer | undefined): string =>
  answer === undefined ? '' : [...answer.choices, answer.text].filter((word) => word.trim() !== '').join(', ')
