/** Runs `claude`, Anthropic's coding agent, without its user interface; it reads messages from standard input. */
import { createRequire } from 'node:module'
import { claudeConfiguration } from '#domain/agents/claude.ts'
import { takesModel } from '#domain/agents/models.ts'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import { createClaudeParser } from './parser.ts'
import { answerLine, type ClaudeRequest } from './requests.ts'
import { claudeFolders, claudeHome } from './home.ts'
import { controlRequest, listLine, modelChooser, suggestedModels } from './models.ts'
import { scriptedModel } from '../../model/messages/scripted.ts'
import { locateProgram, type Located, type Machine, type WhereToLook } from '../locate.ts'
import { mcpCallTimeoutMs, ownToolTimeoutMs } from '../mcpTimeouts.ts'
import type { Agent, AgentMessage, McpServerForAgent } from '../port.ts'

/** How often claude repeats a failed call to the model's API. The pauses in between grow, and take about half a minute in all. */
const maxRetries = 6

/**
 * Tools that cannot work here. Between turns the agent is frozen, so nothing would wake it at a set time. A Git worktree of its own would show up as
 * thousands of new files in the changes of the task.
 */
export const toolsNotOffered = [
  'ScheduleWakeup',
  'CronCreate',
  'CronDelete',
  'CronList',
  'Monitor',
  'Workflow',
  'EnterWorktree',
  'ExitWorktree',
]

export const claude = {
  name: 'claude',
  turns: 'many',
  sessionFolders: ['.claude/projects'],
  images: 'inline',
  access: { kind: 'socket', api: 'messages', subscriptions: true },
  usage: 'told',
  locate: locateClaude,
  author: 'Claude <noreply@anthropic.com>',
  leavesByItself: true,
  home: claudeHome,
  ownFolders: claudeFolders,
  models: suggestedModels,
  choosesLive: true,
  launch({ binary, session, model, mode, allowedRules, access, isRoot, mcpServers = [] }) {
    if (access.kind !== 'socket') throw new Error("claude reaches its model over the broker's socket only.")
    return {
      argv: [
        binary,
        '-p',
        '--input-format',
        'stream-json',
        '--output-format',
        'stream-json',
        '--verbose',
        '--include-partial-messages',
        // Newer models leave out their thoughts without this option.
        '--thinking-display',
        'summarized',
        '--forward-subagent-text',
        ...modeArguments(mode, allowedRules),
        // With this option, claude asks us on standard output what it would ask a person at its own terminal.
        '--permission-prompt-tool',
        'stdio',
        // A repository's own settings can name another API address and commands to run, so claude may read only our settings.
        '--setting-sources',
        'user',
        '--strict-mcp-config',
        ...(mcpServers.length === 0 ? [] : ['--mcp-config', mcpConfig(mcpServers)]),
        '--disallowedTools',
        [...toolsNotOffered, ...mcpToolsOff(mcpServers)].join(','),
        session.kind === 'new' ? '--session-id' : '--resume',
        session.id,
        ...(access.scripted ? ['--model', scriptedModel] : modelArguments(model)),
      ],
      env: {
        ANTHROPIC_API_KEY: access.runToken,
        // claude connects to the socket below and never resolves this host name, so the address only has to be valid.
        ANTHROPIC_BASE_URL: 'http://gateway.internal',
        ANTHROPIC_UNIX_SOCKET: access.socketPath,
        // Otherwise claude collects garbage a second after its turn. As it is frozen by then, it would do that first when the next message comes.
        BUN_GC_TIMER_DISABLE: '1',
        // A process with background work would not end after its result.
        CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // Makes claude write its session before it reports the result, because claude is stopped right after the result.
        CLAUDE_CODE_EAGER_FLUSH: '1',
        // Without a terminal, claude keeps a to-do list only with this variable.
        CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
        CLAUDE_CODE_MAX_RETRIES: String(maxRetries),
        DISABLE_AUTOUPDATER: '1',
        ...(mcpServers.length > 0 && mcpEnvironment(access.runToken)),
        // As root, claude skips permissions only with this variable.
        ...(isRoot && { IS_SANDBOX: '1' }),
      },
    }
  },
  dialogue({ mode, model }) {
    const requests = new Map<string, ClaudeRequest>()
    return {
      ...createClaudeParser(undefined, requests),
      opening: listLine,
      choose: modelChooser(model),
      message: messageLine,
      interrupt: () => controlRequest('cancel', { subtype: 'interrupt' }),
      answer(requestId, answers) {
        const request = requests.get(requestId)
        return request === undefined || !requests.delete(requestId)
          ? ''
          : answerLine(requestId, request, answers, mode)
      },
    }
  },
  // Hides claude's warning that it does not know the scripted model, whose name is our own invention.
  shownStderr: (text, scripted) =>
    scripted ? text.replace(/^\[claude-code:unrecognized_model\].*\n?/gm, '') : text,
  // Always `null`: claude reports faults in its result. If claude ends without a result, the end of its standard error is shown instead.
  faultOf: () => null,
} satisfies Agent

/** The arguments for a mode. In the sandbox claude may do anything without asking, unless the person wants a plan first or wants to be asked. */
function modeArguments(mode: AgentMode, allowedRules: readonly string[]): readonly string[] {
  if (mode === 'free') return ['--dangerously-skip-permissions']
  // claude splits each argument after a closing bracket, so the rest of any other rule could allow a whole tool.
  const rules = allowedRules.filter((rule) => /^[\w-]+(\([^()]*\))?$/.test(rule))
  return [
    '--permission-mode',
    mode === 'plan' ? 'plan' : 'default',
    // Lets claude carry out an approved plan without asking again.
    '--allow-dangerously-skip-permissions',
    ...(rules.length === 0 ? [] : ['--allowedTools', ...rules]),
  ]
}

/** The line that sends a message to claude; images come before the text about them. */
function messageLine({ text, images, id }: AgentMessage): string {
  const content = [
    ...images.map(({ mediaType, base64 }) => ({
      type: 'image',
      source: { type: 'base64', media_type: mediaType, data: base64 },
    })),
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ]
  return `${JSON.stringify({ type: 'user', uuid: id, message: { role: 'user', content } })}\n`
}

const tokenVariable = 'FLIGHTDECK_MCP_TOKEN'

const mcpEnvironment = (runToken: string) => ({
  [tokenVariable]: runToken,
  // claude takes up to 5 s to agree on a protocol version and then opens a session. Our MCP gateway gives up on the session after 10 s and reports
  // the reason, so claude must wait longer than 15 s.
  MCP_TIMEOUT: '25000',
  MCP_TOOL_TIMEOUT: String(mcpCallTimeoutMs),
})

/**
 * The argument that configures the MCP servers. Other users of the machine can see it if there is no sandbox. So instead of secrets, it has the names
 * of the variables that hold them.
 */
function mcpConfig(servers: readonly McpServerForAgent[]): string {
  const entries = servers.map((server) => {
    if (server.kind === 'http')
      return [
        server.name,
        {
          type: 'http',
          url: server.url,
          headers: { Authorization: `Bearer \${${tokenVariable}}` },
          // Without a limit of its own, claude gives up a remote server that is silent for 5 minutes, whatever MCP_TOOL_TIMEOUT is. Its limits also
          // run while a form waits for a person, so the limit of our MCP gateway applies instead.
          timeout: ownToolTimeoutMs,
        },
      ] as const
    const { command, args, env } = server
    const named = Object.fromEntries(Object.keys(env).map((name) => [name, `\${${name}}`]))
    return [server.name, { type: 'stdio', command, args, env: named }] as const
  })
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) })
}

function mcpToolsOff(servers: readonly McpServerForAgent[]): readonly string[] {
  // claude knows a tool by its name with `_` in place of other characters.
  const known = (tool: string) => tool.replaceAll(/[^\w-]/g, '_')
  return servers.flatMap(({ name, toolsOff }) => toolsOff.map((tool) => `mcp__${name}__${known(tool)}`))
}

function modelArguments(model: string | null): readonly string[] {
  return model !== null && takesModel('claude', model) ? ['--model', model] : []
}

/**
 * Finds the program `claude`: at the configured path, else on `PATH`, else in the npm package that is installed with Flightdeck. Links in its path
 * are resolved.
 */
export function locateClaude(where: WhereToLook, machine: Machine = process): Promise<Located> {
  const notInstalled = `The claude CLI is not installed. Run npm install, or set ${claudeConfiguration.variables.program} to its path.`
  return locateProgram(claudeConfiguration, where, installed(machine), notInstalled)
}

/**
 * The paths of the program in the npm packages for this platform. There is one package for each C library. Even if several packages are installed,
 * only one of them has a program that starts.
 */
function installed({ platform, arch }: Machine): readonly string[] {
  const { resolve } = createRequire(import.meta.url)
  return ['', '-musl'].flatMap((library) => {
    try {
      return [resolve(`@anthropic-ai/claude-code-${platform}-${arch}${library}/claude`)]
    } catch {
      return []
    }
  })
}
