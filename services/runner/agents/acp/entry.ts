/** What has to be known of an agent that speaks ACP, besides its name and abilities (domain/agents): data, and how it is told its settings. */
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { OwnInstructions } from '#domain/user/instructions.ts'
import type { ModelApiName } from '../../model/apis.ts'
import type { Machine } from '../locate.ts'
import type { Agent, HomeFile } from '../port.ts'

/**
 * An entry of `acpAgents`. Its program is looked for as its configuration names it. It works in the sandbox with its own files and terminals: of what
 * ACP offers to a client, only permissions are served. Held by tests/server/acpRuns.spec.ts, where each entry does the same task.
 */
export interface AcpEntry extends Pick<
  Agent,
  'author' | 'models' | 'sessionFolders' | 'ownFolders' | 'refusedFiles'
> {
  /** How it is installed, in a sentence without a full stop. */
  readonly installation: string
  /** Programs in npm packages beside this one, most wanted first; none by default. */
  packaged?(machine: Machine): readonly string[]
  /** What its model speaks. `null`: the agent asks it by itself, with the key, and its configuration names the `hosts` that its sandbox may reach. */
  readonly api: ModelApiName | null
  /** The files of its home. `instructions`: the paths of those that the repository has, as the sandbox shows them; `own`: what the person adds. */
  home(instructions: readonly string[], own: OwnInstructions): readonly HomeFile[]
  /** With which arguments it speaks ACP on standard input and output, and which variables tell it where its model is and how freely it works. */
  launch(start: AcpStart): {
    readonly arguments: readonly string[]
    readonly environment: Readonly<Record<string, string>>
  }
}

export interface AcpStart {
  /** Where the broker is, without a path; empty for an agent that asks its model by itself. */
  readonly origin: string
  /** What lets it in: the run's token, or the key of an agent that asks by itself. */
  readonly token: string
  /** The model that a person chose, where it is one of this agent's; else `null`. */
  readonly model: string | null
  /** One that its abilities name, or `free`: then it must not ask. */
  readonly mode: AgentMode
}
