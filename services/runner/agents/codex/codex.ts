/** Runs `codex`, OpenAI's coding agent, through its `codex app-server`. */
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { codexConfiguration } from '#domain/agents/codex.ts'
import { locateProgram, withParts, type Located, type Machine, type WhereToLook } from '../locate.ts'
import type { Agent } from '../port.ts'
import { codexDialogue } from './dialogue.ts'
import { faultOf } from './fault.ts'
import { codexHome, codexRules, codexSkills, tokenVariable } from './home.ts'
import { mcpArguments } from './mcp.ts'

export const codex = {
  name: 'codex',
  locate: locateCodex,
  author: 'Codex <noreply@openai.com>',
  turns: 'many',
  sessionFolders: ['.codex/sessions'],
  images: 'inline',
  // codex speaks HTTP only over TCP, not over a unix socket.
  access: { kind: 'loopback', api: 'responses' },
  // codex reports only the total of a session, without the model's name, so the broker counts the usage instead.
  usage: 'metered',
  leavesByItself: true,
  home: codexHome,
  ownFolders: [codexSkills, codexRules],
  // codex renames its models with every version, so no list of ours would stay right.
  models: [],
  choosesLive: true,
  launch({ binary, access, mcpServers = [] }) {
    if (access.kind !== 'loopback') throw new Error("codex reaches its model over the broker's port only.")
    return {
      argv: [
        binary,
        'app-server',
        // Settings in arguments override every settings file, including the repository's.
        '--config',
        'model_provider="flightdeck"',
        '--config',
        `model_providers.flightdeck.base_url="${access.origin}/v1"`,
        ...mcpArguments(mcpServers),
      ],
      env: { [tokenVariable]: access.runToken, NO_COLOR: '1' },
    }
  },
  dialogue: (request) => codexDialogue(request),
  shownStderr: (text) => text.replace(/^(?:warning: .*|.* ERROR (?:codex_core|rmcp)::.*)\n?/gim, ''),
  faultOf,
} satisfies Agent

/**
 * Finds the program `codex`: at the configured path, else on `PATH`, else in the npm package that is installed with Flightdeck. A script that only
 * starts the program is replaced by the program.
 */
export async function locateCodex(where: WhereToLook, machine: Machine = process): Promise<Located> {
  const notInstalled = `The codex CLI is not installed. Run npm install --global @openai/codex, or set ${codexConfiguration.variables.program} to its path.`
  const beside = installed(machine, import.meta.url)
  const located = await locateProgram(codexConfiguration, where, beside, notInstalled)
  if (!located.found) return located
  const [native = located.path] =
    basename(located.path) === 'codex.js' ? installed(machine, located.path) : []
  const found = { ...located, path: native, shown: native }
  return withParts(found, dirname(dirname(native)), 'codex-resources')
}

const triples: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}

/** The path of the program in the npm package for this platform. The package is looked up as the file `by` would import it. */
function installed({ platform, arch }: Machine, by: string): readonly string[] {
  const name = `${platform}-${arch}`
  try {
    const manifest = createRequire(by).resolve(`@openai/codex-${name}/package.json`)
    return [join(dirname(manifest), 'vendor', triples[name] ?? name, 'bin/codex')]
  } catch {
    return []
  }
}
