/**
 * The type of an entry of `acpAgents`: how an agent that speaks ACP is installed, configured and launched. Its name and abilities are in
 * domain/agents.
 */
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { OwnInstructions } from '#domain/user/instructions.ts'
import type { ModelApiName } from '../../model/apis.ts'
import type { Machine } from '../locate.ts'
import type { Agent, HomeFile, McpServerForAgent } from '../port.ts'

/**
 * One agent of `acpAgents`. The agent reads files and runs commands in the sandbox by itself; over ACP it only asks us for permissions.
 * tests/server/acpRuns.spec.ts runs the same task with each agent.
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
  /** A sentence without a full stop that says how to install the agent. */
  readonly installation: string
  /** Paths of the program in npm packages that may be installed beside Flightdeck, the preferred one first; none by default. */
  packaged?(machine: Machine): readonly string[]
  /**
   * A file or folder that the program needs beside it. If it exists, the sandbox shows the whole folder of the program instead of the program alone.
   */
  readonly part?: string
  /** Set when the agent's settings in its home name our own MCP server. The sessions then do not name that server again. */
  readonly setsOwnServer?: true
  /**
   * The API over which the agent reaches its model through the broker. `null`: the agent calls its model itself with the real key, and its
   * configuration in domain/agents names the variable for the `hosts` that its sandbox may reach.
   */
  readonly api: ModelApiName | null
  /**
   * The files of the agent's home. `instructions` are the paths of the repository's instruction files in the sandbox. `own` are the person's own
   * instructions. `heeded` are the files of `heededFiles` that the repository has.
   */
  home(
    instructions: readonly string[],
    own: OwnInstructions,
    repository: { readonly workspace: string; readonly heeded: readonly string[] },
  ): readonly HomeFile[]
  /**
   * How the program is started: the arguments that make it speak ACP on standard input and output, and the environment variables for its model and
   * mode.
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
  /** How freely the agent may act. In the mode `free` it must not ask a person. */
  readonly mode: AgentMode
  /** The MCP servers that the session will be told about. */
  readonly mcpServers: readonly McpServerForAgent[]
}
