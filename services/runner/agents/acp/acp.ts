/** Makes an `Agent` from an entry of `acpAgents`, for agents that speak the Agent Client Protocol (ACP). */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { agentConfigurations } from '#domain/agents/configuration.ts'
import { takesModel } from '#domain/agents/models.ts'
import type { AgentName } from '#domain/agents.ts'
import { instructionFiles } from '../home.ts'
import { locateProgram, withParts } from '../locate.ts'
import { ownServerName } from '../ownTools.ts'
import type { Agent } from '../port.ts'
import { acpDialogue } from './dialogue.ts'
import type { AcpEntry } from './acpEntry.ts'

export function acpAgent(name: AgentName, entry: AcpEntry): Agent {
  const { api, installation, packaged = () => [], part } = entry
  const configuration = agentConfigurations[name]
  const { program, variables } = configuration
  const wanted = (model: string | null) => (model !== null && takesModel(name, model) ? model : null)
  return {
    ...entry,
    name,
    // One session takes several prompts, one after the other.
    turns: 'many',
    images: 'inline',
    // The built-in scripted model knows only the tools of `claude`.
    access: api === null ? { kind: 'key' } : { kind: 'loopback', api, scripted: false },
    usage: 'metered',
    // ACP has no message by which an agent could report that it repeats a call to its model.
    retriesSilently: true,
    // The agent may wait for its own children after its input is closed, so it may not end by itself.
    leavesByItself: false,
    async locate(where) {
      const located = await locateProgram(
        configuration,
        where,
        packaged(process).flatMap(resolved),
        `The ${program} CLI is not installed. ${installation}, or set ${variables.program} to the path of the program.`,
      )
      return located.found && part !== undefined ? withParts(located, dirname(located.path), part) : located
    },
    home: (present, workspace, brought) =>
      entry.home(
        instructionFiles.filter((file) => present.has(file)).map((file) => `${workspace}/${file}`),
        brought,
        { workspace, heeded: entry.heededFiles?.filter((file) => present.has(file)) ?? [] },
      ),
    launch({ binary, model, mode, access, mcpServers = [] }) {
      if (access.kind === 'socket') throw new Error(`${name} does not reach its model over a socket.`)
      const [origin, token] = access.kind === 'key' ? ['', access.apiKey] : [access.origin, access.runToken]
      const {
        starter = [],
        arguments: rest,
        environment,
      } = entry.launch({ origin, token, model: wanted(model), mode, mcpServers })
      return { argv: [...starter, binary, ...rest], env: { NO_COLOR: '1', ...environment } }
    },
    dialogue: ({ mcpServers = [], ...request }) =>
      acpDialogue({
        ...request,
        mcpServers: mcpServers.filter(({ name }) => entry.setsOwnServer !== true || name !== ownServerName),
        model: wanted(request.model),
        keyVariable: variables.key,
      }),
    // On standard error, these agents print refused requests and parts of their own source code. Neither helps a person.
    shownStderr: () => '',
    // Always `null`: the agent reports faults in its answers. If it ends without an answer, the end of its standard error is shown instead.
    faultOf: () => null,
  }
}

function resolved(file: string): readonly string[] {
  try {
    return [createRequire(import.meta.url).resolve(file)]
  } catch {
    return []
  }
}
