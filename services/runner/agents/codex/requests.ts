/** Turns the requests that `codex` makes during a turn into questions to a person, and writes the answers. */
import { permissionOptions, planOptions, type AgentMode, type Answer } from '#domain/task/questionEvents.ts'
import { bounded, fenced, kept, option, permissionAsked, plain } from '../questions.ts'
import { elicited, formAsked } from '../elicitation.ts'
import type { AskedQuestion } from '../port.ts'
import {
  ChangeApproval,
  CommandApproval,
  Elicitation,
  ToolApproval,
  UserInput,
  type Change,
} from './lines.ts'
import { commandOf, diffOf, pathsOf } from './tools.ts'

/** A request of codex that a person has to answer. */
export type CodexRequest =
  | {
      readonly kind: 'permission'
      /** The rule that 'Always in this task' would allow: every edit, this exact command, or this tool of an MCP server. */
      readonly rule: string
      readonly asked: AskedQuestion
      /** The words of the protocol that allow and deny this kind of request. */
      readonly decisions: typeof decisions | typeof toolDecisions
    }
  | { readonly kind: 'form'; readonly elicitation: Elicitation }
  | { readonly kind: 'questions'; readonly questions: UserInput['questions'] }

/**
 * Reads a request of codex. `changesOf` returns the planned changes of an edit by its id. Returns `undefined` for a request that nobody could answer:
 * its method is unknown, its parameters cannot be read, or the changes of its edit are not known.
 */
export function requestOf(
  method: string,
  params: unknown,
  workspace: string,
  changesOf: (itemId: string) => readonly Change[] | undefined,
): CodexRequest | undefined {
  switch (method) {
    case 'item/commandExecution/requestApproval': {
      const { data } = CommandApproval.safeParse(params)
      return data && commandPermission(data, workspace)
    }
    case 'item/fileChange/requestApproval': {
      const { data } = ChangeApproval.safeParse(params)
      const changes = data && changesOf(data.itemId)
      return changes && editPermission(changes, data.reason ?? '', workspace)
    }
    case 'item/tool/requestUserInput': {
      const { data } = UserInput.safeParse(params)
      return data && { kind: 'questions', questions: data.questions }
    }
    case 'mcpServer/elicitation/request': {
      const approval = ToolApproval.safeParse(params)
      if (approval.success) return toolPermission(approval.data)
      const { data } = Elicitation.safeParse(params)
      return data && { kind: 'form', elicitation: data }
    }
    default:
      return undefined
  }
}

function commandPermission({ kind, reason, command, cwd }: CommandApproval, workspace: string): CodexRequest {
  const place = cwd == null || cwd === workspace ? '' : `In ${cwd}:\n\n`
  const title = reason?.trim() || (kind === 'writeStdin' ? 'Write to a running command' : 'Run a command')
  const words = { title, body: `${place}${fenced('sh', commandOf(command))}` }
  const rule = `${kind} ${cwd ?? ''} ${command}`
  return permission(rule, words)
}

/**
 * Asks whether codex may use a tool of an MCP server. The rule for 'Always in this task' consists of the name of the server and the question of
 * codex, which names the tool.
 */
function toolPermission({ serverName, message, _meta: { tool_params: input } }: ToolApproval): CodexRequest {
  const title = `${serverName}: ${message}`
  const body = input === undefined ? '' : fenced('json', JSON.stringify(input, null, 2))
  return permission(title, { title, body }, toolDecisions)
}

type Permission = Extract<CodexRequest, { kind: 'permission' }>

function permission(
  rule: string,
  words: Pick<AskedQuestion, 'title' | 'body'>,
  by: Permission['decisions'] = decisions,
): Permission {
  const asked = permissionAsked(words, rule.length <= kept.rule ? [rule] : [])
  return { kind: 'permission', rule, asked, decisions: by }
}

/** The rule that allows every edit. */
export const editRule = 'edit'

function editPermission(changes: readonly Change[], reason: string, workspace: string): CodexRequest {
  const title = `Edit ${pathsOf(changes, workspace)}${reason === '' ? '' : `: ${reason}`}`
  const words = { title, body: fenced('diff', diffOf(changes, workspace)) }
  return permission(editRule, words)
}

export const askedIn = (request: CodexRequest): readonly AskedQuestion[] => allAsked(request).map(bounded)

function allAsked(request: CodexRequest): readonly AskedQuestion[] {
  switch (request.kind) {
    case 'permission':
      return [request.asked]
    case 'questions':
      return request.questions.map(questionAsked)
    case 'form': {
      const { serverName: server, message, url, requestedSchema: fields } = request.elicitation
      return [formAsked({ server, message, url, fields })]
    }
  }
}

const questionAsked = ({ question, options }: UserInput['questions'][number]): AskedQuestion => ({
  ...plain,
  kind: 'question',
  title: question,
  options: (options ?? []).map(({ label, description }) => ({ ...option(label, label), description })),
})

const decisions = { allow: { decision: 'accept' }, deny: { decision: 'decline' } } as const
const toolDecisions = { allow: { action: 'accept', content: {} }, deny: { action: 'decline' } } as const

/** The answer as codex expects it. `words` is sent as a message after it, since a refusal has no field for a person's text. */
export function resultOf(
  request: CodexRequest,
  answers: readonly Answer[],
): { readonly result: object; readonly words: string; readonly isForTask: boolean } {
  if (request.kind === 'questions') {
    const given = request.questions.map(
      ({ id }, index) => [id, { answers: inWords(answers[index]) }] as const,
    )
    return { result: { answers: Object.fromEntries(given) }, words: '', isForTask: false }
  }
  const [answer] = answers
  if (request.kind === 'form') {
    const result = elicited(request.elicitation.requestedSchema, answer)
    return { result, words: '', isForTask: false }
  }
  const { allow, deny } = request.decisions
  if (answer === undefined || answer.choices.includes(permissionOptions.deny)) {
    const words = answer?.text.trim() ? `I do not allow this. ${answer.text}` : ''
    return { result: deny, words, isForTask: false }
  }
  return { result: allow, words: '', isForTask: answer.choices.includes(permissionOptions.allowInTask) }
}

const inWords = (answer: Answer | undefined): readonly string[] =>
  answer === undefined ? [] : [...answer.choices, answer.text].filter((word) => word.trim() !== '')

/** The mode and the message with which codex continues after a plan. An `answer` of `undefined` means that nobody can answer any more. */
export function afterPlan(answer: Answer | undefined): { readonly mode: AgentMode; readonly text: string } {
  if (answer === undefined) return { mode: 'plan', text: 'Nobody can answer any more. Stop here.' }
  const { choices, text } = answer
  if (choices.includes(planOptions.sendBack))
    return { mode: 'plan', text: `I want this plan changed first:\n\n${text}` }
  const mode = choices.includes(planOptions.approveAndAsk) ? 'ask' : 'free'
  return { mode, text: `Implement the plan.${text.trim() === '' ? '' : `\n\n${text}`}` }
}
