/**
 * The dependencies of the runner's parts, in three sets: for recording, for workspaces and for agents. Each function takes the smallest set that it
 * needs.
 */
import type { RunLimits } from '#platform/config/config.ts'
import type { LogIdentity } from '#domain/log.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Projected } from '#platform/reads/projectionWait.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Installations } from '#platform/credentials/installations.ts'
import type { LiveWords } from '#platform/live/liveWords.ts'
import type { Logger } from '#platform/log.ts'
import type { CheckImage } from '#platform/images/reencode.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { Vault } from '#platform/ports/vault.ts'
import type { Emit } from '#platform/telemetry/telemetry.ts'
import type { ModelKeys } from '#platform/credentials/modelKeys.ts'
import type { ProjectSecrets } from '#platform/credentials/projectSecrets.ts'
import type { McpSignIns } from '#platform/mcp/signIns.ts'
import type { InstalledAgents } from './agents/installed.ts'
import type { Egress } from './egress/egress.ts'
import type { EnvironmentOptions } from './environment/layers.ts'
import type { RecordingAllowances } from './execution/recording/recordingAllowance.ts'
import type { Snapshots } from './execution/recording/snapshots.ts'
import type { Sandbox } from './sandbox/port.ts'
import type { Redaction } from './redaction/redaction.ts'
import type { TextThreads } from './redaction/textThreads.ts'
import type { Scratch } from './scratch.ts'
import type { Budgets } from './model/budget.ts'
import type { Abilities } from './workspace/abilities.ts'
import type { DiskWatch } from './workspace/diskWatch.ts'
import type { WorkspaceEviction } from './workspace/eviction.ts'
import type { openSurveys } from './workspace/git/repositorySurvey.ts'
import type { Git, HostGit } from './workspace/git/git.ts'
import type { WorkspaceLocks } from './workspace/locks.ts'
import type { CommitSigner } from './workspace/publish/commitIdentity.ts'
import type { Mirrors } from './workspace/git/mirror.ts'
import type { Workspace } from './workspace/workspace.ts'
import type { WorkspaceLimit } from './workspace/workspaceLimit.ts'
import type { Workspaces } from './workspace/workspaces.ts'

/** The databases, services and configuration that the runner is started with. */
export interface RunnerEngines {
  readonly commands: Commands
  readonly documents: Documents
  readonly projected: Pick<Projected, 'waitFor'>
  readonly log: EventLog
  readonly bus: Bus
  readonly words: LiveWords
  readonly jobs: Jobs
  readonly rpc: Rpc
  readonly blobs: SealedBlobs
  readonly logIdentity: LogIdentity
  readonly vault: Pick<Vault, 'getSecret' | 'open'>
  readonly access: HostAccess
  readonly accessControl: AccessControl
  readonly installations: Installations
  readonly projectSecrets: ProjectSecrets
  readonly mcpHeaders: ProjectSecrets
  readonly mcpSignIns: McpSignIns
  readonly modelKeys: ModelKeys
  readonly codeHost: CodeHost
  readonly ids: Ids
  readonly clock: Clock
  readonly logger: Logger
  readonly emit: Emit
}

/** The dependencies for reading about a run and recording its results. */
export interface RecordingDeps extends Pick<
  RunnerEngines,
  'commands' | 'documents' | 'projected' | 'log' | 'bus' | 'words' | 'blobs' | 'clock' | 'logger'
> {
  readonly runnerId: string
  readonly allowances: RecordingAllowances
  readonly redaction: (secrets: readonly string[]) => Redaction
  readonly textThreads: TextThreads
  readonly checkImage: CheckImage
}

/** A sandbox for agents and commands, or a sentence that says why there is none. */
export type AvailableSandbox = Sandbox | { readonly missing: string }

/** The dependencies for making, keeping and publishing workspaces. */
export interface WorkspaceDeps extends Pick<
  RunnerEngines,
  | 'documents'
  | 'accessControl'
  | 'access'
  | 'installations'
  | 'codeHost'
  | 'logger'
  | 'rpc'
  | 'logIdentity'
  | 'vault'
> {
  /** The product's address for links in texts at the code host; `null` when it is unknown here, or when readers there could not open it. */
  readonly publicAddress: string | null
  /** The domain of the email addresses by which the code host attributes commits to accounts. */
  readonly noreplyDomain: string
  /** Whether notes about the origin of lines are pushed with commits. */
  readonly originNotes: boolean
  /** Signs commits; `undefined` when commits are not signed. */
  readonly commitSigner: CommitSigner | undefined
  /** The folder that contains all mirrors and workspaces. */
  readonly root: string
  /** The `PATH` in which the runner finds programs of the host, such as git. */
  readonly path: string
  readonly git: HostGit
  /** Returns a git that may safely read what an agent wrote in a workspace. */
  readonly treeGitFor: (workspace: Workspace) => Git
  readonly snapshots: Snapshots
  readonly surveyOf: ReturnType<typeof openSurveys>
  readonly mirrors: Mirrors
  readonly workspaces: Workspaces
  readonly eviction: WorkspaceEviction
  /** The locks of workspaces. Whoever makes, changes or removes a task's workspace must hold its lock. */
  readonly locks: WorkspaceLocks
  readonly disk: DiskWatch
  /** The kernel's limit on the size of a workspace, if the file system supports one. */
  readonly limit: WorkspaceLimit
  readonly scratch: Scratch
  readonly sandbox: AvailableSandbox
  readonly environments: EnvironmentOptions
}

/** The dependencies for running agents and commands in sandboxes. */
export interface AgentDeps extends Pick<
  RunnerEngines,
  'commands' | 'projectSecrets' | 'mcpHeaders' | 'mcpSignIns' | 'modelKeys' | 'ids' | 'logger' | 'emit'
> {
  readonly isRoot: boolean
  readonly sandbox: AvailableSandbox
  /** Why only the scripted model may run here, in a sentence; `null` when real models may run. */
  readonly onlyScripted: string | null
  readonly installed: InstalledAgents
  readonly abilities: Abilities
  readonly limits: RunLimits
  readonly budgets: Budgets
  readonly egress: Egress
  readonly scratch: Scratch
  readonly textThreads: TextThreads
}
