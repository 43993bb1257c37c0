/** `opencode`: the open-source agent, with Anthropic's models. */
import type { McpServerForAgent } from '../port.ts'
import { mcpCallTimeoutMs, ownToolTimeoutMs } from '../mcpTimeouts.ts'
import { ownServerName, ownServerPath } from '../ownTools.ts'
import type { AcpEntry } from './acpEntry.ts'

const initialModel = 'claude-sonnet-5'

/** The permissions that deny the switched-off tools of a server. opencode names each tool after its server. */
const toolsOff = ({ name, toolsOff: off }: McpServerForAgent) =>
  off.map((tool) => [`${name}_${tool.replaceAll(/[^\w-]/g, '_')}`, 'deny'] as const)

export const opencode: AcpEntry = {
  author: 'opencode <noreply@opencode.ai>',
  installation: 'Run npm install --global opencode-ai',
  packaged: ({ platform, arch }) =>
    ['', '-baseline', '-musl'].map((kind) => `opencode-${platform}-${arch}${kind}/bin/opencode`),
  api: 'messages',
  models: [
    { name: 'claude-opus-5-5', label: 'Claude Opus 5.5' },
    { name: initialModel, label: 'Claude Sonnet 5' },
    { name: 'claude-haiku-4-5', label: 'Claude Haiku 4.5' },
  ],
  // opencode keeps its sessions in a database in this folder. Its log and other state are elsewhere.
  sessionFolders: ['.local/share/opencode'],
  ownFolders: ['.config/opencode', '.opencode'],
  ownTools: ['ask_person'],
  // Whatever its settings say, opencode loads the plugins that these files and folders of a repository contain.
  refusedFiles: ['.opencode', 'opencode.json', 'opencode.jsonc'],
  home: (instructions, own) => [
    { path: '.config/opencode/opencode.json', content: JSON.stringify({ instructions }), onlyOnce: false },
    { path: '.config/opencode/AGENTS.md', content: own.instructions, onlyOnce: false },
  ],
  launch({ origin, token, model, mode, mcpServers }) {
    const chosen = model ?? initialModel
    const others = mcpServers.filter(({ name }) => name !== ownServerName)
    const onAsking = mode === 'ask' ? 'ask' : 'allow'
    const settings = {
      model: `anthropic/${chosen}`,
      enabled_providers: ['anthropic'],
      // opencode accepts a model that is not in its catalogue if the settings name it here.
      provider: {
        anthropic: { options: { baseURL: `${origin}/v1`, apiKey: token }, models: { [chosen]: {} } },
      },
      permission: {
        edit: onAsking,
        bash: onAsking,
        webfetch: onAsking,
        // The last rule that matches counts. Our own server's rule comes first, because it also matches a server whose name begins with the same
        // word.
        [`${ownServerName}_*`]: 'allow',
        ...Object.fromEntries(others.map(({ name }) => [`${name}_*`, onAsking])),
        ...Object.fromEntries(mcpServers.flatMap(toolsOff)),
      },
      experimental: { mcp_timeout: mcpCallTimeoutMs },
      // The session connects our own MCP server. But only these settings can say how long opencode waits for the answers of this server.
      mcp: {
        [ownServerName]: {
          type: 'remote',
          url: `${origin}${ownServerPath}`,
          enabled: false,
          timeout: ownToolTimeoutMs,
        },
      },
      share: 'disabled',
      // opencode need not keep snapshots of the files, because Flightdeck does.
      snapshot: false,
    }
    const environment = {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settings),
      // Otherwise the repository's own settings could name programs to run and another address for the model.
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_PURE: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    }
    return { arguments: ['acp'], environment }
  },
}
