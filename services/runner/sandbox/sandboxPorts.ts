/** Lists the ports on which programs in the sandboxes of tasks listen, and connects to them. */
import { randomUUID } from 'node:crypto'
import type { RunningSandbox, SandboxPorts } from '#platform/ports/listeningPorts.ts'
import type { PausableSandbox } from './pausableSandboxes.ts'
import type { SandboxedProcess } from './port.ts'
import { connectToPort } from './portConnection.ts'

export function sandboxPorts({ ofTask }: Pick<PausableSandbox, 'ofTask'>): SandboxPorts {
  const known = new WeakMap<SandboxedProcess, RunningSandbox>()
  return {
    of: (taskId) =>
      ofTask(taskId).map(({ child, ownPorts }) => {
        const offered = known.get(child) ?? runningSandbox(child, ownPorts)
        known.set(child, offered)
        return offered
      }),
  }
}

function runningSandbox(
  child: Pick<SandboxedProcess, 'listening' | 'exec'>,
  ownPorts: readonly number[],
): RunningSandbox {
  const ports: RunningSandbox['ports'] = async () => {
    const listening = await child.listening()
    return listening.filter(({ port }) => !ownPorts.includes(port))
  }
  return {
    id: randomUUID(),
    ports,
    async connect(port) {
      // Without a sandbox, the loopback has the ports of the whole machine, so only ports of the task are offered.
      const isOffered = (await ports()).some((one) => one.port === port)
      return isOffered ? connectToPort(child, port) : undefined
    },
  }
}
