/** Converts the output of `claude`, line by line, to agent events. */
import { totalTokens } from '../../model/meter.ts'
import { scriptedModel } from '../../model/messages/scripted.ts'
import { lineParser, openTools, type OpenTools } from '../parser.ts'
import type { AgentEvent, AgentParser, ModelUsed } from '../port.ts'
import { errorOf } from './fault.ts'
import { readClaudeLine } from './lines.ts'
import { askedIn, askingTools, refusalLine, type ClaudeRequest } from './requests.ts'
import { listRequest, modelRequest, modelsIn } from './models.ts'
import type {
  AssistantLine,
  ClaudeLine,
  ControlRequest,
  ControlResponse,
  ModelUsageByModel,
  ResultLine,
  StreamEvent,
  UserLine,
} from './lines.ts'
import { toolFinished, toolStarted } from './tools.ts'

/** A block that is being written; `messageKey` is its key in events. */
type Writing = { readonly kind: 'text' | 'thinking'; readonly messageKey: string; text: string }

interface State {
  /** Blocks that are being written, by the message id and the index in the message. */
  readonly writing: Map<string, Writing>
  /** Blocks of an answer that was interrupted and requested again. A new block replaces the first of them that has the same kind. */
  retried: readonly Writing[]
  isRetry: boolean
  /** Whether the CLI prints earlier messages again, as it does after a compaction. */
  printsCopies: boolean
  /** Whether the CLI says which messages its turns are for; older versions do not. */
  tellsMessages: boolean
  readonly tools: OpenTools
  usedBefore: ModelUsageByModel
  /** The model and the tokens of the agent's latest call to its model. */
  call: { readonly model: string; readonly input: number; readonly output: number } | undefined
  workspace: string
  streamedMessage: string
  /** The agent's requests that have no answer yet. */
  readonly requests: Map<string, ClaudeRequest>
  /** Whether a list of models from claude is still accepted: only the first list, and only before the model has answered. */
  takesModels: boolean
  /** The last message with blocks that were not streamed, and the index of the latest of these blocks. */
  whole: { readonly messageId: string; readonly blocks: number }
}

/** A parser for one process. Every text and every tool that has started is also ended, even if the output stops early. */
export function createClaudeParser(
  lineLimit?: number,
  requests = new Map<string, ClaudeRequest>(),
): AgentParser {
  const state: State = {
    writing: new Map(),
    retried: [],
    isRetry: false,
    printsCopies: false,
    tellsMessages: false,
    tools: openTools(),
    usedBefore: {},
    call: undefined,
    workspace: '/workspace',
    streamedMessage: '',
    requests,
    takesModels: true,
    whole: { messageId: '', blocks: 0 },
  }
  const reader = {
    read: readClaudeLine,
    eventsOf: (line: ClaudeLine) => eventsOf(state, line),
    end: () => [...breakOff(state), ...state.tools.abandon()],
  }
  return lineParser(reader, lineLimit)
}

function eventsOf(state: State, line: ClaudeLine): AgentEvent[] {
  switch (line.type) {
    case 'system':
      return systemEvents(state, line)
    case 'stream_event':
      state.takesModels = false
      return line.parent_tool_use_id === null ? streamed(state, line.event) : []
    case 'assistant':
      state.takesModels = false
      return said(state, line)
    case 'user':
      return toolResults(state, line)
    case 'result':
      return ended(state, line)
    case 'control_request':
      return asked(state, line)
    case 'control_cancel_request':
      return state.requests.delete(line.request_id)
        ? [{ type: 'question_withdrawn', requestId: line.request_id }]
        : []
    case 'control_response':
      return answered(state, line.response)
    case 'command_lifecycle':
      state.tellsMessages = true
      return line.state === 'started' ? [{ type: 'taken_up', messageIds: [line.command_uuid] }] : []
  }
}

/** Passes a request of claude on to a person. A request that nobody could answer is refused at once, so that claude does not wait for ever. */
function asked({ requests }: State, { request_id: requestId, request }: ControlRequest): AgentEvent[] {
  const questions = request.subtype === 'other' ? [] : askedIn(request)
  if (request.subtype === 'other' || questions.length === 0) {
    const refusal = { type: 'write', text: refusalLine(requestId) } as const
    if (request.subtype !== 'elicitation') return [refusal]
    const text = `${request.mcp_server_name} asked with a form that cannot be shown here. It was refused.`
    return [refusal, { type: 'notice', text }]
  }
  // claude repeats some requests, but expects one answer.
  if (requests.has(requestId)) return []
  requests.set(requestId, request)
  return [{ type: 'question', requestId, asked: questions }]
}

/**
 * Reads an answer of claude to one of our requests. A list of models counts only once and only before the model has answered: later, a program that
 * claude runs might have printed the line.
 */
function answered(state: State, { request_id: id, error, response }: ControlResponse): AgentEvent[] {
  if (id === modelRequest && error !== undefined)
    return [{ type: 'notice', text: `The model could not be changed: ${error}` }]
  if (id !== listRequest || response === undefined || !state.takesModels) return []
  state.takesModels = false
  return [{ type: 'models', models: modelsIn(response) }]
}

type SystemLine = Extract<ClaudeLine, { type: 'system' }>

function systemEvents(state: State, line: SystemLine): AgentEvent[] {
  switch (line.subtype) {
    case 'init': {
      state.workspace = line.cwd ?? state.workspace
      const session = { type: 'session', sessionId: line.session_id, model: line.model ?? '' } as const
      const begun = [...mcpServersOf(line), session]
      const isAsked = !state.tellsMessages || line.user_message_uuids !== undefined
      return isAsked ? begun : [{ type: 'unasked' }, ...begun]
    }
    case 'status':
      if (line.status === 'requesting') state.printsCopies = false
      return []
    case 'api_retry':
      state.retried = [...state.retried, ...state.writing.values()].filter(({ text }) => text !== '')
      state.writing.clear()
      state.isRetry = true
      break
    case 'compact_boundary':
      state.printsCopies = true
      state.call = undefined
      // If the person asked for the compaction, this text is the only reply to the request.
      return line.compact_metadata?.trigger === 'manual'
        ? [
            { type: 'text', messageKey: `compacted-${line.uuid ?? ''}`, text: compacted, cut: false },
            { type: 'context', context: null },
          ]
        : [{ type: 'compacted' }]
  }
  return noticeOf(line).map((text) => ({ type: 'notice', text }))
}

function mcpServersOf({ mcp_servers: found = [], tools = [] }: SystemLine): AgentEvent[] {
  if (found.length === 0) return []
  const servers = found.map(({ name, status }) => {
    const prefix = `mcp__${name}__`
    const own = tools.filter((tool) => tool.startsWith(prefix)).map((tool) => tool.slice(prefix.length))
    return { name, isConnected: status === 'connected', tools: own }
  })
  return [{ type: 'mcp_servers', servers }]
}

/** Ends the texts of an interrupted answer: the next answer does not continue them. */
function breakOff(state: State): AgentEvent[] {
  const broken = [...state.retried, ...state.writing.values()]
  state.retried = []
  state.writing.clear()
  return broken.map(({ kind, messageKey, text }) => ({ type: kind, messageKey, text, cut: true }))
}

/**
 * Removes the first interrupted block of this kind from the state, and returns it, because its text is now written again. Returns `undefined` when no
 * block of this kind was interrupted.
 */
function takeRetried(state: State, kind: Writing['kind']): Writing | undefined {
  const taken = state.retried.find((block) => block.kind === kind)
  state.retried = state.retried.filter((block) => block !== taken)
  return taken
}

/** Begins a message. The answer to a repeated request replaces the interrupted answer. */
function messageBegins(
  state: State,
  { id, model, usage }: Extract<StreamEvent, { type: 'message_start' }>['message'],
): AgentEvent[] {
  state.streamedMessage = id
  const cached = (usage?.cache_read_input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0)
  state.call = usage && { model, input: usage.input_tokens + cached, output: 0 }
  state.printsCopies = false
  const { isRetry } = state
  state.isRetry = false
  return isRetry ? [] : breakOff(state)
}

function streamed(state: State, event: StreamEvent): AgentEvent[] {
  switch (event.type) {
    case 'message_start':
      return messageBegins(state, event.message)
    case 'message_delta':
      if (state.call) state.call = { ...state.call, output: event.usage.output_tokens }
      return contextEvents(state)
    case 'content_block_start': {
      const kind = event.content_block.type
      if (kind !== 'text' && kind !== 'thinking') return []
      const place = `${state.streamedMessage}/${event.index}`
      const retried = takeRetried(state, kind)
      const messageKey = retried?.messageKey ?? place
      state.writing.set(place, { kind, messageKey, text: '' })
      return retried === undefined ? [] : [{ type: 'text_restarted', messageKey }]
    }
    case 'content_block_delta': {
      const block = state.writing.get(`${state.streamedMessage}/${event.index}`)
      const { delta } = event
      if (block === undefined || delta.type === 'other') return []
      const text = delta.type === 'text_delta' ? delta.text : delta.thinking
      if (text === '') return []
      block.text += text
      return [{ type: delta.type, messageKey: block.messageKey, text }]
    }
    case 'other':
      return []
  }
}

function said(state: State, line: AssistantLine): AgentEvent[] {
  const { message, parent_tool_use_id: parent } = line
  if (state.printsCopies) return []
  return message.content.flatMap((block): AgentEvent[] => {
    if (block.type === 'other') return []
    if (block.type === 'tool_use' && askingTools.has(block.name)) return []
    if (block.type === 'tool_use') return [state.tools.start(toolStarted(block, parent, state.workspace))]
    // An API error is left out here, because the result line reports it again.
    if (line.is_api_error_message === true) return []
    const text = block.type === 'text' ? block.text : block.thinking
    if (parent !== null)
      return text.trim() === ''
        ? []
        : [{ type: 'subagent_words', parentToolId: parent, isThought: block.type === 'thinking', text }]
    const written = takeWritten(state, message.id, block.type)
    const messageKey = written?.messageKey ?? nextWholeKey(state, message.id)
    return text === '' && (written?.text ?? '') === ''
      ? []
      : [{ type: block.type, messageKey, text, cut: line.aborted === true }]
  })
}

/** Takes the streamed part of a block that has now come whole: from this message, or else from an interrupted message. */
function takeWritten(state: State, messageId: string, kind: Writing['kind']): Writing | undefined {
  for (const [place, block] of state.writing) {
    if (!place.startsWith(`${messageId}/`) || block.kind !== kind) continue
    state.writing.delete(place)
    return block
  }
  return takeRetried(state, kind)
}

function nextWholeKey(state: State, messageId: string): string {
  const blocks = state.whole.messageId === messageId ? state.whole.blocks + 1 : 0
  state.whole = { messageId, blocks }
  return `${messageId}/whole-${blocks}`
}

function toolResults({ tools }: State, line: UserLine): AgentEvent[] {
  const { content } = line.message
  const results = typeof content === 'string' ? [] : content.filter((block) => block.type === 'tool_result')
  return results.flatMap((result) => {
    const started = tools.take(result.tool_use_id)
    if (started === undefined) return []
    return [toolFinished(started, result, results.length === 1 ? line.tool_use_result : undefined)]
  })
}

function ended(state: State, line: ResultLine): AgentEvent[] {
  const used = line.model_usage_since_last_result ?? usageSince(state.usedBefore, line.modelUsage)
  state.usedBefore = line.modelUsage
  state.printsCopies = false
  state.isRetry = false
  return [
    ...breakOff(state),
    ...state.tools.abandon(),
    ...usageEvents(used),
    ...contextEvents(state),
    ...(line.is_error ? [errorOf(line)] : []),
    {
      type: 'end',
      ok: !line.is_error,
      sessionId: line.session_id,
      durationMs: line.duration_ms,
      turns: line.num_turns,
      ...(state.tellsMessages && { answers: line.user_message_uuids ?? [] }),
    },
  ]
}

const compacted = 'The conversation so far was summarized.'

/** The notices for a person in a system line; most lines have none. */
function noticeOf(line: SystemLine): readonly string[] {
  switch (line.subtype) {
    case 'api_retry': {
      const seconds = Math.max(1, Math.round((line.retry_delay_ms ?? 0) / 1000))
      const why = line.error_status == null ? 'cannot be reached' : `answers ${line.error_status}`
      const count =
        line.attempt === undefined ? '' : ` (${line.attempt} of ${line.max_retries ?? line.attempt})`
      return [`The model's API ${why}. Trying again in ${seconds} s${count}.`]
    }
    case 'permission_denied':
      return [`${line.tool_name ?? 'A tool'} was refused: ${String(line.message ?? '')}`]
    case 'informational':
      return typeof line.content === 'string' && line.content !== '' ? [line.content] : []
    default:
      return []
  }
}

/** Reports once how full the context is after a call. The size of the context is known only after a turn has ended. */
function contextEvents(state: State): AgentEvent[] {
  const { call, usedBefore } = state
  if (call === undefined) return []
  const models = Object.values(usedBefore)
  const used = usedBefore[call.model] ?? (models.length === 1 ? models[0] : undefined)
  if (used?.contextWindow === undefined) return []
  state.call = undefined
  const context = { usedTokens: call.input + call.output, windowTokens: used.contextWindow }
  return [{ type: 'context', context }]
}

/** The usage since the last report. Older versions of claude report only the total of the process, so the earlier total is subtracted. */
function usageSince(before: ModelUsageByModel, now: ModelUsageByModel): ModelUsageByModel {
  return Object.fromEntries(
    Object.entries(now).map(([model, used]) => {
      const was = before[model]
      const since = (field: Exclude<keyof typeof used, 'contextWindow'>) =>
        Math.max(0, used[field] - (was?.[field] ?? 0))
      return [
        model,
        {
          inputTokens: since('inputTokens'),
          outputTokens: since('outputTokens'),
          cacheReadInputTokens: since('cacheReadInputTokens'),
          cacheCreationInputTokens: since('cacheCreationInputTokens'),
          costUSD: since('costUSD'),
        },
      ]
    }),
  )
}

function usageEvents(usage: ModelUsageByModel): ModelUsed[] {
  return Object.entries(usage)
    .map(([model, used]): ModelUsed => ({
      type: 'usage',
      model,
      inputTokens: used.inputTokens,
      outputTokens: used.outputTokens,
      cacheReadTokens: used.cacheReadInputTokens,
      cacheWriteTokens: used.cacheCreationInputTokens,
      // The CLI prices a model that it does not know like one that it knows, but the scripted model costs nothing.
      costUsd: model === scriptedModel ? 0 : used.costUSD,
    }))
    .filter((used) => totalTokens(used) > 0)
}
