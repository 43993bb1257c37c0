/** The MCP servers of projects and people: a document for each project or person for which servers were ever chosen. */
import type { McpServer } from '../mcp/mcpServers.ts'
import { parseStream } from '../kernel/streams.ts'
import { isOneOf, type View, type ViewDocument } from './view.ts'

export interface McpServersDocument extends ViewDocument {
  readonly servers: readonly McpServer[]
}

const folded = [
  'ProjectMcpServersChosen',
  'PersonMcpServersChosen',
  'ProjectDeleted',
  'AccountDeleted',
] as const

export const mcpServersView: View<McpServersDocument> = {
  collection: 'mcpServers',
  version: 1,
  streams: ['project', 'user'],
  types: folded,
  indexes: [],
  touches: (event) => {
    const stream = parseStream(event.stream)
    return isOneOf(folded, event) && (stream.kind === 'project' || stream.kind === 'user') ? [stream.id] : []
  },
  evolve: (document, event, id) => {
    switch (event.type) {
      case 'ProjectMcpServersChosen':
      case 'PersonMcpServersChosen':
        return {
          id,
          position: document?.position ?? event.position,
          version: event.revision,
          servers: event.content?.servers ?? [],
        }
      case 'ProjectDeleted':
      case 'AccountDeleted':
        return undefined
      default:
        return document
    }
  },
}
