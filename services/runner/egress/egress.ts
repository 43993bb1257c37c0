/** The way from sandboxes to the network (egress): opens it for each sandbox, knows which hosts the agents themselves need, and reports refusals. */
import type { AgentName } from '#domain/agents.ts'
import type { Logger } from '#platform/log.ts'
import type { Scratch } from '../scratch.ts'
import type { Refusal } from './proxyServer.ts'
import { openSandboxEgress, type EgressRequest, type SandboxEgress } from './sandboxEgress.ts'

export interface Egress {
  /** The hosts that the sandbox of each agent may reach, in addition to what the project allows. */
  readonly agentHosts: Readonly<Partial<Record<AgentName, readonly string[]>>>
  /** Whether a project may list `localhost`, and IP addresses of this machine and of private networks. */
  readonly mayReachPrivate: boolean
  /** The hosts on private networks that a project may list by name. */
  readonly privateHosts: readonly string[]
  /** Opens the way out of one sandbox of a task, and logs its first refusals and its traffic. Rejects when the proxy of the sandbox cannot listen. */
  open(
    request: Pick<EgressRequest, 'sandbox' | 'owner' | 'rules'> & { readonly taskId: string },
  ): Promise<SandboxEgress>
  /**
   * Reports refused connections of the task, until the returned function is called: `tell` gets a sentence for each destination and, after
   * `maxReported` of them, one for all others. Only the latest `tell` of a task is called.
   */
  onRefusalOf(taskId: string, tell: (sentence: string) => void): () => void
  /** Reports that a sandbox of the task was refused a connection. The sandbox may have been opened in an earlier run. */
  refused(taskId: string, refusal: Refusal): void
}

/** How many different destinations are reported in a run; after that, one sentence says that there are more. */
const maxReported = 20
/** How many refusals of a sandbox are logged. Further ones are counted. */
const maxLogged = 100

interface EgressOptions extends Pick<Egress, 'agentHosts' | 'mayReachPrivate' | 'privateHosts'> {
  /** The path of the executable `node`, which runs the relay in a sandbox. */
  readonly node: string
  readonly scratch: Scratch
  readonly logger: Pick<Logger, 'info'>
}

export function openEgress({ node, scratch, logger, ...reach }: EgressOptions): Egress {
  const listeners = new Map<string, (refusal: Refusal) => void>()
  const egress: Egress = {
    ...reach,
    async open({ taskId, ...request }) {
      let refusals = 0
      const opened = await openSandboxEgress({
        ...request,
        node,
        scratch,
        onRefusal(refusal) {
          refusals += 1
          if (refusals <= maxLogged) logger.info({ taskId, ...refusal }, 'connection from a sandbox refused')
          egress.refused(taskId, refusal)
        },
      })
      return {
        ...opened,
        async close() {
          const traffic = await opened.close()
          if (traffic.connections > 0 || refusals > 0)
            logger.info({ taskId, ...traffic, refusals }, 'connections from a sandbox')
          return traffic
        },
      }
    },
    onRefusalOf(taskId, tell) {
      const reported = new Set<string>()
      const report = ({ destination, why }: Refusal) => {
        const isNew = !reported.has(destination) && reported.size <= maxReported
        if (!isNew) return
        reported.add(destination)
        tell(
          reported.size > maxReported
            ? 'Further destinations were not reached.'
            : `${destination} was not reached: ${reasons[why]}.`,
        )
      }
      listeners.set(taskId, report)
      return () => {
        if (listeners.get(taskId) === report) listeners.delete(taskId)
      }
    },
    refused: (taskId, refusal) => listeners.get(taskId)?.(refusal),
  }
  return egress
}

const reasons = {
  not_allowed: "it is not among the hosts that the project's settings allow",
  inside: "it leads into the server's own network",
  only_git: 'of the local code host a sandbox reaches git alone, and only to read',
  other_repository: "a sandbox reads its project's repository, and those that the project's settings list",
  unreachable: 'there is no such host, or it does not answer',
  too_many: 'too many connections of the sandbox are open',
} as const
