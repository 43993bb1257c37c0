/** Records what an agent reports as it comes: chat, tools, usage, terminal. */
import { AgentStarted, MessagePosted, ToolFinished, ToolStarted, UsageRecorded } from '#domain/task/events.ts'
import type { AgentName } from '#domain/agents.ts'
import type { Fence } from '#domain/task/commands.ts'
import type { AgentError, AgentEvent } from '../../agents/port.ts'
import { shortened } from '../../agents/shorten.ts'
import { createTerminal } from '../../agents/terminal.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import type { ChangesReport } from '../recording/changesReport.ts'
import type { MessageTexts } from '../recording/messageText.ts'
import type { Reporter } from '../recording/reporter.ts'
import type { RunOutput } from '../recording/terminalOutput.ts'

export interface EventRecorder {
  /** Records one event; resolves when the next may come. */
  record(event: AgentEvent): Promise<void>
  /** The end of the turn as the agent reported it; `undefined` until then. */
  ended(): { readonly ok: boolean; readonly error: AgentError | undefined } | undefined
  lastError(): AgentError | undefined
  /** The session that it named in this turn. */
  session(): string | undefined
}

/** Names that come out of the sandbox are kept short: they are stored unsealed in the log. */
const named = (name: string): string => name.slice(0, 200)

/** The terminal has all that a tool printed; the chat keeps this many characters of it. */
const keptOutput = 4_000
const keptInput = 4_000

interface RecordedTurn {
  readonly fence: Fence
  readonly agent: { readonly name: AgentName; readonly version: string; readonly resumed: boolean }
  readonly reporter: Reporter
  readonly output: RunOutput
  readonly texts: MessageTexts
  readonly changes: ChangesReport
  readonly redaction: Redaction
  /** Milliseconds of a clock that never goes back. */
  readonly elapsed: () => number
}

export function eventRecorder(turn: RecordedTurn): EventRecorder {
  const {
    fence: { executionId },
    reporter,
    output,
    texts,
    agent,
  } = turn
  const lines = createTerminal()
  const tools = toolRecorder(turn)
  let session: string | undefined
  let error: AgentError | undefined
  let end: { readonly ok: boolean } | undefined

  async function report(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case 'session': {
        if (session !== undefined) return
        const { name, version, resumed } = agent
        session = named(event.sessionId)
        const data = { executionId, agent: name, version, sessionId: session, resumed }
        return reporter.report(AgentStarted.of(data))
      }
      case 'text_delta':
        return texts.write(event.messageKey, event.text)
      case 'text': {
        // Every piece is recorded before the whole message: none comes after it.
        const messageId = await texts.finish(event.messageKey)
        const data = { messageId, messageType: 'response', agent: agent.name, executionId } as const
        if (event.text.trim() === '') return
        const message = await turn.redaction.text(event.text)
        return reporter.report(MessagePosted.of(data, { message }))
      }
      case 'tool_started':
        return tools.started(event)
      case 'tool_finished':
        return tools.finished(event)
      case 'usage': {
        const { type: _type, ...usage } = event
        return reporter.report(UsageRecorded.of({ executionId, ...usage, model: named(usage.model) }))
      }
      case 'error':
        error = event
        return
      case 'end':
        end = { ok: event.ok }
        return
      case 'unknown':
        return output.stderr.write(`${event.line}\n`)
      case 'thinking_delta':
      case 'thinking':
      case 'notice':
        return
    }
  }

  return {
    async record(event) {
      const text = lines(event)
      if (text !== '') await output.stdout.write(text)
      await report(event)
    },
    ended: () => end && { ok: end.ok, error },
    lastError: () => error,
    session: () => session,
  }
}

function toolRecorder({ fence: { executionId }, reporter, changes, redaction, elapsed }: RecordedTurn) {
  const startedAt = new Map<string, number>()
  return {
    async started(event: Extract<AgentEvent, { type: 'tool_started' }>): Promise<void> {
      const { kind, name } = event
      const toolId = named(event.toolId)
      startedAt.set(toolId, elapsed())
      const target = await redaction.text(event.target)
      const input = await redaction.text(shortened(event.input, keptInput))
      await reporter.report(ToolStarted.of({ executionId, toolId, kind }, { name, target, input }))
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
      await reporter.report(ToolFinished.of(data, { summary, output }))
    },
  }
}
