/**
 * Talks to `codex app-server`. The first message opens a thread, and is sent once the thread is open. A message during a turn steers that turn. After
 * a person approves a plan, codex begins another turn, and both count as one turn here. When codex breaks the protocol, its turn ends with an error,
 * and its further output is ignored.
 */
import type { AgentMode, Answer } from '#domain/task/questionEvents.ts'
import { bounded, planAsked } from '../questions.ts'
import { lineParser, mostAsked } from '../parser.ts'
import type {
  AgentDialogue,
  AgentError,
  AgentEvent,
  AgentMessage,
  DialogueRequest,
  FoundMcpServer,
  McpServerForAgent,
  ModelUse,
} from '../port.ts'
import { firstLine } from '../shorten.ts'
import { errorAfter, errorOf } from './fault.ts'
import {
  answerLine,
  noticeLine,
  readCodexLine,
  refusalLine,
  requestLine,
  ThreadOpened,
  TurnBegun,
  type CodexLine,
  type RequestId,
  type Told,
} from './lines.ts'
import { serverIn } from './mcp.ts'
import { modelsIn, taken } from './models.ts'
import { initialization, inputOf, textInput, threadParams, turnParams } from './params.ts'
import { afterPlan, askedIn, editRule, requestOf, resultOf, type CodexRequest } from './requests.ts'
import { turnReader, type TurnReader } from './turn.ts'

/** How many lines that do not belong to the protocol are skipped. The next such line ends the turn with an error. */
const toleratedLines = 20
/**
 * At most this many turns of codex are joined into one of our turns. codex begins a further turn when a plan is answered, or when a message comes
 * instead of the answer.
 */
const mostJoined = 1_000

type Asked =
  | { readonly kind: 'initialize' | 'models' | 'thread' | 'continue' | 'other' }
  | { readonly kind: 'server'; readonly name: string }
  | { readonly kind: 'turn'; readonly messageId: string }

/** One of our turns, which may consist of several turns of codex. */
interface Turn {
  reader: TurnReader
  /** The ids of the turns of codex that make up this turn; the current one is last. */
  ids: readonly string[]
  readonly begunAt: number
  takenUp: readonly string[]
  /** The ids of messages that are in the conversation, but to which the model has not reacted yet. */
  noted: readonly string[]
  plan: string
  /** The id of the question whether to approve the plan; `undefined` when no such question is open. */
  planQuestion: string | undefined
  /** Whether the person is asked about plans: `false` once a question about a plan was left without an answer. */
  asksPlans: boolean
}

interface State {
  readonly workspace: string
  readonly resumed: string | null
  readonly now: () => number
  /** The chosen model and effort. */
  use: ModelUse
  readonly mcpServers: readonly McpServerForAgent[]
  /** The MCP servers whose state codex has reported, by name. */
  readonly found: Map<string, FoundMcpServer>
  mode: AgentMode
  /** How far the dialogue with codex has come. In the phase `closed`, no more of codex's output is read. */
  phase: 'new' | 'opening' | 'ready' | 'closed'
  thread: string
  /** The model that codex uses by default. */
  defaultModel: string
  /** Our requests that codex has not answered yet. */
  readonly asked: Map<RequestId, Asked>
  lastId: number
  /** Messages that are kept until codex has a thread. */
  held: readonly AgentMessage[]
  /**
   * The messages that codex has not taken up, by id. The value is the id of the turn of codex that got the message, or `undefined` until codex has
   * named the turn.
   */
  readonly sent: Map<string, string | undefined>
  turn: Turn | undefined
  /** The ids of the turns of codex that made up our previous turn. */
  over: readonly string[]
  /** The requests of codex that have no answer yet, by the id of the question to the person. */
  readonly requests: Map<string, { readonly id: RequestId; readonly request: CodexRequest }>
  readonly rules: Set<string>
  strangeLines: number
}

/** Starts the dialogue. `now` returns milliseconds of a clock that never goes back. */
export function codexDialogue(
  {
    model,
    mode,
    session = null,
    workspace = '/workspace',
    allowedRules = [],
    mcpServers = [],
  }: DialogueRequest,
  now = () => performance.now(),
): AgentDialogue {
  const state: State = {
    workspace,
    resumed: session,
    now,
    use: { model: taken(model), effort: null },
    mcpServers,
    found: new Map(),
    mode,
    phase: 'new',
    thread: '',
    defaultModel: '',
    asked: new Map(),
    lastId: 0,
    held: [],
    sent: new Map(),
    turn: undefined,
    over: [],
    requests: new Map(),
    rules: new Set(allowedRules),
    strangeLines: 0,
  }
  const parser = lineParser({
    read: (text) => (state.phase === 'closed' ? 'silent' : readLine(state, text)),
    eventsOf: (line: CodexLine | typeof strange) => eventsOf(state, line),
    end: () => state.turn?.reader.end() ?? [],
  })
  return {
    ...parser,
    message(message) {
      if (state.phase === 'ready') return turnLine(state, message)
      state.held = [...state.held, message]
      if (state.phase !== 'new') return ''
      state.phase = 'opening'
      return asking(state, { kind: 'initialize' }, 'initialize', initialization)
    },
    choose(use) {
      state.use = { ...use, model: taken(use.model) }
      return ''
    },
    interrupt() {
      const { turn, thread } = state
      if (turn === undefined || turn.planQuestion !== undefined) return null
      return asking(state, { kind: 'other' }, 'turn/interrupt', { threadId: thread, turnId: turn.ids.at(-1) })
    },
    answer: (requestId, answers) => answered(state, requestId, answers),
  }
}

const strange = { type: 'strange' } as const

/** Reads a line. A few lines that are not of the protocol are `unknown`, since a library of codex may print them. Further ones are `strange`. */
function readLine(state: State, text: string): CodexLine | typeof strange | 'silent' | 'unknown' {
  const line = readCodexLine(text)
  if (line !== 'unknown') return line
  state.strangeLines += 1
  return state.strangeLines > toleratedLines ? strange : 'unknown'
}

function asking(state: State, asked: Asked, method: string, params: object): string {
  state.lastId += 1
  state.asked.set(state.lastId, asked)
  return requestLine(state.lastId, method, params)
}

/** The request that starts a turn, or steers the running one. */
function turnLine(state: State, message: AgentMessage): string {
  state.sent.set(message.id, undefined)
  return beginLine(state, { kind: 'turn', messageId: message.id }, inputOf(message))
}

function beginLine(state: State, asked: Asked, input: readonly object[]): string {
  const named = asked.kind === 'turn' && { clientUserMessageId: asked.messageId }
  const params = turnParams({ ...state, model: modelOf(state), effort: state.use.effort }, input)
  return asking(state, asked, 'turn/start', { ...params, ...named })
}

const modelOf = ({ use, defaultModel }: State): string => use.model ?? defaultModel

function eventsOf(state: State, line: CodexLine | typeof strange): readonly AgentEvent[] {
  switch (line.type) {
    case 'strange':
      return broken(state, 'it prints lines that are none of the protocol')
    case 'request':
      return requested(state, line)
    case 'told':
      return told(state, line.told)
    case 'answered':
    case 'refused': {
      const asked = state.asked.get(line.id)
      if (asked === undefined) return broken(state, 'it answered what was not asked, or twice')
      state.asked.delete(line.id)
      return line.type === 'refused' ? refused(state, asked, line.message) : done(state, asked, line.result)
    }
  }
}

function done(state: State, asked: Asked, result: unknown): readonly AgentEvent[] {
  switch (asked.kind) {
    case 'initialize':
      return [{ type: 'write', text: `${noticeLine('initialized')}${threadLine(state)}${modelsLine(state)}` }]
    case 'models': {
      const models = modelsIn(result)
      state.defaultModel = models.find(({ isDefault }) => isDefault)?.name ?? state.defaultModel
      return [...(models.length === 0 ? [] : [{ type: 'models', models } as const]), ...opened(state)]
    }
    case 'thread': {
      const { data } = ThreadOpened.safeParse(result)
      if (data === undefined) return broken(state, 'it opened no thread')
      state.thread = data.thread.id
      state.defaultModel ||= data.model
      return [...state.mcpServers.map(({ name }) => serverAsked(state, name)), ...opened(state)]
    }
    case 'server':
      state.found.set(asked.name, serverIn(result, asked.name))
      return opened(state)
    case 'turn': {
      const { data } = TurnBegun.safeParse(result)
      if (data === undefined) return broken(state, 'it did not say which turn it began')
      if (!state.sent.has(asked.messageId)) return []
      if (state.over.includes(data.turn.id)) return unanswered(state, [asked.messageId])
      state.sent.set(asked.messageId, data.turn.id)
      return []
    }
    case 'continue':
    case 'other':
      return []
  }
}

/** Asks codex for the state of one MCP server. If it were asked for all servers at once, it would start each of them again. */
function serverAsked(state: State, name: string): AgentEvent {
  const params = { threadId: state.thread, serverName: name, detail: 'toolsAndAuthOnly' }
  return { type: 'write', text: asking(state, { kind: 'server', name }, 'mcpServerStatus/list', params) }
}

const isOpening: ReadonlySet<Asked['kind']> = new Set(['models', 'thread', 'server'])

/**
 * Sends the held messages once codex has opened a thread, listed its models and started its MCP servers. Otherwise codex would wait for the servers
 * after the turn has begun.
 */
function opened(state: State): readonly AgentEvent[] {
  if (state.thread === '' || [...state.asked.values()].some(({ kind }) => isOpening.has(kind))) return []
  const { held } = state
  state.phase = 'ready'
  state.held = []
  return held.map((message) => ({ type: 'write', text: turnLine(state, message) }))
}

function modelsLine({ asked }: State): string {
  asked.set('models', { kind: 'models' })
  return requestLine('models', 'model/list', { limit: 50 })
}

/** The request that resumes a thread or starts a new one. */
function threadLine(state: State): string {
  const { resumed } = state
  const params = threadParams(state)
  return resumed === null
    ? asking(state, { kind: 'thread' }, 'thread/start', params)
    : asking(state, { kind: 'thread' }, 'thread/resume', { ...params, threadId: resumed, excludeTurns: true })
}

function refused(state: State, asked: Asked, message: string): readonly AgentEvent[] {
  switch (asked.kind) {
    case 'initialize':
    case 'thread': {
      const answers = state.held.map(({ id }) => id)
      state.phase = 'closed'
      return [errorOf(message), endOf(state, false, answers, 0)]
    }
    case 'models':
    case 'server':
      return done(state, asked, undefined)
    case 'turn':
      return [errorOf(message), ...unanswered(state, [asked.messageId])]
    case 'continue':
      return state.turn === undefined ? [] : ended(state, state.turn, errorOf(message))
    // codex refused an interrupt or a message, because it came after the end of the turn.
    case 'other':
      return []
  }
}

function endOf(state: State, ok: boolean, answers: readonly string[], durationMs: number): AgentEvent {
  return { type: 'end', ok, sessionId: state.thread, durationMs, turns: 1, answers }
}

/** Reports that messages were not answered, so that they are sent again in a later turn. */
function unanswered(state: State, ids: readonly string[]): readonly AgentEvent[] {
  for (const id of ids) state.sent.delete(id)
  return ids.length === 0 ? [] : [endOf(state, false, ids, 0)]
}

function told(state: State, line: Told): readonly AgentEvent[] {
  if (line.method === 'warning') return warned(line.params.message)
  // Threads that codex starts on its own are ignored.
  if (line.params.threadId !== state.thread) return []
  switch (line.method) {
    case 'turn/started':
      return begun(state, line.params.turn.id)
    case 'turn/completed':
      return completed(state, line.params.turn)
    case 'serverRequest/resolved': {
      const requestId = questionOf(line.params.requestId)
      return state.requests.delete(requestId) ? [{ type: 'question_withdrawn', requestId }] : []
    }
    default: {
      const { turn } = state
      if (turn === undefined) return []
      const item = line.method === 'item/completed' ? line.params.item : undefined
      if (item?.type === 'plan') turn.plan = item.text
      const events = turn.reader.read(line)
      const reached = events.some(({ type }) => isReaction.has(type)) ? takeUp(state, turn, turn.noted) : []
      const noted = item?.type === 'userMessage' ? note(state, turn, item.clientId) : []
      const excess = turn.reader.excess()
      return [...reached, ...events, ...noted, ...(excess === undefined ? [] : broken(state, excess))]
    }
  }
}

/** Makes a notice of a warning. Leaves out the warning that a model is not in codex's catalogue, because somebody chose that model. */
const warned = (message: string): readonly AgentEvent[] =>
  message.startsWith('Model metadata for ') ? [] : [{ type: 'notice', text: message }]

const isReaction: ReadonlySet<string> = new Set([
  'text_delta',
  'thinking_delta',
  'text',
  'thinking',
  'tool_started',
])

/**
 * Notes that a message is in the conversation. If it came during a turn, it may have come too late for the model. So it counts as taken up only when
 * the model reacts.
 */
function note(state: State, turn: Turn, id: string | null | undefined): readonly AgentEvent[] {
  if (id == null || !state.sent.has(id) || turn.noted.includes(id)) return []
  if (turn.takenUp.length === 0) return takeUp(state, turn, [id])
  turn.noted = [...turn.noted, id]
  return []
}

function takeUp(state: State, turn: Turn, messageIds: readonly string[]): readonly AgentEvent[] {
  if (messageIds.length === 0) return []
  for (const id of messageIds) state.sent.delete(id)
  turn.takenUp = [...turn.takenUp, ...messageIds]
  turn.noted = []
  return [{ type: 'taken_up', messageIds }]
}

function begun(state: State, id: string): readonly AgentEvent[] {
  const { turn, thread, found, mcpServers } = state
  const reader = turnReader(id, state.workspace)
  if (turn === undefined) {
    state.turn = {
      reader,
      ids: [id],
      begunAt: state.now(),
      takenUp: [],
      noted: [],
      plan: '',
      planQuestion: undefined,
      asksPlans: true,
    }
    const session = { type: 'session', sessionId: thread, model: modelOf(state) } as const
    const servers = mcpServers.flatMap(({ name }) => found.get(name) ?? [])
    return servers.length === 0 ? [session] : [{ type: 'mcp_servers', servers }, session]
  }
  // Another turn of codex has begun within our turn. If a question about a plan is still open, the person sent a message instead of an answer.
  const { planQuestion } = turn
  const left = turn.reader.end()
  const ids = [...turn.ids, id]
  Object.assign(turn, { reader, ids, plan: '', planQuestion: undefined })
  if (ids.length > mostJoined) return [...left, ...broken(state, 'it begins turns without end')]
  return planQuestion === undefined
    ? left
    : [...left, { type: 'question_withdrawn', requestId: planQuestion }]
}

type Completed = Extract<Told, { method: 'turn/completed' }>['params']['turn']

function completed(state: State, { id, status, error }: Completed): readonly AgentEvent[] {
  const { turn } = state
  if (turn === undefined || turn.ids.at(-1) !== id) return []
  const closed = [...turn.reader.end(), ...withdrawn(state)]
  if (status === 'completed' && state.mode === 'plan' && turn.plan !== '' && turn.asksPlans) {
    turn.planQuestion = `plan ${id}`
    const asked = [bounded(planAsked(turn.plan))]
    return [...closed, { type: 'question', requestId: turn.planQuestion, asked }]
  }
  return [...closed, ...ended(state, turn, errorAfter(status, error?.message))]
}

function withdrawn(state: State): readonly AgentEvent[] {
  const ids = [...state.requests.keys()]
  state.requests.clear()
  return ids.map((requestId) => ({ type: 'question_withdrawn', requestId }))
}

/** Ends our turn. The messages that codex took up count as answered. Messages that codex got without taking them up do not. */
function ended(state: State, turn: Turn, error: AgentError | null): readonly AgentEvent[] {
  state.turn = undefined
  state.over = turn.ids
  const given = [...state.sent].flatMap(([id, turnId = '']) =>
    turn.ids.includes(turnId) || turn.noted.includes(id) ? [id] : [],
  )
  for (const id of given) state.sent.delete(id)
  const durationMs = Math.max(0, Math.round(state.now() - turn.begunAt))
  const ok = error === null
  // Some versions of codex do not report which messages they take up. All messages of the turn then count as answered.
  const answered = ok && turn.takenUp.length === 0 ? given.splice(0) : turn.takenUp
  const end = endOf(state, ok, answered, durationMs)
  return [...(ok ? [] : [error]), end, ...unanswered(state, given)]
}

function broken(state: State, how: string): readonly AgentEvent[] {
  state.phase = 'closed'
  const message = `Codex does not keep to its protocol: ${how}.`
  const error = { type: 'error', code: 'other', message, httpStatus: null } as const
  const answers = [...state.held.map(({ id }) => id), ...state.sent.keys(), ...(state.turn?.takenUp ?? [])]
  const left = [...(state.turn?.reader.end() ?? []), ...withdrawn(state)]
  return [...left, error, endOf(state, false, answers, 0)]
}

type Request = Extract<CodexLine, { type: 'request' }>

const questionOf = (id: RequestId): string => `request ${id}`

/** Passes a request of codex on to a person. A request that no person has to answer is answered at once, so that codex does not wait for ever. */
function requested(state: State, { id, method, params }: Request): readonly AgentEvent[] {
  const { workspace, turn, mode, rules, requests } = state
  const request = requestOf(method, params, workspace, (item) => turn?.reader.changesOf(item))
  if (request === undefined) {
    const text = `Codex asked for ${firstLine(method)}, which is not supported here. It was refused.`
    return [
      { type: 'write', text: refusalLine(id) },
      { type: 'notice', text },
    ]
  }
  if (request.kind === 'permission') {
    const { allow, deny } = request.decisions
    if (rules.has(request.rule)) return [{ type: 'write', text: answerLine(id, allow) }]
    // While it plans, codex must change nothing.
    if (request.rule === editRule && mode === 'plan') return [{ type: 'write', text: answerLine(id, deny) }]
  }
  const requestId = questionOf(id)
  if (requests.has(requestId)) return broken(state, 'it asked twice under one id')
  if (requests.size >= mostAsked) return broken(state, 'it asks without end')
  requests.set(requestId, { id, request })
  return [{ type: 'question', requestId, asked: askedIn(request) }]
}

function answered(state: State, requestId: string, answers: readonly Answer[]): string {
  const { turn } = state
  if (turn !== undefined && turn.planQuestion === requestId) {
    const { mode, text } = afterPlan(answers[0])
    state.mode = mode
    turn.planQuestion = undefined
    turn.asksPlans = answers.length > 0
    return beginLine(state, { kind: 'continue' }, textInput(text))
  }
  const waiting = state.requests.get(requestId)
  if (waiting === undefined) return ''
  state.requests.delete(requestId)
  const { id, request } = waiting
  const { result, words, isForTask } = resultOf(request, answers)
  if (isForTask && request.kind === 'permission') state.rules.add(request.rule)
  const more = words === '' ? '' : beginLine(state, { kind: 'other' }, textInput(words))
  return `${answerLine(id, result)}${more}`
}
