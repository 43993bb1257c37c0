/**
 * Runs `cursor`, Cursor's coding agent, without its user interface, in one process per turn. Written from Cursor's documentation, without ever
 * running the program.
 */
import { dirname, join } from 'node:path'
import { cursorConfiguration } from '#domain/agents/cursor.ts'
import { takesModel } from '#domain/agents/models.ts'
import { locateProgram, withParts, type Located, type WhereToLook } from '../locate.ts'
import { faultOf } from './fault.ts'
import { createCursorParser } from './parser.ts'
import { oneTurnDialogue } from '../parser.ts'
import type { Agent } from '../port.ts'

/** Some of Cursor's models. Cursor itself decides which of them an account may use. */
const models = [
  { name: 'auto', label: 'Auto' },
  { name: 'composer-1', label: 'Composer 1' },
  { name: 'gpt-5', label: 'GPT-5' },
  { name: 'sonnet-4.5', label: 'Sonnet 4.5' },
  { name: 'sonnet-4.5-thinking', label: 'Sonnet 4.5, thinking' },
  { name: 'opus-4.1', label: 'Opus 4.1' },
]

export const cursor = {
  name: 'cursor',
  turns: 'one',
  sessionFolders: ['.cursor/chats'],
  images: 'files',
  instructions: 'message',
  access: { kind: 'key' },
  usage: 'told',
  locate: locateCursor,
  author: 'Cursor <cursoragent@cursor.com>',
  // The process sometimes hangs after its result.
  leavesByItself: false,
  // Cursor reads a repository's AGENTS.md and CLAUDE.md by itself. It also keeps state of its own in this settings file.
  home: () => [
    {
      path: '.cursor/cli-config.json',
      content: `${JSON.stringify(settings, null, 2)}\n`,
      onlyOnce: true,
    },
  ],
  models,
  launch({ binary, session, model, access }) {
    if (access.kind !== 'key') throw new Error('cursor reaches its model with its own key alone.')
    return {
      argv: [
        binary,
        '-p',
        '--output-format',
        'stream-json',
        '--stream-partial-output',
        // The sandbox confines the agent. An agent that waited for a person before each step would block for ever.
        '--force',
        ...(session.kind === 'resume' ? ['--resume', session.id] : []),
        ...(model !== null && takesModel('cursor', model) ? ['--model', model] : []),
      ],
      // Without this variable, Cursor's Node ignores the proxy, which is the only way out of the sandbox.
      env: { CURSOR_API_KEY: access.apiKey, NODE_USE_ENV_PROXY: '1', NO_COLOR: '1' },
    }
  },
  dialogue: () => oneTurnDialogue(createCursorParser()),
  shownStderr: (text) => text,
  faultOf,
} satisfies Agent

const settings = {
  version: 1,
  editor: { vimMode: false },
  permissions: { allow: [], deny: [] },
  // Cursor uses a proxy only with HTTP/1.
  network: { useHttp1ForAgent: true },
  // A task's commits belong to the person, who decides whom to credit.
  attribution: { attributeCommitsToAgent: false, attributePRsToAgent: false },
}

/**
 * Finds the program of Cursor: at the configured path, else on `PATH`, else where Cursor's installer puts it in the operator's home. The program is a
 * script that starts files beside it.
 */
export async function locateCursor(where: WhereToLook): Promise<Located> {
  const { program, variables } = cursorConfiguration
  const inHome = where.home ? [join(where.home, '.local/bin', program)] : []
  const notInstalled = `The cursor-agent CLI is not installed: get it with Cursor's own installer, or set ${variables.program} to the path of the program.`
  const located = await locateProgram(cursorConfiguration, where, inHome, notInstalled)
  return located.found ? withParts(located, dirname(located.path), 'index.js') : located
}
