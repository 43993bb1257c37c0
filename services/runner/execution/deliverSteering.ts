/** Tells the agent what a person wants it to know while it works. */
import { taskStream } from '#domain/kernel/ids.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { messageFor, type AgentHome } from '../agents/images.ts'
import type { RunnerDeps } from '../deps.ts'
import type { AgentProcess } from './agent.ts'
import { imagesForAgent } from './messageImages.ts'
import type { Run } from './run.ts'

/** Until it is stopped. What could not be told waits in the queue as before, and is the next turn. */
export function steerTurn(
  deps: RunnerDeps,
  {
    run,
    taskId,
    process,
    home,
  }: {
    readonly run: Run
    readonly taskId: string
    readonly process: AgentProcess
    readonly home: AgentHome
  },
): { count(): number; stop(): void } {
  let count = 0
  const stop = run.steering.listen(async (messageId) => {
    try {
      const line = await lineFor(deps, { taskId, messageId, process, home })
      if (line === undefined || !process.steer(line)) return
      count += 1
      await run.reporter.delivered(messageId)
    } catch (fault) {
      deps.logger.warn({ err: fault, messageId }, 'failed to send a message to the running turn')
    }
  })
  return { count: () => count, stop }
}

/** The message as the agent takes it; `undefined` when it is gone. */
async function lineFor(
  deps: RunnerDeps,
  {
    taskId,
    messageId,
    process: { agent },
    home,
  }: {
    readonly taskId: string
    readonly messageId: string
    readonly process: AgentProcess
    readonly home: AgentHome
  },
): Promise<string | undefined> {
  const stream = taskStream(taskId)
  const id = messageDocumentId(taskId, messageId)
  const message = await deps.documents.asOf(chatView, stream, id, await deps.log.headOf(stream))
  if (typeof message?.message !== 'string') return undefined
  const images = await imagesForAgent(deps, taskId, message.images)
  return images && messageFor(agent, { text: message.message, images }, home)
}
