/** Steering: delivers messages to the turn that is running. */
import { taskStream } from '#domain/kernel/streams.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import type { AgentMessage } from '../../agents/port.ts'
import type { AgentDeps, RecordingDeps } from '../../deps.ts'
import { imagesForAgent } from './agentMessage.ts'
import type { AgentProcess } from './agentProcess.ts'
import type { DeliveryQueue } from '../control.ts'
import type { Reporter } from '../recording/reporter.ts'
import type { TurnMessages } from './turnMessages.ts'

type Deps = Pick<RecordingDeps, 'documents' | 'log' | 'blobs' | 'logger'> & Pick<AgentDeps, 'ids'>

interface SteeredTurn {
  readonly steering: DeliveryQueue
  readonly reporter: Reporter
  readonly taskId: string
  readonly process: AgentProcess
  readonly messages: TurnMessages
}

export interface Steering {
  /** Called when the agent has started the turn: from now on it gets the messages that steer. */
  begin(): void
  /** Called when the model has seen messages, which then count as delivered. */
  seen(ids: readonly string[]): Promise<void>
  stop(): void
}

/**
 * Sends messages to a turn that the agent has started, until it is stopped. Messages that the model has not seen by then stay in the queue and start
 * the next turn: the model may read a message twice, but none is lost.
 */
export function steerTurn(deps: Deps, turn: SteeredTurn): Steering {
  const { messages, process, reporter } = turn
  const sent = new Map<string, string>()
  let stop: (() => void) | undefined
  let isStopped = false

  async function send(messageId: string): Promise<void> {
    const id = deps.ids.uuid()
    const message = await steeringMessage(deps, turn, { messageId, id })
    if (message === undefined || !messages.add(id)) return
    sent.set(id, messageId)
    if (!process.steer(message)) messages.remove(id)
  }
  const logged = (messageId: string, step: Promise<void>) =>
    step.catch((fault: unknown) =>
      deps.logger.warn({ err: fault, messageId }, 'failed to send a message to the running turn'),
    )
  return {
    begin() {
      if (!isStopped) stop ??= turn.steering.listen((messageId) => logged(messageId, send(messageId)))
    },
    async seen(ids) {
      for (const id of ids) {
        const messageId = sent.get(id)
        if (messageId !== undefined) await logged(messageId, reporter.delivered(messageId))
      }
    },
    stop() {
      isStopped = true
      stop?.()
    },
  }
}

/** The message as the agent expects it; `undefined` when its text or one of its images no longer exists. */
async function steeringMessage(
  deps: Deps,
  { taskId }: SteeredTurn,
  { messageId, id }: { readonly messageId: string; readonly id: string },
): Promise<AgentMessage | undefined> {
  const stream = taskStream(taskId)
  const documentId = messageDocumentId(taskId, messageId)
  const message = await deps.documents.asOf(chatView, stream, documentId, await deps.log.headOf(stream))
  if (typeof message?.message !== 'string') return undefined
  const images = await imagesForAgent(deps, taskId, message.images)
  // Each agent that can be steered takes images in a message.
  return images && { text: message.message, images, id }
}
