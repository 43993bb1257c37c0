/** Records an agent's reports as they come: chat, tools, usage, terminal. */
import { randomUUID } from 'node:crypto'
import {
  AgentActedUnasked,
  AgentStarted,
  MessagePosted,
  ToolFinished,
  ToolStarted,
  UsageRecorded,
} from '#domain/task/events.ts'
import type { Payer } from '#domain/agentKeys.ts'
import { ContextMeasured } from '#domain/task/contextEvents.ts'
import { SubagentSaid } from '#domain/task/subagentEvents.ts'
import { ThinkingRecorded } from '#domain/task/thinkingEvents.ts'
import type { AgentName } from '#domain/agents.ts'
import type { Fence } from '#domain/task/commands.ts'
import type { AgentError, AgentEvent, SubagentWords } from '../../agents/port.ts'
import { shortened } from '../../agents/shorten.ts'
import { compacted, createTerminal } from '../../agents/terminalLines.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import type { ChangesReport } from '../recording/changesReport.ts'
import type { MessageTexts } from '../recording/messageText.ts'
import type { Reporter } from '../recording/reporter.ts'
import type { RunOutput } from '../recording/terminalOutput.ts'
import type { AgentQuestions } from './agentQuestions.ts'
import type { KeepToolImages } from './toolImages.ts'
import { showsModelContinued, type TurnMessages } from './turnMessages.ts'

export interface EventRecorder {
  /** Records one event; resolves when the next event may be recorded. */
  record(event: AgentEvent): Promise<void>
  /** The error with which the turn ended. If the turn has not ended, the last error that the agent reported. */
  lastError(): AgentError | undefined
  /** The id of the agent's session; `undefined` until the agent has begun the turn in it. */
  session(): string | undefined
}

/** Cuts a name from the sandbox to 200 characters. Such names are stored unencrypted in the log. */
const named = (name: string): string => name.slice(0, 200)

/** The number of characters of a tool's output that the chat keeps; of a command, the terminal has all output. */
const keptOutput = 4_000
const keptInput = 4_000
/** The number of characters of a to-do list that are kept: more than of other input, as it is shown as a list only if it is complete. */
const keptTodos = 16_384
/** The number of characters that are kept of a thought. */
const keptThought = 32_000
/** The number of characters that are kept of the texts that the agent wrote on its own. */
const keptUnasked = 16_000

interface RecordedTurn {
  readonly fence: Fence
  readonly messages: TurnMessages
  readonly onBegun: () => void
  readonly onSeen: (ids: readonly string[]) => Promise<void>
  readonly questions: Pick<AgentQuestions, 'hear' | 'seen'>
  readonly agent: {
    readonly name: AgentName
    readonly version: string
    readonly resumed: boolean
    readonly payer?: Payer
    readonly effort?: string
  }
  readonly reporter: Reporter
  readonly output: RunOutput
  readonly texts: MessageTexts
  readonly changes: ChangesReport
  readonly redaction: Redaction
  readonly keepImages: KeepToolImages
  /** Returns milliseconds of a clock that never goes back. */
  readonly elapsed: () => number
}

export function eventRecorder(turn: RecordedTurn): EventRecorder {
  const { reporter, output, texts, messages } = turn
  const { executionId } = turn.fence
  const lines = createTerminal()
  const tools = toolRecorder(turn)
  const thoughts = thoughtRecorder(turn)
  const measure = contextRecorder(turn)
  const unasked = unaskedRecorder(turn)
  const session = sessionRecorder(turn)
  let error: AgentError | undefined
  let ownError: AgentError | undefined

  async function report(event: AgentEvent): Promise<void> {
    const { takenUp, seen, isOwnEnd } = messages.hear(event)
    if (takenUp.length > 0) {
      await unasked.end()
      await session.begin()
      turn.onBegun()
    }
    if (seen.length > 0) await turn.onSeen(seen)
    if (showsModelContinued(event)) await turn.questions.seen()
    switch (event.type) {
      case 'taken_up':
        return
      case 'unasked':
        return unasked.begin()
      case 'session':
        session.opened(event)
        return unasked.isGoingOn() ? undefined : session.begin()
      case 'text_delta':
        return unasked.isGoingOn() ? undefined : texts.write(event.messageKey, event.text)
      case 'text_restarted':
        return texts.restart(event.messageKey)
      case 'text':
        return unasked.isGoingOn() ? unasked.say(event.text) : said(turn, event)
      case 'question':
      case 'question_withdrawn':
        return turn.questions.hear(event)
      case 'subagent_words':
        return unasked.isGoingOn() ? undefined : subagentSaid(turn, event)
      case 'tool_started':
        return tools.started(event)
      case 'tool_finished':
        return tools.finished(event)
      case 'usage':
        return reporter.report(usageOf(executionId, event))
      case 'error':
        error = event
        return
      case 'end':
        if (isOwnEnd) ownError = event.ok ? undefined : error
        else await unasked.end(true)
        return
      case 'unknown':
        // Unknown JSON, for example of a newer version of the agent, means nothing to a person, so it is not shown.
        return /^\s*[[{]/.test(event.line) ? undefined : output.stderr.write(`${event.line}\n`)
      case 'thinking_delta':
      case 'thinking':
        return unasked.isGoingOn() ? undefined : thoughts.hear(event)
      case 'context':
      case 'compacted':
        return measure(event)
      case 'notice':
      case 'write':
      case 'models':
        return
    }
  }

  return {
    async record(event) {
      const text = lines(event)
      if (text !== '') await output.stdout.write(text)
      await report(event)
    },
    lastError: () => (messages.hasEnded() ? ownError : error),
    session: session.id,
  }
}

function usageOf(executionId: string, { type: _type, ...usage }: Extract<AgentEvent, { type: 'usage' }>) {
  return UsageRecorded.of({ executionId, ...usage, model: named(usage.model) })
}

async function said(
  { fence: { executionId }, agent, reporter, texts, redaction }: RecordedTurn,
  { messageKey, text }: Extract<AgentEvent, { type: 'text' }>,
): Promise<void> {
  const { messageId, recorded } = await texts.finish(messageKey)
  if (text.trim() === '') return recorded
  const data = { messageId, messageType: 'response', agent: agent.name, executionId } as const
  // The last piece is being appended, so it comes before the whole message, and an embedded event store writes both to the disk together.
  await Promise.all([
    recorded,
    reporter.report(MessagePosted.of(data, { message: await redaction.text(text) })),
  ])
}

/**
 * Records how full the context is whenever its percentage, rounded to a whole number, changes. After a compaction the percentage is unknown, which is
 * recorded as `null`.
 */
function contextRecorder({ fence: { executionId }, reporter }: RecordedTurn) {
  let percent: number | null | undefined
  return async (event: Extract<AgentEvent, { type: 'context' | 'compacted' }>): Promise<void> => {
    if (event.type === 'compacted') {
      const about = { messageId: randomUUID(), messageType: 'system', agent: null, executionId } as const
      await reporter.report(MessagePosted.of(about, { message: compacted }))
    }
    const context = event.type === 'compacted' ? null : event.context
    const before = percent
    percent = context && Math.round((100 * context.usedTokens) / context.windowTokens)
    if (percent !== before) await reporter.report(ContextMeasured.of({ executionId, context }))
  }
}

/** Records once that the agent has started the turn. */
function sessionRecorder({ fence: { executionId }, agent, reporter }: RecordedTurn) {
  let opened: Extract<AgentEvent, { type: 'session' }> | undefined
  let session: string | undefined
  return {
    opened: (event: NonNullable<typeof opened>) => void (opened = event),
    async begin(): Promise<void> {
      if (session !== undefined || opened === undefined) return
      session = named(opened.sessionId)
      const { name, ...known } = agent
      const model = opened.model === '' ? {} : { model: named(opened.model) }
      await reporter.report(
        AgentStarted.of({ executionId, agent: name, sessionId: session, ...known, ...model }),
      )
    },
    id: () => session,
  }
}

/** Records what an agent does on its own, never as the answer to a message. */
function unaskedRecorder({ fence: { executionId }, agent, reporter, redaction }: RecordedTurn) {
  let pending: string | undefined
  return {
    isGoingOn: () => pending !== undefined,
    begin(): void {
      pending ??= ''
    },
    // Keeps more than is recorded, so that shortening shows that something is left out.
    say: (text: string) => void (pending = `${pending ?? ''}\n\n${text}`.trim().slice(0, 2 * keptUnasked)),
    /** Ends the record of what the agent did on its own. `happened` says that the agent did something, even if it never reported a beginning. */
    async end(happened = false): Promise<void> {
      const words = pending
      pending = undefined
      if (words === undefined && !happened) return
      const data = { executionId, messageId: randomUUID(), agent: agent.name }
      const text = await redaction.text(shortened(words ?? '', keptUnasked))
      await reporter.report(AgentActedUnasked.of(data, { said: text }))
    },
  }
}

/** Sends viewers a thought as it is written, and records it once it is complete. */
function thoughtRecorder({ fence, agent, reporter, texts, redaction, elapsed }: RecordedTurn) {
  const begunAt = new Map<string, number>()
  return {
    async hear({
      type,
      messageKey,
      text,
    }: Extract<AgentEvent, { type: 'thinking' | 'thinking_delta' }>): Promise<void> {
      const begun = begunAt.get(messageKey)
      if (type === 'thinking_delta') {
        begunAt.set(messageKey, begun ?? elapsed())
        return texts.think(messageKey, text)
      }
      begunAt.delete(messageKey)
      const { messageId, recorded } = await texts.finish(messageKey)
      await recorded
      if (text.trim() === '') return
      const durationMs = begun === undefined ? null : Math.max(0, Math.round(elapsed() - begun))
      const data = { executionId: fence.executionId, messageId, agent: agent.name, durationMs }
      await reporter.report(
        ThinkingRecorded.of(data, { text: await redaction.text(shortened(text, keptThought)) }),
      )
    },
  }
}

async function subagentSaid(
  { fence: { executionId }, agent, reporter, redaction }: RecordedTurn,
  { isThought, text, parentToolId }: SubagentWords,
): Promise<void> {
  const of = { executionId, messageId: randomUUID(), agent: agent.name, parentToolId: named(parentToolId) }
  // The last text of a sub-agent is also the output of its tool call, so both are cut to the same length.
  const words = { text: await redaction.text(shortened(text, keptOutput)) }
  await reporter.report(SubagentSaid.of({ ...of, isThought }, words))
}

function toolRecorder({
  fence: { executionId },
  reporter,
  changes,
  redaction,
  keepImages,
  elapsed,
}: RecordedTurn) {
  const startedAt = new Map<string, number>()
  return {
    async started(event: Extract<AgentEvent, { type: 'tool_started' }>): Promise<void> {
      const { kind, name } = event
      const toolId = named(event.toolId)
      startedAt.set(toolId, elapsed())
      const target = await redaction.text(event.target)
      const input = await redaction.text(shortened(event.input, kind === 'todo' ? keptTodos : keptInput))
      const parentToolId = event.parentToolId === null ? null : named(event.parentToolId)
      await reporter.report(
        ToolStarted.of({ executionId, toolId, kind, parentToolId }, { name, target, input }),
      )
    },
    async finished(event: Extract<AgentEvent, { type: 'tool_finished' }>): Promise<void> {
      const { ok, exitCode, additions, deletions } = event
      const toolId = named(event.toolId)
      const durationMs = Math.round(elapsed() - (startedAt.get(toolId) ?? elapsed()))
      startedAt.delete(toolId)
      changes.recordSoon()
      const summary = await redaction.text(event.summary)
      const output = await redaction.text(shortened(event.output, keptOutput))
      const data = { executionId, toolId, ok, durationMs, exitCode, additions, deletions }
      const finished = ToolFinished.of(data, { summary, output })
      if (event.images === undefined) return reporter.report(finished)
      await reporter.report(await keepImages(toolId, event.images), finished)
    },
  }
}
