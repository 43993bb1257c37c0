/** The `claude` CLI alone, with the arguments that the runner gives it, asking the model's stand-in directly. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { claude } from '../../../services/runner/agents/claude.ts'
import { locateClaude } from '../../../services/runner/agents/locate.ts'
import { within } from '../../product/live.ts'
import { environment } from '../project.ts'
import type { Scene } from '../row.ts'

/** A turn of the CLI, in times of `performance.now()`. */
export interface BareTurn {
  readonly startedAt: number
  readonly firstLineAt: number
  readonly firstWordAt: number
  /** The pieces of text as they came out. */
  readonly texts: readonly { readonly at: number; readonly text: string }[]
}

const turnWithinMs = 30_000

const TextDelta = z.object({
  type: z.literal('stream_event'),
  event: z.object({ delta: z.object({ type: z.literal('text_delta'), text: z.string() }) }),
})

/** Starts the CLI with a message, and ends it after its answer. */
export async function bareTurn(scene: Scene, modelUrl: string, message: string): Promise<BareTurn> {
  const located = await claudeHere()
  const home = await mkdtemp(join(scene.folder, 'claude-'))
  const { argv, env } = claude.launch({
    binary: located,
    session: { kind: 'new', id: randomUUID() },
    model: null,
    access: { kind: 'broker', socketPath: '', runToken: 'sk-ant-bench', scripted: false },
  })
  const { ANTHROPIC_UNIX_SOCKET: _socket, ...rest } = env
  const [program = '', ...args] = argv
  const startedAt = performance.now()
  const child = spawn(program, args, {
    cwd: home,
    // As root it only skips permissions when it is told that it is in a box.
    env: environment(home, { ...rest, ANTHROPIC_BASE_URL: modelUrl, IS_SANDBOX: '1' }),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  scene.atEnd(async () => child.kill('SIGKILL'))
  const gone = once(child, 'close')
  child.stdin.write(claude.userMessage(message, []))
  let firstLineAt: number | undefined
  const texts: { at: number; text: string }[] = []
  createInterface(child.stdout).on('line', (line) => {
    const at = performance.now()
    firstLineAt ??= at
    const value: unknown = JSON.parse(line)
    const delta = TextDelta.safeParse(value)
    if (delta.success) texts.push({ at, text: delta.data.event.delta.text })
    if (Result.safeParse(value).success) child.stdin.end()
  })
  await within(turnWithinMs, 'The bare CLI does not end', gone)
  const firstWordAt = texts[0]?.at
  if (firstLineAt === undefined || firstWordAt === undefined) throw new Error('The bare CLI said nothing.')
  return { startedAt, firstLineAt, firstWordAt, texts }
}

const Result = z.object({ type: z.literal('result') })

async function claudeHere(): Promise<string> {
  const located = await locateClaude({ configured: undefined, path: process.env['PATH'] ?? '' })
  if (!located.found) throw new Error(located.reason)
  return located.path
}
