/** What an agent reports, written down as it comes: chat, tools, usage, terminal. */
import { AgentStarted, MessagePosted, ToolFinished, ToolStarted, UsageRecorded } from '#domain/task/events.ts'
import type { AgentName } from '#domain/agents.ts'
import type { Fence } from '#domain/task/commands.ts'
import type { AgentError, AgentEvent } from '../agents/port.ts'
import { shortened } from '../agents/shorten.ts'
import { createTerminal } from '../agents/terminal.ts'
import type { Redaction } from '../output/redaction.ts'
import type { ChangesReport } from './recording/changesReport.ts'
import type { MessageTexts } from './recording/messageText.ts'
import type { RunOutput } from './recording/terminalOutput.ts'
import type { Reporter } from './recording/reporter.ts'

export interface Listener {
  /** Writes one event down; resolves when there is room for the next. */
  hear(event: AgentEvent): Promise<void>
  /** The turn's end as the agent told it; `undefined` while it has not. */
  ended(): { readonly ok: boolean; readonly error: AgentError | undefined } | undefined
  lastError(): AgentError | undefined
  /** The session that it told of in this turn. */
  session(): string | undefined
}

/** Names that come out of the box are kept short: they stand open in the log. */
const named = (name: string): string => name.slice(0, 200)

/** What a tool printed stands whole in the terminal; the log keeps this much of it, in characters. */
const keptOutput = 4_000
const keptInput = 4_000

export function listener(run: {
  readonly fence: Fence
  readonly agent: { readonly name: AgentName; readonly version: string; readonly resumed: boolean }
  readonly reporter: Reporter
  readonly output: RunOutput
  readonly texts: MessageTexts
  readonly changes: ChangesReport
  readonly redaction: Redaction
  /** Milliseconds of a clock that never goes back. */
  readonly elapsed: () => number
}): Listener {
  const { fence, reporter, output, texts, changes, agent } = run
  const { executionId } = fence
  const lines = createTerminal()
  const startedAt = new Map<string, number>()
  const clean = (text: string) => run.redaction.text(text)
  let session: string | undefined
  let error: AgentError | undefined
  let end: { readonly ok: boolean } | undefined

  async function record(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case 'session': {
        if (session !== undefined) return
        const { name, version, resumed } = agent
        const sessionId = named(event.sessionId)
        session = sessionId
        return reporter.report(AgentStarted.of({ executionId, agent: name, version, sessionId, resumed }))
      }
      case 'text_delta':
        return texts.write(event.messageKey, event.text)
      case 'text': {
        // Every piece is recorded before the whole message, so that nothing of it comes after.
        const messageId = await texts.finish(event.messageKey)
        const data = { messageId, messageType: 'response', agent: agent.name, executionId } as const
        if (event.text.trim() === '') return
        return reporter.report(MessagePosted.of(data, { message: await clean(event.text) }))
      }
      case 'tool_started': {
        const { kind, name } = event
        const toolId = named(event.toolId)
        startedAt.set(toolId, run.elapsed())
        const target = await clean(event.target)
        const input = await clean(shortened(event.input, keptInput))
        return reporter.report(ToolStarted.of({ executionId, toolId, kind }, { name, target, input }))
      }
      case 'tool_finished': {
        const { ok, exitCode, additions, deletions } = event
        const toolId = named(event.toolId)
        const durationMs = Math.round(run.elapsed() - (startedAt.get(toolId) ?? run.elapsed()))
        startedAt.delete(toolId)
        changes.recordSoon()
        const summary = await clean(event.summary)
        const output = await clean(shortened(event.output, keptOutput))
        const data = { executionId, toolId, ok, durationMs, exitCode, additions, deletions }
        return reporter.report(ToolFinished.of(data, { summary, output }))
      }
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
    async hear(event) {
      const text = lines(event)
      if (text !== '') await output.stdout.write(text)
      await record(event)
    },
    ended: () => end && { ok: end.ok, error },
    lastError: () => error,
    session: () => session,
  }
}
