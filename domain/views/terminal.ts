/** The events of the terminal's stream as the API shows them. The server reads this stream directly from the log, without documents. */
import type { MessageDelta, TerminalOutput } from '../api/chat.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { parseStream } from '../kernel/streams.ts'
import type { TerminalEvent } from '../task/terminalEvents.ts'

type Output = Extract<RecordedOf<TerminalEvent>, { type: 'TerminalOutputRecorded' | 'ShellOutputRecorded' }>
type Delta = Extract<RecordedOf<TerminalEvent>, { type: 'MessageTextRecorded' }>

/** The output as `getTerminal` lists it, and as the socket sends it with `terminal_output`. */
export function terminalOutputOf(event: Output): TerminalOutput {
  return {
    taskId: taskOf(event.stream),
    timestamp: event.at,
    content: event.content?.text ?? '',
    ...sourceOf(event),
    position: event.position,
    version: event.revision,
  }
}

/** Where the output comes from. For a shell, `executionId` is the id of the shell. */
function sourceOf(event: Output): Pick<TerminalOutput, 'type' | 'executionId' | 'shell'> {
  if (event.type === 'TerminalOutputRecorded')
    return { type: event.data.channel, executionId: event.data.executionId }
  const { shellId, rows, columns, ended } = event.data
  return {
    type: 'stdout',
    executionId: shellId,
    shell: { rows, columns, ...(ended !== null && { ended }) },
  }
}

/** The piece of a message as the socket sends it with `chat_message_delta`. */
export function messageDeltaOf(event: Delta): MessageDelta {
  return {
    taskId: taskOf(event.stream),
    messageId: event.data.messageId,
    offset: event.data.offset,
    text: event.content?.text ?? '',
    executionId: event.data.executionId,
    position: event.position,
    version: event.revision,
  }
}

function taskOf(stream: string): string {
  const name = parseStream(stream)
  return name.kind === 'terminal' ? name.id : ''
}
