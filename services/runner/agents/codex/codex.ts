/** `codex`: OpenAI's coding agent, run headless, one process a turn. */
import { takesModel } from '#domain/task/agentModels.ts'
import type { Agent } from '../port.ts'
import { faultOf } from './fault.ts'
import { codexHome, tokenVariable } from './home.ts'
import { locateCodex } from './locate.ts'
import { createCodexParser } from './parser.ts'

/** Some that it offers; others can be asked for by their names. */
const models = [
  { name: 'gpt-6.1-sol', label: 'GPT-6.1 Sol' },
  { name: 'gpt-5.1-codex', label: 'GPT-5.1 Codex' },
  { name: 'gpt-5', label: 'GPT-5' },
]

export const codex = {
  name: 'codex',
  locate: locateCodex,
  author: 'Codex <noreply@openai.com>',
  dialogue: 'single',
  sessionFolders: ['.codex/sessions'],
  images: 'files',
  // It speaks HTTP only over TCP, not over a unix socket.
  access: { kind: 'loopback', api: 'responses' },
  // It reports what a whole session used, and not of which model.
  usage: 'metered',
  leavesByItself: true,
  home: codexHome,
  models,
  launch({ binary, session, model, access }) {
    if (access.kind !== 'loopback') throw new Error("codex reaches its model over the broker's port only.")
    return {
      argv: [
        binary,
        'exec',
        ...(session.kind === 'resume' ? ['resume'] : []),
        '--json',
        '--skip-git-repo-check',
        // The sandbox confines the agent; waiting for a person before each step would block it for ever.
        '--dangerously-bypass-approvals-and-sandbox',
        // Arguments win over every file, also over one that a repository brings.
        '--config',
        'model_provider="flightdeck"',
        '--config',
        `model_providers.flightdeck.base_url="${access.origin}/v1"`,
        ...(model !== null && takesModel('codex', model) ? ['--model', model] : []),
        ...(session.kind === 'resume' ? [session.id] : []),
        // The message is on standard input.
        '-',
      ],
      env: { [tokenVariable]: access.runToken, NO_COLOR: '1' },
    }
  },
  parser: (model) => createCodexParser({ model: model !== null && takesModel('codex', model) ? model : '' }),
  interrupt: () => null,
  shownStderr: (text) => text.replace(/^(?:warning: .*|.* ERROR codex_core::.*)\n?/gim, ''),
  faultOf,
} satisfies Agent
