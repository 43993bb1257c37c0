/**
 * What an agent that speaks ACP needs besides its name and abilities (those are in domain/agents): its description as data, and how it gets its
 * settings.
 */
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { OwnInstructions } from '#domain/user/instructions.ts'
import type { ModelApiName } from '../../model/apis.ts'
import type { Machine } from '../locate.ts'
import type { Agent, HomeFile, McpServerForAgent } from '../port.ts'

/**
 * An entry of `acpAgents`. Its program is found by its configuration. It works in the sandbox with its own files and terminals: of what ACP offers to
 * a client, we serve only permissions. tests/server/acpRuns.spec.ts runs the same task with each entry.
 */
export interface AcpEntry extends Pick<
  Agent,
  | 'author'
  | 'models'
  | 'sessionFolders'
  | 'ownFolders'
  | 'refusedFiles'
  | 'heededFiles'
  | 'ownTools'
  | 'hidesTools'
  | 'mcpLimit'
> {
  /** How to install the agent, in a sentence without a full stop. */
  readonly installation: string
  /** Paths of the program in npm packages that may be installed beside Flightdeck, the preferred one first; none by default. */
  packaged?(machine: Machine): readonly string[]
  /** A file or folder that a complete installation has beside the program. If it exists, the agent sees the whole folder of the program. */
  readonly part?: string
  /** Whether the agent gets our own MCP server from its settings in the home: then its sessions are not told about it. */
  readonly setsOwnServer?: true
  /**
   * The API of the agent's model. With `null` the agent calls its model itself, with the key, and its configuration names the `hosts` that its
   * sandbox may reach.
   */
  readonly api: ModelApiName | null
  /**
   * The files of the agent's home. `instructions` are the paths in the sandbox of the repository's instruction files, and `heeded` are the paths of
   * those `heededFiles` that the repository has. `own` has the person's own instructions.
   */
  home(
    instructions: readonly string[],
    own: OwnInstructions,
    repository: { readonly workspace: string; readonly heeded: readonly string[] },
  ): readonly HomeFile[]
  /**
   * The arguments with which the agent speaks ACP on standard input and output, and the variables that tell it where its model is and how freely it
   * works.
   */
  launch(start: AcpStart): {
    /** A command that starts the agent and gets the agent's own command line as further arguments; none by default. */
    readonly starter?: readonly string[]
    readonly arguments: readonly string[]
    readonly environment: Readonly<Record<string, string>>
  }
}

export interface AcpStart {
  /** The broker's address without a path; empty for an agent that calls its model itself. */
  readonly origin: string
  /** The run's token for the broker, or the key of an agent that calls its model itself. */
  readonly token: string
  /** The model that a person chose, if it belongs to this agent; otherwise `null`. */
  readonly model: string | null
  /** A mode that the agent's abilities name, or `free`, in which it must not ask. */
  readonly mode: AgentMode
  /** The MCP servers that the session will be told about. */
  readonly mcpServers: readonly McpServerForAgent[]
}
