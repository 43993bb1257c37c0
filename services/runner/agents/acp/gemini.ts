/** `gemini`: Google's open-source agent, with Google's models. */
import { ownToolTimeoutMs } from '../mcpTimeouts.ts'
import { ownServerName, ownServerPath } from '../ownTools.ts'
import type { AcpEntry } from './acpEntry.ts'

/**
 * Shell lines that rename gemini's stored conversations. gemini names the file of a conversation after the minute of its start. Resuming the
 * conversation within that minute would overwrite the file. gemini also finds a renamed file.
 */
const keepsSessions = `for file in "$HOME"/.gemini/tmp/*/chats/session-2*; do
  mv -n "$file" "\${file%session-*}session-kept-\${file##*-}"
done 2>/dev/null
exec "$0" "$@"`

/**
 * A repository may have settings, hooks, MCP servers and policies for gemini in this folder. gemini ignores the folder only in a repository that it
 * does not trust. But in such a repository it uses no MCP servers at all. So gemini is told to trust exactly the repositories without this folder.
 */
const settingsFolder = '.gemini'

export const gemini: AcpEntry = {
  author: 'Gemini CLI <noreply@google.com>',
  installation: 'Run npm install --global @google/gemini-cli',
  part: 'policies',
  api: 'gemini',
  models: [
    { name: 'gemini-3.1-pro-preview', label: 'Gemini 3.1 Pro' },
    { name: 'gemini-3.8-flash', label: 'Gemini 3.8 Flash' },
    { name: 'gemini-2.5-pro', label: 'Gemini 2.5 Pro' },
  ],
  sessionFolders: ['.gemini/tmp'],
  heededFiles: [settingsFolder],
  ownTools: ['ask_person', 'update_todo_list'],
  setsOwnServer: true,
  hidesTools: false,
  mcpLimit: `Gemini connects to none in a repository that has a folder ${settingsFolder}.`,
  home: (instructions, own, { workspace, heeded }) => [
    { path: '.gemini/settings.json', content: JSON.stringify(settings), onlyOnce: false },
    {
      path: '.gemini/trustedFolders.json',
      content: JSON.stringify({ [workspace]: heeded.length === 0 ? 'TRUST_FOLDER' : 'DO_NOT_TRUST' }),
      onlyOnce: false,
    },
    {
      path: '.gemini/GEMINI.md',
      content: `${own.instructions}\n\n${readThese(instructions)}`,
      onlyOnce: false,
    },
  ],
  launch: ({ origin, token, model }) => ({
    starter: ['/bin/sh', '-c', keepsSessions],
    arguments: ['--acp'],
    environment: {
      GEMINI_API_KEY: token,
      GOOGLE_GEMINI_BASE_URL: origin,
      GEMINI_CLI_NO_RELAUNCH: '1',
      ...(model !== null && { GEMINI_MODEL: model }),
    },
  }),
}

const noUpdates = { enableAutoUpdate: false, enableAutoUpdateNotification: false }

/** Tells gemini to read the instruction files. It does not read them by itself in a repository that it does not trust. */
const readThese = (instructions: readonly string[]): string =>
  `Read ${[...instructions, 'GEMINI.md (if the repository has it)'].join(' and ')} before you begin, and follow the instructions for this repository there.\n`

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: true } },
  advanced: { ignoreLocalEnv: true },
  general: { ...noUpdates, maxAttempts: 4, plan: { enabled: false }, topicUpdateNarration: false },
  // In a trusted repository, gemini would otherwise follow the repository's own skills.
  skills: { enabled: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // gemini does not report its own to-do list over ACP, so it uses the to-do list of our MCP server instead.
  useWriteTodos: false,
  mcpServers: {
    [ownServerName]: {
      httpUrl: `\${GOOGLE_GEMINI_BASE_URL}${ownServerPath}`,
      headers: { Authorization: 'Bearer ${GEMINI_API_KEY}' },
      // A server that a session names gets at most 10 minutes for a call. Only in these settings can our own server get more.
      timeout: ownToolTimeoutMs,
      // Our own server needs no permission in any mode.
      trust: true,
    },
  },
  // With this setting, gemini fetches pages from within the sandbox, so it reaches only hosts that the project allows.
  experimental: { directWebFetch: true },
}
