/** The `claude` CLI alone, with the arguments that the runner uses, which calls the model's stand-in directly. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { claude } from '../../../services/runner/agents/claude/claude.ts'
import type { LaunchRequest } from '../../../services/runner/agents/port.ts'
import { locateClaude } from '../../../services/runner/agents/claude/claude.ts'
import { within } from '../../product/live.ts'
import { environment } from '../project.ts'
import { makeSampleRepository } from '../repository.ts'
import type { Scene } from '../row.ts'

/** A turn of the CLI, with times of `performance.now()`. */
export interface BareTurn {
  readonly startedAt: number
  readonly firstLineAt: number
  readonly firstWordAt: number
  /** The pieces of text in the order in which they were printed. */
  readonly texts: readonly { readonly at: number; readonly text: string }[]
  /** The complete messages in the order in which they were printed. */
  readonly messages: readonly { readonly at: number; readonly text: string }[]
}

const turnWithinMs = 30_000

const TextDelta = z.object({
  type: z.literal('stream_event'),
  event: z.object({ delta: z.object({ type: z.literal('text_delta'), text: z.string() }) }),
})

const WholeMessage = z.object({
  type: z.literal('assistant'),
  message: z.object({ content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]) }),
})

/** The folder in which the CLI keeps its sessions. It also contains the checkout in which the CLI works. */
export type BareHome = string

export async function bareHome(scene: Scene): Promise<BareHome> {
  const home = await mkdtemp(join(scene.folder, 'claude-'))
  await makeSampleRepository(scene, checkoutIn(home))
  return home
}

const checkoutIn = (home: BareHome) => join(home, 'workspace')

/** Starts the CLI with a message, and ends it after the answer. */
export async function bareTurn(scene: Scene, modelUrl: string, message: string): Promise<BareTurn> {
  const [turn] = await bareTurns(scene, { modelUrl, home: await bareHome(scene), messages: [message] })
  if (turn === undefined) throw new Error('The bare CLI took no turn.')
  return turn
}

/** Starts the CLI, in a new session or a resumed one, and sends it one message after another, each after the previous answer. */
export async function bareTurns(
  scene: Scene,
  {
    modelUrl,
    home,
    messages,
    session = { kind: 'new', id: randomUUID() },
  }: {
    readonly modelUrl: string
    readonly home: BareHome
    readonly messages: readonly string[]
    readonly session?: LaunchRequest['session']
  },
): Promise<readonly BareTurn[]> {
  const { argv, env } = claude.launch({
    binary: await claudeHere(),
    session,
    model: null,
    access: { kind: 'socket', socketPath: '', runToken: 'sk-ant-bench', scripted: false },
    isRoot: true,
    mode: 'free',
    allowedRules: [],
  })
  const { ANTHROPIC_UNIX_SOCKET: _socket, ...rest } = env
  const [program = '', ...args] = argv
  let startedAt = performance.now()
  const child = spawn(program, args, {
    cwd: checkoutIn(home),
    env: environment(home, { ...rest, ANTHROPIC_BASE_URL: modelUrl }),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  scene.atEnd(async () => child.kill('SIGKILL'))
  const gone = once(child, 'close')
  const waiting = [...messages]
  const dialogue = claude.dialogue({ model: null, mode: 'free' })
  const say = () => {
    const message = waiting.shift()
    if (message === undefined) child.stdin.end()
    else child.stdin.write(dialogue.message({ text: message, images: [], id: randomUUID() }))
  }
  say()
  let firstLineAt: number | undefined
  let texts: { at: number; text: string }[] = []
  let whole: { at: number; text: string }[] = []
  const turns: BareTurn[] = []
  createInterface(child.stdout).on('line', (line) => {
    const at = performance.now()
    firstLineAt ??= at
    const value: unknown = JSON.parse(line)
    const delta = TextDelta.safeParse(value)
    if (delta.success) texts.push({ at, text: delta.data.event.delta.text })
    const said = WholeMessage.safeParse(value)
    if (said.success) whole.push({ at, text: said.data.message.content[0].text })
    if (!Result.safeParse(value).success) return
    const firstWordAt = texts[0]?.at
    if (firstWordAt !== undefined) turns.push({ startedAt, firstLineAt, firstWordAt, texts, messages: whole })
    startedAt = performance.now()
    firstLineAt = undefined
    texts = []
    whole = []
    say()
  })
  await within(turnWithinMs, 'The bare CLI does not end', gone)
  if (turns.length !== messages.length) throw new Error('The bare CLI said nothing.')
  return turns
}

const Result = z.object({ type: z.literal('result') })

/** The path of the real program. Throws a sentence when it is not installed. */
export async function claudeHere(): Promise<string> {
  const located = await locateClaude({ configured: undefined, path: process.env['PATH'] ?? '' })
  if (!located.found) throw new Error(located.reason)
  return located.path
}
