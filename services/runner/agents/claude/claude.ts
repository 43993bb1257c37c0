/** `claude`: Anthropic's coding agent, run headless with its messages on standard input. */
import { createRequire } from 'node:module'
import { claudeConfiguration } from '#domain/agents/claude.ts'
import { takesModel } from '#domain/agents.ts'
import { createClaudeParser } from './parser.ts'
import { claudeHome } from './home.ts'
import { scriptedModel } from '../../model/messages/scripted.ts'
import { locateProgram, type Located, type Machine, type WhereToLook } from '../locate.ts'
import type { Agent } from '../port.ts'

/** Retries of the model's API within a turn; they wait longer each time, about half a minute in all. */
const maxRetries = 6

/**
 * Tools that cannot work here: between turns the agent is frozen, so nothing would wake it, and a worktree of its own would show up as thousands of
 * new files in the task's changes.
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

/** Its aliases: each follows the latest model of a family. */
const models = [
  { name: 'opus', label: 'Opus' },
  { name: 'sonnet', label: 'Sonnet' },
  { name: 'haiku', label: 'Haiku' },
  { name: 'opusplan', label: 'Opus to plan, Sonnet to code' },
  { name: 'sonnet[1m]', label: 'Sonnet, 1M context' },
]

export const claude = {
  name: 'claude',
  dialogue: 'open',
  sessionFolders: ['.claude/projects'],
  images: 'inline',
  access: { kind: 'socket', api: 'messages' },
  usage: 'told',
  locate: locateClaude,
  author: 'Claude <noreply@anthropic.com>',
  leavesByItself: true,
  home: claudeHome,
  models,
  launch({ binary, session, model, access, isRoot }) {
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
        // The sandbox confines the agent; waiting for a person before each step would block it for ever.
        '--dangerously-skip-permissions',
        // A repository's own settings can name another API address and hooks to run: only ours are read.
        '--setting-sources',
        'user',
        '--strict-mcp-config',
        '--disallowedTools',
        toolsNotOffered.join(','),
        session.kind === 'new' ? '--session-id' : '--resume',
        session.id,
        ...(access.scripted ? ['--model', scriptedModel] : modelArguments(model)),
      ],
      env: {
        ANTHROPIC_API_KEY: access.runToken,
        // Over the socket no name is looked up; this one only has to be valid.
        ANTHROPIC_BASE_URL: 'http://gateway.internal',
        ANTHROPIC_UNIX_SOCKET: access.socketPath,
        // A process with background work lives on after its result.
        CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // Writes the session before the result is reported, since the process is stopped right after that.
        CLAUDE_CODE_EAGER_FLUSH: '1',
        CLAUDE_CODE_MAX_RETRIES: String(maxRetries),
        DISABLE_AUTOUPDATER: '1',
        // As root it skips permissions only if this is set.
        ...(isRoot && { IS_SANDBOX: '1' }),
      },
    }
  },
  parser: () => createClaudeParser(),
  userMessage(text, images, id) {
    const content = [
      ...images.map(({ mediaType, base64 }) => ({
        type: 'image',
        source: { type: 'base64', media_type: mediaType, data: base64 },
      })),
      ...(text === '' ? [] : [{ type: 'text', text }]),
    ]
    return `${JSON.stringify({ type: 'user', uuid: id, message: { role: 'user', content } })}\n`
  },
  interrupt: (requestId) =>
    `${JSON.stringify({ type: 'control_request', request_id: requestId, request: { subtype: 'interrupt' } })}\n`,
  // Hides its warning about the name of the scripted model, which is ours.
  shownStderr: (text, scripted) =>
    scripted ? text.replace(/^\[claude-code:unrecognized_model\].*\n?/gm, '') : text,
  // Its faults are in its result; if there is none, its standard error explains best.
  faultOf: () => null,
} satisfies Agent

function modelArguments(model: string | null): readonly string[] {
  return model !== null && takesModel('claude', model) ? ['--model', model] : []
}

/** As configured, else on the path, else as installed with this program. The path is the file's own, without links. */
export function locateClaude(where: WhereToLook, machine: Machine = process): Promise<Located> {
  const notInstalled = `The claude CLI is not installed. Run npm install, or set ${claudeConfiguration.variables.program} to its path.`
  return locateProgram(claudeConfiguration, where, installed(machine), notInstalled)
}

/** The platform package holds the program itself, without any install script; where it is there for both C libraries, one of them starts. */
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
