/** Steering: delivers messages to the turn that is running. */
import { taskStream } from '#domain/kernel/streams.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { messageFor, type AgentHome } from '../../agents/images.ts'
import type { RecordingDeps } from '../../deps.ts'
import { imagesForAgent } from './agentMessage.ts'
import type { AgentProcess } from './agentProcess.ts'
import type { SteeringQueue } from '../control.ts'
import type { Reporter } from '../recording/reporter.ts'

type Deps = Pick<RecordingDeps, 'documents' | 'log' | 'blobs' | 'logger'>

interface SteeredTurn {
  readonly steering: SteeringQueue
  readonly reporter: Reporter
  readonly taskId: string
  readonly process: AgentProcess
  readonly home: AgentHome
}

/** Delivers messages to a running turn until it is stopped. What could not be delivered stays in the queue and becomes the next turn. */
export function steerTurn(deps: Deps, turn: SteeredTurn): { count(): number; stop(): void } {
  let count = 0
  const stop = turn.steering.listen(async (messageId) => {
    try {
      const line = await lineFor(deps, turn, messageId)
      if (line === undefined || !turn.process.steer(line)) return
      count += 1
      await turn.reporter.delivered(messageId)
    } catch (fault) {
      deps.logger.warn({ err: fault, messageId }, 'failed to send a message to the running turn')
    }
  })
  return { count: () => count, stop }
}

/** The message in the form that the agent takes; `undefined` when it is gone. */
async function lineFor(
  deps: Deps,
  { taskId, process: { agent }, home }: SteeredTurn,
  messageId: string,
): Promise<string | undefined> {
  const stream = taskStream(taskId)
  const id = messageDocumentId(taskId, messageId)
  const message = await deps.documents.asOf(chatView, stream, id, await deps.log.headOf(stream))
  if (typeof message?.message !== 'string') return undefined
  const images = await imagesForAgent(deps, taskId, message.images)
  return images && messageFor(agent, { text: message.message, images }, home)
}
