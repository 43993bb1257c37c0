/** One turn of the real `codex`, as the runner has it but for the sandbox. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import { codex } from '../../services/runner/agents/codex/codex.ts'
import { writeHome } from '../../services/runner/agents/home.ts'
import type { Located } from '../../services/runner/agents/locate.ts'
import type {
  AgentDialogue,
  AgentEvent,
  HomeFile,
  McpServerForAgent,
} from '../../services/runner/agents/port.ts'

interface Place {
  readonly program: Located
  readonly home: string
  readonly workspace: string
  /** Of the broker. */
  readonly origin: string
  /** Of the home. */
  readonly files: readonly HomeFile[]
}

export interface Ran {
  readonly events: readonly AgentEvent[]
  readonly exitCode: number | null
  readonly complaints: string
}

export interface TurnOptions {
  readonly resume?: string
  readonly model?: string | null
  readonly mode?: AgentMode
  readonly mcpServers?: readonly McpServerForAgent[]
  /** Beside those that the CLI is launched with. */
  readonly env?: Readonly<Record<string, string>>
  /** How it ends after its turn; its input is closed by default. */
  readonly ending?: NodeJS.Signals
  readonly onEvent?: (event: AgentEvent, dialogue: AgentDialogue, write: (line: string) => void) => void
}

/** One turn, as the runner has it but for the sandbox; `onEvent` may answer, steer or interrupt it. */
export async function codexTurn(
  { program, home, workspace, origin, files }: Place,
  text: string,
  { resume, model = null, mode = 'free', mcpServers = [], env = {}, ending, onEvent }: TurnOptions = {},
): Promise<Ran> {
  if (!program.found) throw new Error(program.reason)
  await writeHome(home, files, undefined, codex.ownFolders)
  const launch = codex.launch({
    binary: program.path,
    session: resume === undefined ? { kind: 'new', id: 'proposed' } : { kind: 'resume', id: resume },
    model: null,
    access: { kind: 'loopback', origin, runToken: 'token-of-this-run', scripted: false },
    isRoot: false,
    mode,
    allowedRules: [],
    mcpServers,
  })
  const child = spawn(launch.argv[0] ?? '', launch.argv.slice(1), {
    cwd: workspace,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, ...env, ...launch.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const dialogue = codex.dialogue({ model, mode, session: resume ?? null, workspace, mcpServers })
  const events: AgentEvent[] = []
  const write = (line: string) => child.stdin.writable && child.stdin.write(line)
  const take = (more: readonly AgentEvent[]) => {
    for (const event of more) {
      if (event.type === 'write') write(event.text)
      else events.push(event)
      onEvent?.(event, dialogue, write)
      if (event.type === 'end' && ending !== undefined) child.kill(ending)
      else if (event.type === 'end') child.stdin.end()
    }
  }
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => take(dialogue.push(chunk)))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaints += chunk))
  const exited = once(child, 'close')
  write(dialogue.message({ text, images: [], id: 'the-message' }))
  const [exitCode] = await exited
  take(dialogue.end())
  return { events, exitCode: typeof exitCode === 'number' ? exitCode : null, complaints }
}
