/**
 * Talks to an agent that speaks ACP. The first message opens a session, and is sent once the session is open. Each message starts one turn. When the
 * agent breaks the protocol during a turn, the turn ends with an error, and the agent's further output is ignored.
 */
import { lineParser, mostAsked, mostWritten } from '../parser.ts'
import type {
  AgentDialogue,
  AgentError,
  AgentEvent,
  AgentMessage,
  DialogueRequest,
  McpServerForAgent,
} from '../port.ts'
import { errorOf, errorOfStop, ownError } from './fault.ts'
import {
  Initialized,
  mcpServerOf,
  noticeLine,
  PermissionRequest,
  PromptEnded,
  readAcpLine,
  refusalLine,
  requestLine,
  SessionOpened,
  type AcpLine,
  type RequestId,
} from './lines.ts'
import {
  cancelledLine,
  isAllowed,
  isAllowedInTask,
  permissionAsked,
  permissionLine,
  ruleOf,
} from './permissions.ts'
import { turnReader, type TurnReader } from './turn.ts'

/** How many lines that do not belong to the protocol are skipped. The next such line ends the turn with an error. */
const toleratedLines = 20

type Asked = 'initialize' | 'open' | 'catch_up' | 'prompt'

interface Turn extends TurnReader {
  readonly messageId: string
  readonly begunAt: number
  isTold: boolean
  isCancelled: boolean
}

interface State {
  readonly workspace: string
  readonly resumed: string | null
  readonly asks: boolean
  readonly keyVariable: string
  readonly mcpServers: readonly McpServerForAgent[]
  readonly now: () => number
  phase: 'new' | 'opening' | 'ready' | 'broken'
  session: string
  model: string
  /** Our requests that the agent has not answered yet. */
  readonly asked: Map<RequestId, Asked>
  lastId: number
  /** The first message, kept until the agent has a session. */
  held: AgentMessage | undefined
  turn: Turn | undefined
  /** The requests for permission that a person has not answered yet, by the id of the question. */
  readonly permissions: Map<string, { readonly id: RequestId; readonly request: PermissionRequest }>
  readonly rules: Set<string>
  strangeLines: number
}

interface AcpDialogueRequest extends DialogueRequest {
  /** The name of the server's environment variable that holds the key for the agent's model. */
  readonly keyVariable: string
  /** Returns milliseconds of a clock that never goes back. */
  readonly now?: () => number
}

export function acpDialogue(request: AcpDialogueRequest): AgentDialogue {
  const { model, mode, session = null, workspace = '/workspace', allowedRules = [], keyVariable } = request
  const { mcpServers = [] } = request
  const state: State = {
    workspace,
    resumed: session,
    asks: mode === 'ask',
    keyVariable,
    mcpServers,
    now: request.now ?? (() => performance.now()),
    phase: 'new',
    session: '',
    model: model ?? '',
    asked: new Map(),
    lastId: 0,
    held: undefined,
    turn: undefined,
    permissions: new Map(),
    rules: new Set(allowedRules),
    strangeLines: 0,
  }
  const parser = lineParser({
    read: (text) => (state.phase === 'broken' ? 'silent' : readLine(state, text)),
    eventsOf: (line: AcpLine | typeof strange) => eventsOf(state, line),
    end: () => state.turn?.end(false) ?? [],
  })
  return {
    ...parser,
    push: (chunk) => merged(parser.push(chunk)),
    message(message) {
      if (state.phase === 'ready') return promptOf(state, message)
      if (state.phase !== 'new') return ''
      state.held = message
      state.phase = 'opening'
      return asking(state, 'initialize', 'initialize', initialization)
    },
    interrupt() {
      if (state.turn === undefined) return null
      state.turn.isCancelled = true
      const cancelled = [...state.permissions.values()].map(({ id }) => cancelledLine(id))
      return [noticeLine('session/cancel', { sessionId: state.session }), ...cancelled].join('')
    },
    answer(requestId, answers) {
      const waiting = state.permissions.get(requestId)
      if (waiting === undefined || state.turn?.isCancelled === true) return ''
      state.permissions.delete(requestId)
      const { id, request: asked } = waiting
      if (isAllowedInTask(answers)) state.rules.add(ruleOf(asked))
      return permissionLine(id, asked, isAllowed(answers))
    },
  }
}

/** Joins consecutive deltas into one. So even an agent that prints very many deltas causes few events. */
function merged(events: readonly AgentEvent[]): readonly AgentEvent[] {
  const all: AgentEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    const isMore =
      (event.type === 'text_delta' || event.type === 'thinking_delta') &&
      last?.type === event.type &&
      last.messageKey === event.messageKey
    if (isMore) all.splice(-1, 1, { ...event, text: `${last.text}${event.text}` })
    else all.push(event)
  }
  return all
}

/** Our first request. It offers the agent no files or terminals of ours, since the agent uses its own in the sandbox. */
const initialization = {
  protocolVersion: 1,
  clientInfo: { name: 'flightdeck', version: '1' },
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
}

const strange = { type: 'strange' } as const

/** Reads a line. Skips a few lines that do not belong to the protocol, since a library of the agent may print them. */
function readLine(state: State, text: string): AcpLine | typeof strange | 'unknown' {
  const line = readAcpLine(text)
  if (line !== 'unknown') return line
  state.strangeLines += 1
  return state.strangeLines > toleratedLines ? strange : 'unknown'
}

function asking(state: State, what: Asked, method: string, params: object): string {
  state.lastId += 1
  state.asked.set(state.lastId, what)
  return requestLine(state.lastId, method, params)
}

/** Starts a turn, and returns the request that sends the message to the agent. */
function promptOf(state: State, { text, images, id }: AgentMessage): string {
  state.turn = {
    ...turnReader(id, state.workspace),
    messageId: id,
    begunAt: state.now(),
    isTold: false,
    isCancelled: false,
  }
  const prompt = [
    ...images.map(({ mediaType, base64 }) => ({ type: 'image', mimeType: mediaType, data: base64 })),
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ]
  return asking(state, 'prompt', 'session/prompt', { sessionId: state.session, prompt })
}

function eventsOf(state: State, line: AcpLine | typeof strange): readonly AgentEvent[] {
  switch (line.type) {
    case 'strange':
      return broken(state, 'it prints lines that are none of the protocol')
    case 'other':
      return []
    case 'request':
      return [...begun(state), ...requested(state, line)]
    case 'update': {
      // Updates that come while a session is being resumed only repeat its past.
      if (state.turn === undefined || line.sessionId !== state.session) return []
      const events = [...begun(state), ...state.turn.read(line.update)]
      const isFlood = state.turn.written() > mostWritten
      return isFlood ? [...events, ...broken(state, 'it writes without end')] : events
    }
    case 'answered':
    case 'refused': {
      const what = state.asked.get(line.id)
      if (what === undefined) return broken(state, 'it answered what was not asked, or twice')
      state.asked.delete(line.id)
      return line.type === 'refused' ? refused(state, what, line.error) : answered(state, what, line.result)
    }
  }
}

/** The events that report the beginning of the turn; none when it was reported before. */
function begun(state: State): readonly AgentEvent[] {
  const { turn, session, model } = state
  if (turn === undefined || turn.isTold) return []
  turn.isTold = true
  return [
    { type: 'session', sessionId: session, model },
    { type: 'taken_up', messageIds: [turn.messageId] },
  ]
}

function answered(state: State, what: Asked, result: unknown): readonly AgentEvent[] {
  switch (what) {
    case 'initialize':
      return initialized(state, result)
    case 'open':
      return opened(state, result)
    case 'catch_up':
      return caughtUp(state)
    case 'prompt': {
      const { data } = PromptEnded.safeParse(result)
      if (data === undefined) return broken(state, 'it did not say why a turn ended')
      return ended(state, errorOfStop(data.stopReason))
    }
  }
}

function initialized(state: State, result: unknown): readonly AgentEvent[] {
  const { data } = Initialized.safeParse(result)
  if (data === undefined) return broken(state, 'it does not speak version 1 of it')
  const { resumed, workspace } = state
  const { loadSession = false, mcpCapabilities } = data.agentCapabilities ?? {}
  const taken = state.mcpServers.filter(({ kind }) => kind === 'stdio' || mcpCapabilities?.http === true)
  const params = { cwd: workspace, mcpServers: taken.map(mcpServerOf) }
  if (resumed === null) return [{ type: 'write', text: asking(state, 'open', 'session/new', params) }]
  if (!loadSession) return ended(state, ownError('unknown_session', 'The agent cannot take up a session.'))
  const text = asking(state, 'open', 'session/load', { ...params, sessionId: resumed })
  return [{ type: 'write', text }]
}

function opened(state: State, result: unknown): readonly AgentEvent[] {
  const { data } = SessionOpened.safeParse(result ?? {})
  const { resumed, held } = state
  const session = data?.sessionId ?? resumed
  if (data === undefined || session === null || held === undefined)
    return broken(state, 'it opened no session')
  state.session = session
  const option = data.configOptions?.find(({ category }) => category === 'model')
  const model = option?.currentValue ?? data.models?.currentModelId
  if (typeof model === 'string') state.model = model
  if (resumed === null) return caughtUp(state)
  // After resuming, the agent may still be repeating the session's past. It does not know the method `_flightdeck/catch_up` and refuses it. This
  // refusal comes after the last repeated update.
  return [{ type: 'write', text: asking(state, 'catch_up', '_flightdeck/catch_up', {}) }]
}

function caughtUp(state: State): readonly AgentEvent[] {
  const { held } = state
  if (held === undefined) return []
  state.phase = 'ready'
  state.held = undefined
  return [{ type: 'write', text: promptOf(state, held) }, ...begun(state)]
}

function refused(
  state: State,
  what: Asked,
  { message, data }: { readonly message: string; readonly data?: unknown },
): readonly AgentEvent[] {
  if (what === 'catch_up') return caughtUp(state)
  if (what === 'open' && state.resumed !== null)
    return ended(state, ownError('unknown_session', 'The agent does not know the session any more.'))
  const more = data === undefined ? '' : ` ${JSON.stringify(data)}`
  return ended(state, errorOf(message, more, state.keyVariable))
}

/** Ends the turn, or a turn that could not begin, and returns its last events. */
function ended(state: State, error: AgentError | null): readonly AgentEvent[] {
  const { turn, session, held } = state
  const withdrawn = [...state.permissions.keys()].map((requestId): AgentEvent => ({
    type: 'question_withdrawn',
    requestId,
  }))
  state.permissions.clear()
  state.turn = undefined
  state.held = undefined
  const answered = turn?.messageId ?? held?.id
  const durationMs = turn === undefined ? 0 : Math.max(0, Math.round(state.now() - turn.begunAt))
  return [
    ...(turn?.end(error === null) ?? []),
    ...withdrawn,
    ...(error === null ? [] : [error]),
    {
      type: 'end',
      ok: error === null,
      sessionId: session,
      durationMs,
      turns: 1,
      answers: answered === undefined ? [] : [answered],
    },
  ]
}

function broken(state: State, how: string): readonly AgentEvent[] {
  // Between turns there is nobody to report the fault to.
  if (state.phase === 'ready' && state.turn === undefined) return []
  state.phase = 'broken'
  const message = `The agent does not keep to its protocol (ACP): ${how}.`
  return ended(state, ownError('other', message))
}

type Request = Extract<AcpLine, { type: 'request' }>

/**
 * Allows a request for permission if the mode or a rule allows it; otherwise passes it on to a person. Outside of a turn, and after an interrupt, it
 * is cancelled. Any other request is refused at once, so that the agent does not wait for ever.
 */
function requested(state: State, { id, method, params }: Request): readonly AgentEvent[] {
  const { data: request } = PermissionRequest.safeParse(params)
  const { turn, permissions, rules, asks, workspace } = state
  if (method !== 'session/request_permission' || request === undefined)
    return [{ type: 'write', text: refusalLine(id) }]
  if (turn === undefined || turn.isCancelled) return [{ type: 'write', text: cancelledLine(id) }]
  const wanted = turn.wants(request.toolCall)
  if (!asks || rules.has(ruleOf(request)))
    return [...wanted, { type: 'write', text: permissionLine(id, request, true) }]
  const requestId = `${turn.messageId}/${JSON.stringify(id)}`
  if (permissions.has(requestId)) return broken(state, 'it asked twice under one id')
  if (permissions.size >= mostAsked) return broken(state, 'it asks without end')
  permissions.set(requestId, { id, request })
  return [...wanted, { type: 'question', requestId, asked: [permissionAsked(request, workspace)] }]
}
