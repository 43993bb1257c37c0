/** One container: made, joined to, started, and gone. */
import { constants, openSync } from 'node:fs'
import { chmod, open, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Socket } from 'node:net'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { run } from '#platform/childProcess.ts'
import type { Scratch } from '../../scratch.ts'
import { EngineFault, type ContainerEngine } from './engine.ts'
import { opening, type Answer, type Word } from './init.ts'
import { containerBody, type ContainerMount, type ContainerPlan } from './createRequest.ts'
import { pour } from './frames.ts'

export interface ContainerParts {
  readonly engine: ContainerEngine
  readonly scratch: Scratch
  /** Where the engine's machine has a file of ours; it must have it. */
  readonly there: (path: string) => string
  /** PATH, for the program that makes named pipes. */
  readonly path: string
}

export interface ContainerStart {
  readonly plan: Omit<ContainerPlan, 'line' | 'answers'>
  readonly env: Readonly<Record<string, string>>
  /** Files made for it, by their paths inside. */
  readonly files: Readonly<Record<string, string>>
  readonly stdin: 'pipe' | 'ignore'
  readonly onOutOfMemory: () => void
}

export interface StartedContainer {
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when nothing of it runs: the command's code, 125 when it could not be made. */
  readonly exited: Promise<number>
  interrupt(): void
  /** Ends it at once, also one that is being made. */
  end(): void
  /** Those that stay are there, or it has ended. */
  readonly settled: Promise<void>
  /** Ends all but those that stay, and stops these; false when that is not had in time. */
  freeze(): Promise<boolean>
  thaw(): void
}

/** Where the lines to and from its first process are inside. */
const lineInside = '/run/flightdeck.line'
const answersInside = '/run/flightdeck.answers'
/** What is not frozen by then is ended. */
const frozenMs = 8_000
/** What does not end by a word by then is taken away by the engine. */
const heardMs = 2_000
const failedToStart = 125

/** Begins to make it. What goes wrong on the way is told on its standard error. */
export function startContainer(parts: ContainerParts, start: ContainerStart): StartedContainer {
  const stdin = start.stdin === 'pipe' ? new PassThrough() : null
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  // Whoever writes to a sandbox that is gone sees it in how it ended.
  stdin?.on('error', () => undefined)
  const words: Word[] = []
  const answers = hearAnswers()
  let line: FileHandle | undefined
  let id: string | undefined
  let isOver = false
  let forcing: NodeJS.Timeout | undefined

  const say = (word: Word): void => {
    if (isOver) return
    words.push(word)
    // A line that nobody reads is full some time: the engine ends that sandbox.
    line?.write(`${word}\n`).catch(() => undefined)
  }
  const force = (): void => {
    if (id !== undefined && !isOver) parts.engine.remove(id).catch(() => undefined)
  }

  const begin = async (folder: string, input: Socket): Promise<void> => {
    await answers.of('open')
    // From here on there are others inside.
    await Promise.all(['line', 'answers'].map((name) => chmod(join(folder, name), 0)))
    input.write(opening(start.env))
    if (stdin) stdin.pipe(input)
    else input.end()
  }

  const live = async (folder: string): Promise<number> => {
    const made = await Promise.all([
      openLine(join(folder, 'line'), parts.path),
      makePipe(join(folder, 'answers'), parts.path),
      ...Object.entries(start.files).map(async ([target, content], index): Promise<ContainerMount> => {
        const file = join(folder, `file-${index}`)
        await writeFile(file, content, { mode: 0o644 })
        return { source: parts.there(file), target, readOnly: true }
      }),
    ])
    const [opened, , ...files] = made
    line = opened
    answers.listen(openSync(join(folder, 'answers'), bothWays))
    await chmod(join(folder, 'answers'), 0o222)
    // What was asked before there was a line.
    for (const word of words.splice(0)) say(word)
    const lineMount = { source: parts.there(join(folder, 'line')), target: lineInside, readOnly: true }
    const answersMount = {
      source: parts.there(join(folder, 'answers')),
      target: answersInside,
      readOnly: true,
    }
    const mounts = [...start.plan.mounts, ...files, lineMount, answersMount]
    const { engine } = parts
    const body = containerBody({ ...start.plan, mounts, line: lineInside, answers: answersInside })
    id = await engine.create(body)
    const [input, complaints, exit] = await Promise.all([
      engine.attach(id, ['stdin', 'stdout']),
      engine.attach(id, ['stderr']),
      engine.awaitExit(id),
    ])
    const unwatch = await engine.onOutOfMemory(id, start.onOutOfMemory)
    try {
      await engine.start(id)
      void begin(folder, input)
      void pour(input, new Map([[1, stdout]]))
      void pour(complaints, new Map([[2, stderr]]))
      return await exit.code
    } finally {
      unwatch()
    }
  }

  const exited = (async () => {
    const folder = await parts.scratch.make()
    try {
      return await live(folder)
    } catch (fault) {
      const why = fault instanceof EngineFault ? fault.message : String(fault)
      // Of a sandbox that ran the engine has ended the output with it.
      if (!stderr.writableEnded) stderr.end(`The sandbox cannot be made: ${why}\n`)
      if (!stdout.writableEnded) stdout.end()
      if (id !== undefined) await parts.engine.remove(id).catch(() => undefined)
      return failedToStart
    } finally {
      isOver = true
      clearTimeout(forcing)
      stdin?.destroy()
      // The end of the line: whatever became of the engine, the sandbox ends with it.
      await line?.close()
      answers.close()
      await rm(folder, { recursive: true, force: true })
    }
  })()

  return {
    stdin,
    stdout,
    stderr,
    exited,
    interrupt: () => say('interrupt'),
    end() {
      if (words.includes('end')) return
      say('end')
      forcing = setTimeout(force, heardMs)
    },
    settled: Promise.race([answers.of('settled'), exited.then(() => undefined)]),
    async freeze() {
      say('freeze')
      const answered = Promise.race([
        answers.of('frozen').then(() => true),
        answers.of('lost').then(() => false),
        exited.then(() => false),
      ])
      const late = new AbortController()
      const tooLate = delay(frozenMs, false, { signal: late.signal }).catch(() => false)
      return Promise.race([answered, tooLate]).finally(() => late.abort())
    },
    thaw: () => say('thaw'),
  }
}

/** What the first process of a container says, each answer once to whoever waits for it. */
function hearAnswers() {
  const waiting: { answer: Answer; tell: () => void }[] = []
  let untold: readonly string[] = []
  let socket: Socket | undefined
  const tellAll = (): void => {
    untold = untold.filter((said) => {
      const index = waiting.findIndex(({ answer }) => answer === said)
      const [found] = index < 0 ? [] : waiting.splice(index, 1)
      found?.tell()
      return found === undefined
    })
  }
  return {
    /** `fd` is closed with it. */
    listen(fd: number): void {
      let half = ''
      socket = new Socket({ fd, readable: true, writable: false })
      socket.on('error', () => undefined)
      socket.on('data', (bytes: Buffer) => {
        const lines = `${half}${bytes.toString('latin1')}`.split('\n')
        half = lines.pop() ?? ''
        untold = [...untold, ...lines]
        tellAll()
      })
    },
    of: (answer: Answer): Promise<void> =>
      new Promise((resolve) => {
        waiting.push({ answer, tell: resolve })
        tellAll()
      }),
    close: () => void socket?.destroy(),
  }
}

/** Both ends are ours, so that it can be opened before anybody reads; inside it can only be read, also by a user of our own id. */
async function openLine(path: string, searchPath: string): Promise<FileHandle> {
  await makePipe(path, searchPath)
  const line = await open(path, bothWays)
  await chmod(path, 0o444)
  return line
}

const bothWays = constants.O_RDWR | constants.O_NONBLOCK

async function makePipe(path: string, searchPath: string): Promise<void> {
  const made = await run('mkfifo', ['-m', '600', path], {
    env: { PATH: searchPath },
    timeoutMs: 5_000,
    maxOutputBytes: 1_000,
  })
  if (made.code !== 0) throw new Error(`a named pipe cannot be made: ${made.stderr.toString('utf8').trim()}`)
}
