/** What the runner works with, found and opened once. */
import type { AgentName } from '#domain/agents.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { ModelConfig, RunLimits } from '#platform/config/config.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { Entry } from '#platform/entry/entry.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { LiveWords } from '#platform/eventlog/liveWords.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { Emit } from '#platform/telemetry/telemetry.ts'
import type { ProjectSecrets } from '#platform/credentials/projectSecrets.ts'
import type { Located } from './agents/locate.ts'
import type { Egress } from './egress/egress.ts'
import type { Allowances } from './execution/recording/recordingAllowance.ts'
import type { DiskWatch } from './workspace/diskWatch.ts'
import type { WarmAgents } from './prewarm/warmAgents.ts'
import type { Sandbox } from './sandbox/port.ts'
import type { Redaction } from './output/redaction.ts'
import type { TextThreads } from './output/textThreads.ts'
import type { Scratch } from './scratch.ts'
import type { Budgets } from './broker/budget.ts'
import type { BoxUsers } from './workspace/sandboxUsers.ts'
import type { CheckCheckout } from './workspace/git/checkoutLimits.ts'
import type { HostGit } from './workspace/git/git.ts'
import type { WorkspaceLocks } from './workspace/locks.ts'
import type { Mirrors } from './workspace/git/mirror.ts'
import type { WorkspaceEviction } from './workspace/eviction.ts'
import type { Workspace } from './workspace/workspace.ts'

/** The engines that the runner uses. */
export interface RunnerEngines {
  readonly commands: Commands
  readonly documents: Documents
  readonly log: EventLog
  readonly bus: Bus
  readonly words: LiveWords
  readonly jobs: Jobs
  readonly rpc: Rpc
  readonly blobs: SealedBlobs
  readonly access: HostAccess
  readonly entry: Entry
  readonly projectSecrets: ProjectSecrets
  readonly codeHost: CodeHost
  readonly ids: Ids
  readonly clock: Clock
  readonly logger: Logger
  readonly emit: Emit
}

/** What workspaces and agents are made with. */
export interface WorkspaceDeps extends RunnerEngines {
  readonly runnerId: string
  /** No other runner has this queue. */
  readonly isAlone: boolean
  /** Mirrors and workspaces are below it. */
  readonly root: string
  /** PATH. */
  readonly path: string
  readonly isRoot: boolean
  readonly git: HostGit
  readonly mirrors: Mirrors
  readonly checkCheckout: CheckCheckout
  readonly eviction: WorkspaceEviction
  readonly boxUsers: BoxUsers
  /** Whoever makes, uses or takes away a task's workspace holds it. */
  readonly locks: WorkspaceLocks
  readonly disk: DiskWatch
  /** The box, or the sentence that says why there is none. */
  readonly sandbox: Sandbox | { readonly missing: string }
  readonly model: ModelConfig
  readonly located: (agent: AgentName) => Promise<Located>
  /** The keys of agents that take theirs into the box; what has none here cannot run. */
  readonly agentKeys: Readonly<Partial<Record<AgentName, string>>>
  readonly limits: RunLimits
  readonly budgets: Budgets
  /** What runs may record. */
  readonly allowances: Allowances
  readonly egress: Egress
  readonly scratch: Scratch
  /** Hides these secrets. */
  readonly redaction: (secrets: readonly string[]) => Redaction
  readonly textThreads: TextThreads
  readonly warm: WarmAgents
}

/** Workspaces that were made before their tasks. */
export interface Prewarm {
  /**
   * The workspace that was made for this task before it was there; `undefined` when there is none, or it was made for another project,
   * branch or person: it is gone then.
   */
  adopt(task: TaskDocument): Promise<Workspace | undefined>
  /** Takes away all that no task has taken up. */
  close(): Promise<void>
}

export interface RunnerDeps extends WorkspaceDeps {
  readonly prewarm: Prewarm
}
