/** Turns the permissions that an agent requests by ACP into questions to a person, and writes the answers. */
import { permissionOptions, type Answer } from '#domain/task/questionEvents.ts'
import { bounded, fenced, option } from '../questions.ts'
import type { AskedQuestion } from '../port.ts'
import { answerLine, type PermissionRequest, type RequestId } from './lines.ts'
import { kindOf, shownContent, targetOfTool } from './tools.ts'

/** The longest rule by which requests can be allowed 'always in this task', in UTF-16 code units. */
const longestRule = 2_000

/**
 * The rule that 'Always in this task' would allow: for an edit, every edit; for a run with input, runs with the same input; for the rest, requests
 * of the same kind with the same title and input.
 */
export function ruleOf({ toolCall }: PermissionRequest): string {
  const kind = kindOf(toolCall)
  const { title, toolCallId } = toolCall
  const input = hasInput(toolCall) ? ` ${JSON.stringify(toolCall.rawInput)}` : ''
  if (kind === 'edit') return kind
  return kind === 'run' && input !== '' ? `${kind}${input}` : `${kind} ${title ?? toolCallId}${input}`
}

const hasInput = ({ rawInput }: PermissionRequest['toolCall']): boolean =>
  Object.keys(rawInput ?? {}).length > 0

export function permissionAsked(request: PermissionRequest, workspace: string): AskedQuestion {
  const rule = ruleOf(request)
  const always = rule.length <= longestRule
  return bounded({
    kind: 'permission',
    // ACP has no field for a text with which a person could answer.
    allowsText: false,
    multiple: false,
    ...wordsOf(request, workspace),
    options: [
      option(permissionOptions.allow, 'Allow'),
      ...(always ? [option(permissionOptions.allowInTask, 'Always in this task')] : []),
      option(permissionOptions.deny, 'Deny'),
    ],
    fields: [],
    rules: always ? [rule] : [],
  })
}

function wordsOf({ toolCall }: PermissionRequest, workspace: string): Pick<AskedQuestion, 'title' | 'body'> {
  const { title, content, rawInput } = toolCall
  // Some requests to run a command have the command only in their title.
  const isTold = rawInput == null && kindOf(toolCall) === 'run'
  const command = isTold ? title : rawInput?.['command']
  if (typeof command === 'string') return { title: 'Run a command', body: fenced('sh', command) }
  const diff = (content ?? []).filter(({ type }) => type === 'diff').flatMap(shownContent)
  const target = targetOfTool(toolCall, workspace)
  if (diff.length > 0) return { title: `Edit ${target}`, body: fenced('diff', diff.join('\n')) }
  if (rawInput != null && !hasInput(toolCall))
    return { title: `Use ${title ?? 'a tool'}`, body: 'The agent does not tell the input.' }
  const body =
    rawInput == null
      ? fenced('', (content ?? []).flatMap(shownContent).join('\n'))
      : fenced('json', JSON.stringify(rawInput, null, 2))
  return { title: `Use ${title ?? 'a tool'}`, body }
}

export const isAllowed = (answers: readonly Answer[]): boolean =>
  answers.length > 0 && !answers.some(({ choices }) => choices.includes(permissionOptions.deny))

export const isAllowedInTask = (answers: readonly Answer[]): boolean =>
  isAllowed(answers) && answers.some(({ choices }) => choices.includes(permissionOptions.allowInTask))

/**
 * The line that allows or refuses the request, only once if the agent offers that. We remember a permission for the whole task ourselves, since one
 * that the agent remembers would outlast the task.
 */
export function permissionLine(id: RequestId, { options }: PermissionRequest, allow: boolean): string {
  const wanted = allow ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always']
  const chosen = wanted.flatMap((kind) => options.find((one) => one.kind === kind) ?? [])[0]
  return answerLine(id, {
    outcome:
      chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId },
  })
}

export const cancelledLine = (id: RequestId): string => answerLine(id, { outcome: { outcome: 'cancelled' } })
