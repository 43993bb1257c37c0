/** The MCP servers that a project or a person has chosen. */
import { projectStream, userStream } from '#domain/kernel/streams.ts'
import type { McpServer } from '#domain/mcp/mcpServers.ts'
import { projectDecider } from '#domain/project/project.ts'
import { user } from '#domain/user/user.ts'
import type { Commands } from '#platform/commands/execute.ts'

export interface McpOwner {
  readonly of: 'project' | 'person'
  readonly id: string
}

/** The servers as recorded in the log; none when the owner no longer exists. */
export async function chosenServers(
  commands: Pick<Commands, 'load'>,
  { of, id }: McpOwner,
): Promise<readonly McpServer[]> {
  if (of === 'project') {
    const { state } = await commands.load(projectDecider, projectStream(id))
    return state.kind === 'project' ? state.mcpServers : []
  }
  const { state } = await commands.load(user, userStream(id))
  return state.kind === 'user' ? state.mcpServers : []
}
