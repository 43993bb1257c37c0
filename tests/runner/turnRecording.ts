/** Records what an agent reports during a turn of claude, in lists. */
import type { ProgressEvent } from '#domain/task/events.ts'
import { ToolImagesKept } from '#domain/task/toolImageEvents.ts'
import { eventRecorder, type EventRecorder } from '../../services/runner/execution/turn/agentEvents.ts'
import { turnMessages, type TurnMessages } from '../../services/runner/execution/turn/turnMessages.ts'

export interface TurnRecording {
  readonly recorder: EventRecorder
  readonly messages: TurnMessages
  readonly recorded: readonly ProgressEvent[]
  /** Whether the agent has begun the turn. */
  hasBegun(): boolean
  /** The ids of the messages that count as seen by the model. */
  readonly seen: readonly string[]
  /** The pieces of thoughts that viewers are sent. */
  readonly thought: readonly string[]
  readonly stderr: readonly string[]
  /** How many answers were reported as seen by the model. */
  answersSeen(): number
}

export function recordingOf(executionId: string, redacted = (text: string) => text): TurnRecording {
  const recorded: ProgressEvent[] = []
  const seen: string[] = []
  const thought: string[] = []
  let hasBegun = false
  let answersSeen = 0
  const stderr: string[] = []
  const messages = turnMessages()
  const nothing = async () => undefined
  const unused = () => {
    throw new Error('A recorder of events does not ask for this.')
  }
  const recorder = eventRecorder({
    fence: { executionId, attempt: 1 },
    messages,
    onBegun: () => void (hasBegun = true),
    onSeen: async (ids) => void seen.push(...ids),
    questions: { hear: nothing, seen: async () => void answersSeen++ },
    agent: { name: 'claude', version: '1', resumed: false },
    reporter: { report: async (...events) => void recorded.push(...events), delivered: unused, end: unused },
    output: {
      stdout: { write: nothing, end: nothing },
      stderr: { write: async (output) => void stderr.push(output.toString()), end: nothing },
      note: nothing,
      keepLast: unused,
      end: nothing,
    },
    texts: {
      write: nothing,
      think: async (_, text) => void thought.push(text),
      restart: nothing,
      finish: async (key) => ({ messageId: `message of ${key}`, recorded: Promise.resolve() }),
    },
    changes: { hide: unused, redaction: unused, record: unused, recordSoon: () => undefined, stop: unused },
    redaction: { stream: unused, text: async (text) => redacted(text), diff: unused },
    keepImages: async (toolId, base64) =>
      ToolImagesKept.of({ executionId, toolId, images: [], leftOut: base64.length }),
    elapsed: () => 0,
  })
  return {
    recorder,
    messages,
    recorded,
    hasBegun: () => hasBegun,
    seen,
    thought,
    stderr,
    answersSeen: () => answersSeen,
  }
}
