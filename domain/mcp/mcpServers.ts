/** MCP servers that a project or a person gives their agents. The values of headers and the tokens of sign-ins are in the vault and in no event. */
import { z } from 'zod'

const common = {
  id: z.uuid(),
  name: z.string(),
  enabled: z.boolean(),
  /** The names of tools that no agent gets. */
  toolsOff: z.array(z.string()),
}

/** A program that the agent starts in its sandbox. */
const LocalServer = z.object({
  ...common,
  kind: z.literal('local'),
  command: z.string(),
  args: z.array(z.string()),
  /** The names of the project's secrets that the program gets as variables. */
  secrets: z.array(z.string()),
})

/** A server with an address, which is called from outside of the sandbox. */
const RemoteServer = z.object({
  ...common,
  kind: z.literal('remote'),
  url: z.string(),
  auth: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('none') }),
    z.object({ kind: z.literal('header'), name: z.string() }),
    /** A person signs in at the MCP server. `clientId` is the OAuth client to use; `null` when Flightdeck registers a client by itself. */
    z.object({ kind: z.literal('oauth'), clientId: z.string().nullable() }),
  ]),
})

export const McpServer = z.discriminatedUnion('kind', [LocalServer, RemoteServer])
export type McpServer = z.infer<typeof McpServer>
