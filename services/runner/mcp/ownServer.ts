/**
 * Our own MCP server, which agents reach through the gateway (gateway.ts). Its tools ask the person and keep a to-do list, for agents that have no
 * such tools themselves. Each call becomes events of the turn. The server has no sessions, and sends nothing unasked.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Answer } from '#domain/task/questionEvents.ts'
import { bounded, option, plain } from '../agents/questions.ts'
import { ownServerName, type OwnTool } from '../agents/ownTools.ts'
import { mostAsked, mostTools } from '../agents/parser.ts'
import type { AgentEvent } from '../agents/port.ts'
import { shortJson } from '../agents/shorten.ts'
import { finishedTool } from '../agents/tools.ts'
import { messageIn, refuse } from './gateway.ts'
import type { Message } from './messages.ts'

export interface OwnServer {
  /** Answers a request whose token the caller has checked. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Begins to pass the events of calls to `hear`. `null` ends the turn: calls that still wait for a person are told that the turn is over. */
  follow(hear: Hear | null): void
  /** Gives the agent the answers to its question; returns `false` when the agent no longer waits for the answers. */
  answer(requestId: string, answers: readonly Answer[]): boolean
  /** Whether the agent has asked for the list of this server's tools. */
  isListed(): boolean
}

type Hear = (event: AgentEvent) => Promise<void>

const AskPerson = z.object({
  question: z.string().trim().min(1).describe('The question, with all that the person needs to answer it.'),
  options: z
    .array(z.object({ label: z.string().min(1), description: z.string().default('') }))
    .default([])
    .describe('Answers to choose from, if there are some. The person can always write another.'),
  multiple: z.boolean().default(false).describe('Whether several options may be chosen.'),
})
const Todo = z.object({ content: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })
const UpdateTodoList = z.object({ todos: z.array(Todo) })

const described = {
  ask_person: {
    description:
      'Asks the person who gave you this task, and waits for the answer, which may take hours. Use it for a decision or a fact that you need and cannot find out by yourself; do not guess it. Do not ask for what the task or the files already say.',
    input: AskPerson,
  },
  update_todo_list: {
    description:
      'Shows the person your to-do list. Use it for work of several steps: send the list before you begin, and the whole list again whenever the status of a step changes.',
    input: UpdateTodoList,
  },
} as const satisfies Record<OwnTool, { description: string; input: z.ZodType }>

/** How often a comment shows the agent's client that its call is still open: some clients give up after 5 minutes of silence. */
const heartbeatIntervalMs = 30_000

/** A call that has asked a question and waits for the answers. */
interface Waiting {
  readonly messageId: Message['id']
  readonly response: ServerResponse
}

interface Turn {
  readonly waiting: Map<string, Waiting>
  hear: Hear | null
  calls: number
}

export function ownServer(tools: readonly OwnTool[]): OwnServer {
  const turn: Turn = { waiting: new Map(), hear: null, calls: 0 }
  let isListed = false
  return {
    async serve(request, response) {
      if (request.method !== 'POST') return refuse(response, 405, 'This server sends nothing unasked.')
      const sent = await messageIn(request)
      if (typeof sent === 'string') return refuse(response, 400, 'Send one message of MCP as JSON.')
      const { message } = sent
      switch (message.method) {
        case 'initialize':
          return answer(response, message.id, { result: introduced(message) })
        case 'ping':
          return answer(response, message.id, { result: {} })
        case 'tools/list':
          isListed = true
          return answer(response, message.id, { result: { tools: tools.map(listed) } })
        case 'tools/call':
          return call(turn, tools, message, response)
        case 'notifications/cancelled':
          await withdraw(turn, message.params?.['requestId'])
      }
      if (message.id != null) return answer(response, message.id, notOffered)
      response.writeHead(202).end()
    },
    follow(hear) {
      turn.hear = hear
      turn.calls = 0
      if (hear !== null) return
      for (const { messageId, response } of turn.waiting.values())
        answer(response, messageId, resultOf('The turn is over.', true))
      turn.waiting.clear()
    },
    answer(requestId, answers) {
      const one = turn.waiting.get(requestId)
      turn.waiting.delete(requestId)
      if (one === undefined || one.response.destroyed) return false
      const words = inWords(answers)
      answer(one.response, one.messageId, resultOf(words ?? 'Nobody can answer this.', words === undefined))
      return true
    },
    isListed: () => isListed,
  }
}

/** Thrown when a call is refused; the model gets its message. */
class Refused extends Error {
  override readonly name = 'Refused'
}

async function call(
  turn: Turn,
  tools: readonly OwnTool[],
  { id, params }: Message,
  response: ServerResponse,
): Promise<void> {
  const tool = tools.find((name) => name === params?.name)
  try {
    turn.calls += 1
    if (turn.calls > mostTools) throw new Refused('This was called too often in one turn.')
    if (turn.hear === null) throw new Refused('No turn is running.')
    if (tool === undefined) throw new Refused('There is no such tool.')
    const input: unknown = params?.['arguments']
    if (tool === 'ask_person')
      return await ask({ ...turn, hear: turn.hear }, { messageId: id, response }, input)
    await noteTodos(turn.hear, input)
    answer(response, id, resultOf('The person sees the list.'))
  } catch (fault) {
    if (fault instanceof z.ZodError) return answer(response, id, resultOf(z.prettifyError(fault), true))
    const why = fault instanceof Refused ? fault.message : 'This could not be recorded. Go on without it.'
    answer(response, id, resultOf(why, true))
  }
}

async function ask(
  { waiting, hear }: Turn & { readonly hear: Hear },
  one: Waiting,
  input: unknown,
): Promise<void> {
  const { question, options, multiple } = AskPerson.parse(input)
  if (waiting.size >= mostAsked) throw new Refused('Too many questions wait for an answer.')
  const { response } = one
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const heartbeat = setInterval(() => response.write(':\n\n'), heartbeatIntervalMs)
  response.once('close', () => clearInterval(heartbeat))
  const asked = bounded({
    ...plain,
    kind: 'question',
    multiple,
    title: question,
    options: options.map(({ label, description }) => ({ ...option(label, label), description })),
  })
  const requestId = `ask-${randomUUID()}`
  waiting.set(requestId, one)
  try {
    await hear({ type: 'question', requestId, asked: [asked] })
  } catch (fault) {
    waiting.delete(requestId)
    throw fault
  }
}

async function noteTodos(hear: Hear, input: unknown): Promise<void> {
  const { todos } = UpdateTodoList.parse(input)
  const toolId = `todos-${randomUUID()}`
  const started = { type: 'tool_started', toolId, parentToolId: null, kind: 'todo', name: 'Todo' } as const
  await hear({ ...started, target: '', input: shortJson({ todos }) })
  await hear(finishedTool(toolId, true))
}

/** Withdraws the question of a call that the agent cancels. */
async function withdraw({ waiting, hear }: Turn, messageId: unknown): Promise<void> {
  const [requestId, one] = [...waiting].find(([, { messageId: id }]) => id === messageId) ?? []
  if (requestId === undefined) return
  waiting.delete(requestId)
  one?.response.end()
  await hear?.({ type: 'question_withdrawn', requestId })
}

const notOffered = { error: { code: -32_601, message: 'This is not offered here.' } }

const introduced = ({ params }: Message) => ({
  protocolVersion: params?.['protocolVersion'] ?? '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: ownServerName, version: '1' },
})

const listed = (name: OwnTool) => ({
  name,
  description: described[name].description,
  inputSchema: z.toJSONSchema(described[name].input, { io: 'input' }),
})

const resultOf = (text: string, isError = false) => ({
  result: { content: [{ type: 'text', text }], isError },
})

function inWords([given]: readonly Answer[]): string | undefined {
  if (given === undefined) return undefined
  const words = [...given.choices, given.text].filter((word) => word.trim() !== '').join(', ')
  // gemini misreads a text that is JSON, such as a number, so the answer begins with words.
  return `The person answers: ${words}`
}

/** Answers a message: as JSON, or as the last event if the response is already a stream. */
function answer(response: ServerResponse, id: Message['id'], outcome: object): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id: id ?? null, ...outcome })
  if (response.headersSent) return void response.end(`event: message\ndata: ${text}\n\n`)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
