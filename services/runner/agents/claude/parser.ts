/** Reads what `claude` prints, line by line, into agent events. */
import { scriptedModel } from '../../model/messages/scripted.ts'
import { errorOf } from './fault.ts'
import { readClaudeLine } from './lines.ts'
import type {
  AssistantLine,
  ClaudeLine,
  ModelUsageByModel,
  ResultLine,
  StreamEvent,
  UserLine,
} from './lines.ts'
import { toolAbandoned, toolFinished, toolStarted } from './tools.ts'
import { createLineSplitter } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { AgentEvent, AgentParser, ModelUsed, ToolStarted } from '../port.ts'

/** Long enough for an image of the largest size, which the CLI prints twice in one line. */
const longestLine = 32 * 1024 * 1024
const keptOfUnknown = 1000

type Writing = { readonly kind: 'text' | 'thinking'; text: string }

/** A parser for one process. Every text that began ends, and every tool that started finishes, however the stream breaks off. */
export function createClaudeParser(options: { readonly longestLine?: number } = {}): AgentParser {
  const lines = createLineSplitter(options.longestLine ?? longestLine)
  /** Blocks that are being written, by message key, in order. */
  const writing = new Map<string, Writing>()
  const tools = new Map<string, ToolStarted>()
  let usedBefore: ModelUsageByModel = {}
  let workspace = '/workspace'
  /** The message that is being streamed, and how many of its blocks came whole without having been streamed. */
  let streaming = ''
  let whole = { messageId: '', blocks: 0 }

  const breakOff = (): AgentEvent[] => {
    const broken = [...writing].map(([messageKey, { kind, text }]): AgentEvent => ({
      type: kind,
      messageKey,
      text,
      cut: true,
    }))
    writing.clear()
    return broken
  }
  const abandonTools = (): AgentEvent[] => {
    const abandoned = [...tools.keys()].map(toolAbandoned)
    tools.clear()
    return abandoned
  }

  const streamed = (event: StreamEvent): AgentEvent[] => {
    switch (event.type) {
      case 'message_start':
        // What an answer left unfinished when it broke off is not taken up by the next one.
        streaming = event.message.id
        return breakOff()
      case 'content_block_start': {
        const kind = event.content_block.type
        if (kind === 'text' || kind === 'thinking')
          writing.set(`${streaming}/${event.index}`, { kind, text: '' })
        return []
      }
      case 'content_block_delta': {
        const messageKey = `${streaming}/${event.index}`
        const block = writing.get(messageKey)
        const { delta } = event
        if (block === undefined || delta.type === 'other') return []
        const text = delta.type === 'text_delta' ? delta.text : delta.thinking
        if (text === '') return []
        block.text += text
        return [{ type: delta.type, messageKey, text }]
      }
      case 'other':
        return []
    }
  }

  /** The key under which a block was streamed, or a new one for a block that was not. */
  const keyOf = (messageId: string, kind: Writing['kind']): string => {
    for (const [key, block] of writing) if (key.startsWith(`${messageId}/`) && block.kind === kind) return key
    whole = whole.messageId === messageId ? { messageId, blocks: whole.blocks + 1 } : { messageId, blocks: 0 }
    return `${messageId}/whole-${whole.blocks}`
  }

  const said = (line: AssistantLine): AgentEvent[] => {
    const { message, parent_tool_use_id: parent } = line
    return message.content.flatMap((block): AgentEvent[] => {
      if (block.type === 'other') return []
      if (block.type === 'tool_use') {
        const started = toolStarted(block, parent, workspace)
        tools.set(block.id, started)
        return [started]
      }
      // A sub-agent speaks to the agent, not to the person; an API error comes again, in the result.
      if (parent !== null || line.is_api_error_message === true) return []
      const messageKey = keyOf(message.id, block.type)
      const text = block.type === 'text' ? block.text : block.thinking
      const streamedBefore = (writing.get(messageKey)?.text ?? '') !== ''
      writing.delete(messageKey)
      return text === '' && !streamedBefore
        ? []
        : [{ type: block.type, messageKey, text, cut: line.aborted === true }]
    })
  }

  const answered = (line: UserLine): AgentEvent[] => {
    const { content } = line.message
    const results = typeof content === 'string' ? [] : content.filter((block) => block.type === 'tool_result')
    return results.flatMap((result) => {
      const started = tools.get(result.tool_use_id)
      if (started === undefined) return []
      tools.delete(result.tool_use_id)
      return [toolFinished(started, result, results.length === 1 ? line.tool_use_result : undefined)]
    })
  }

  const ended = (line: ResultLine): AgentEvent[] => {
    const used = line.model_usage_since_last_result ?? usageSince(usedBefore, line.modelUsage)
    usedBefore = line.modelUsage
    return [
      ...breakOff(),
      ...abandonTools(),
      ...usageEvents(used),
      ...(line.is_error ? [errorOf(line)] : []),
      {
        type: 'end',
        ok: !line.is_error,
        sessionId: line.session_id,
        durationMs: line.duration_ms,
        turns: line.num_turns,
      },
    ]
  }

  const eventsOf = (line: ClaudeLine): AgentEvent[] => {
    switch (line.type) {
      case 'system':
        if (line.subtype === 'init') {
          workspace = line.cwd ?? workspace
          return [{ type: 'session', sessionId: line.session_id, model: line.model ?? '' }]
        }
        if (line.subtype === 'compact_boundary' && line.compact_metadata?.trigger === 'manual')
          // A person asked for it, and is told of nothing else.
          return [{ type: 'text', messageKey: `compacted-${line.uuid ?? ''}`, text: compacted, cut: false }]
        return noticeOf(line).map((text) => ({ type: 'notice', text }))
      case 'stream_event':
        return line.parent_tool_use_id === null ? streamed(line.event) : []
      case 'assistant':
        return said(line)
      case 'user':
        return answered(line)
      case 'result':
        return ended(line)
    }
  }

  const read = (line: Line): AgentEvent[] => {
    if (line.text.trim() === '') return []
    const known = line.overlong ? 'unknown' : readClaudeLine(line.text)
    if (known === 'silent') return []
    if (known === 'unknown') return [{ type: 'unknown', line: line.text.slice(0, keptOfUnknown) }]
    return eventsOf(known)
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(read),
    end: () => [...lines.end().flatMap(read), ...breakOff(), ...abandonTools()],
  }
}

const compacted = 'The conversation so far was summarized.'

/** What a system line tells a person; most tell nothing. */
function noticeOf(line: Extract<ClaudeLine, { type: 'system' }>): readonly string[] {
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
    case 'compact_boundary':
      return ['The conversation had grown long and was summarized.']
    default:
      return []
  }
}

/** Older versions say only what a process has used in all. */
function usageSince(before: ModelUsageByModel, now: ModelUsageByModel): ModelUsageByModel {
  return Object.fromEntries(
    Object.entries(now).map(([model, used]) => {
      const was = before[model]
      const since = (field: keyof typeof used) => Math.max(0, used[field] - (was?.[field] ?? 0))
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
      // The CLI prices a model that it does not know like one that it does; this one is free.
      costUsd: model === scriptedModel ? 0 : used.costUSD,
    }))
    .filter((used) => used.inputTokens + used.outputTokens + used.cacheReadTokens + used.cacheWriteTokens > 0)
}
