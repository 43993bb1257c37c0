/**
 * Makes spans by the OpenTelemetry conventions for generative AI: a turn of an agent within its run, and within the turn its tool calls and model
 * calls. The spans contain no text by people or agents.
 */
import { agentConfigurations } from '#domain/agents/configuration.ts'
import type { AgentName } from '#domain/agents.ts'
import { parseStream } from '#domain/kernel/streams.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Appended, ModelCalled, Observation, Period, TokenCounts } from './telemetry.ts'
import { idOf, runSpanId, traceIdOf, type Span } from './traces.ts'

/** The version of the conventions that the names below are from. Names may differ in other versions, since the conventions are not stable. */
export const genAiScope = { name: 'semantic-conventions-genai', version: '0.1.0' } as const

const names = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  error: 'error.type',
  /** A name of our own, because the conventions have no name for costs. */
  cost: 'flightdeck.cost.usd',
} as const

type Attributes = Readonly<Record<string, string | number | undefined>>

interface Turn {
  readonly executionId: string
  readonly traceId: string
  /** The id of the event that requested the turn. It also identifies the run of the turn. */
  readonly requestedBy: string
  readonly taskId: string
  readonly begun: number
  /** The agent; `undefined` until an event or a model call names it, and for a command. */
  agent: AgentName | undefined
  version: string | undefined
  usage: (TokenCounts & { readonly costUsd: number }) | undefined
  readonly models: Set<string>
  /** The unfinished tool calls by id. */
  readonly tools: Map<string, { readonly name: string; readonly begun: number }>
  calls: number
}

/** Makes a function that turns observations into spans. The function remembers running turns until their runs end. */
export function genAiSpans(): (observation: Observation) => readonly Span[] {
  const turns = new Map<string, Turn>()
  return (observation) => {
    switch (observation.kind) {
      case 'append':
        return typeof observation.events === 'string'
          ? []
          : observation.events.flatMap((event) => spansOfEvent(turns, event, observation))
      case 'model_call':
        return chatSpan(turns.get(observation.executionId), observation)
      case 'run_ended': {
        const { causationId } = observation.origin
        for (const { requestedBy: asked, executionId } of turns.values())
          if (asked === causationId) turns.delete(executionId)
        return []
      }
      default:
        return []
    }
  }
}

function spansOfEvent(turns: Map<string, Turn>, event: AnyRecorded, append: Appended): readonly Span[] {
  if (event.type === 'ExecutionStarted') {
    const turn = turnOf(event.data.executionId, append)
    if (turn) turns.set(turn.executionId, turn)
    return []
  }
  const turn = 'executionId' in event.data ? turns.get(String(event.data.executionId)) : undefined
  return turn ? spansInTurn(turn, event, append) : []
}

function turnOf(executionId: string, { stream, cause, begun }: Appended): Turn | undefined {
  const traceId = traceIdOf(cause.correlationId)
  const place = parseStream(stream)
  if (traceId === undefined || !cause.causationId || place.kind !== 'task') return undefined
  return {
    executionId,
    traceId,
    requestedBy: cause.causationId,
    taskId: place.id,
    begun,
    agent: undefined,
    version: undefined,
    usage: undefined,
    models: new Set(),
    tools: new Map(),
    calls: 0,
  }
}

function spansInTurn(turn: Turn, event: AnyRecorded, append: Period): readonly Span[] {
  switch (event.type) {
    case 'AgentStarted':
      turn.agent = event.data.agent
      turn.version = event.data.version
      return []
    case 'MessagePosted':
      // If a turn failed before its agent started, only this event names the agent.
      turn.agent ??= event.data.agent ?? undefined
      return []
    case 'UsageRecorded':
      addUsage(turn, event.data)
      return []
    case 'ToolStarted': {
      const { toolId, kind } = event.data
      // A tool of a known kind has a name that its agent gave it. Any other name may contain text of a person, so it is not emitted.
      const name = kind === 'other' ? undefined : event.content?.name
      turn.tools.set(toolId, { name: wordOf(name) ?? kind, begun: append.begun })
      return []
    }
    case 'ToolFinished':
      return toolSpan(turn, event.data, append)
    case 'ExecutionCompleted':
      return turnSpan(turn, undefined, append)
    case 'ExecutionCancelled':
      return turnSpan(turn, 'cancelled', append)
    case 'ExecutionFailed':
      return turnSpan(turn, event.data.code, append)
    default:
      return []
  }
}

function addUsage(
  turn: Turn,
  used: TokenCounts & { readonly model: string | null; readonly costUsd: number },
): void {
  const before = turn.usage
  turn.usage = {
    inputTokens: used.inputTokens + (before?.inputTokens ?? 0),
    outputTokens: used.outputTokens + (before?.outputTokens ?? 0),
    cacheReadTokens: used.cacheReadTokens + (before?.cacheReadTokens ?? 0),
    cacheWriteTokens: used.cacheWriteTokens + (before?.cacheWriteTokens ?? 0),
    costUsd: used.costUsd + (before?.costUsd ?? 0),
  }
  if (used.model !== null) turn.models.add(used.model)
}

/** The span of the turn, after it has ended; none for a command. */
function turnSpan(turn: Turn, fault: string | undefined, { ended }: Period): readonly Span[] {
  if (turn.agent === undefined) return []
  const [model, ...others] = turn.models
  const attributes = {
    ...ofAgent('invoke_agent', turn),
    [names.agentVersion]: wordOf(turn.version),
    // If there were several models, none of them is the model of the turn.
    [names.responseModel]: others.length === 0 ? wordOf(model) : undefined,
    ...tokensOf(turn.usage),
    // A cost of 0 means that the agent estimated none, so it is left out.
    [names.cost]: turn.usage?.costUsd || undefined,
    [names.error]: faultOf(fault),
  }
  const ids = { spanId: turnSpanId(turn), parentId: runSpanId(turn.requestedBy) }
  return [span(turn, { ...ids, name: `invoke_agent ${turn.agent}`, begun: turn.begun, ended, attributes })]
}

function toolSpan(
  turn: Turn,
  {
    toolId,
    ok,
    durationMs,
  }: { readonly toolId: string; readonly ok: boolean; readonly durationMs: number | null },
  { ended }: Period,
): readonly Span[] {
  const tool = turn.tools.get(toolId)
  turn.tools.delete(toolId)
  if (tool === undefined || turn.agent === undefined) return []
  const failed = durationMs === null ? 'unfinished' : 'tool_failed'
  const attributes = {
    ...ofAgent('execute_tool', turn),
    [names.tool]: tool.name,
    [names.toolType]: 'function',
    [names.toolCall]: wordOf(toolId),
    [names.error]: ok ? undefined : failed,
  }
  const spanId = idOf('execute_tool', turn.executionId, toolId, String(tool.begun))
  const name = `execute_tool ${tool.name}`
  return [span(turn, { spanId, parentId: turnSpanId(turn), name, begun: tool.begun, ended, attributes })]
}

function chatSpan(turn: Turn | undefined, called: ModelCalled): readonly Span[] {
  if (turn === undefined) return []
  const { agent, requestModel, usage, status, begun, ended } = called
  turn.agent ??= agent
  turn.calls += 1
  const model = wordOf(requestModel)
  const attributes = {
    ...ofAgent('chat', turn),
    [names.requestModel]: model,
    [names.responseModel]: wordOf(usage?.model),
    ...tokensOf(usage),
    [names.error]: faultOf(status === 'broken_off' || status >= 400 ? String(status) : undefined),
  }
  const spanId = idOf('chat', turn.executionId, String(turn.calls))
  const name = model === undefined ? 'chat' : `chat ${model}`
  const ids = { spanId, parentId: turnSpanId(turn) }
  return [span(turn, { ...ids, name, kind: 'client', begun, ended, attributes })]
}

function span(
  { traceId }: Turn,
  {
    attributes,
    ...about
  }: Period &
    Pick<Span, 'name' | 'spanId' | 'parentId'> & {
      readonly kind?: Span['kind']
      readonly attributes: Attributes
    },
): Span {
  const ok = attributes[names.error] === undefined
  return { kind: 'internal', ...about, traceId, ok, attributes: known(attributes), scope: genAiScope }
}

function ofAgent(operation: 'invoke_agent' | 'execute_tool' | 'chat', { agent, taskId }: Turn): Attributes {
  return {
    [names.operation]: operation,
    [names.provider]: agent && agentConfigurations[agent].provider,
    [names.agent]: agent,
    [names.conversation]: taskId,
  }
}

/**
 * Counts of tokens in the terms of OpenTelemetry's conventions. The conventions count tokens read from or written to a cache as input; we count them
 * separately.
 */
function tokensOf(used: TokenCounts | undefined): Attributes {
  if (used === undefined) return {}
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = used
  return {
    [names.inputTokens]: inputTokens + cacheReadTokens + cacheWriteTokens,
    [names.outputTokens]: outputTokens,
    [names.cacheReadTokens]: cacheReadTokens,
    [names.cacheWriteTokens]: cacheWriteTokens,
  }
}

function known(attributes: Attributes): Span['attributes'] {
  const all = Object.entries(attributes)
  return Object.fromEntries(
    all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
}

function wordOf(name: string | undefined): string | undefined {
  return name !== undefined && /^\w[\w.:/@+-]{0,99}$/.test(name) ? name : undefined
}

/** The code of a fault. A text that is not a code becomes `_OTHER`, as the conventions require; `undefined`, for no fault, stays `undefined`. */
function faultOf(code: string | undefined): string | undefined {
  return code === undefined || /^[a-z0-9_]{1,50}$/.test(code) ? code : '_OTHER'
}

const turnSpanId = ({ executionId }: Turn): string => idOf('invoke_agent', executionId)
