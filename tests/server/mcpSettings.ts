/** The settings of the two MCP servers that tests give to a project. */
import { localServer } from '../standins/mcp/localServer.ts'

/** A program in the sandbox, which tells the length of the secret `LOCAL_KEY`. */
export const localSettings = {
  name: 'local',
  enabled: true,
  toolsOff: [],
  kind: 'local' as const,
  command: '/opt/flightdeck/node',
  args: ['--input-type=module', '-e', localServer],
  secrets: ['LOCAL_KEY'],
}

/** A remote server that asks for a header. */
export const remoteSettings = (url: string, credential: string, toolsOff: string[] = []) => ({
  name: 'tiny',
  enabled: true,
  toolsOff,
  kind: 'remote' as const,
  url,
  auth: { kind: 'header' as const, name: 'Authorization', value: credential },
})
