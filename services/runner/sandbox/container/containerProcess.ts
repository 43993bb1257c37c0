/** Runs one container as if it were a process: creates it, attaches to it, starts it, and removes it. */
import { constants, openSync } from 'node:fs'
import { chmod, open, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { run as runProgram } from '#platform/childProcess.ts'
import { EngineFault } from './engine.ts'
import { opening, type Answer, type Word } from './init.ts'
import { containerBody, type ContainerMount, type ContainerPlan } from './createRequest.ts'
import { pour } from './frames.ts'
import { engineMount, runnerLabel, type ContainerOptions } from './options.ts'

export interface ContainerStart {
  readonly plan: Omit<ContainerPlan, 'image' | 'labels' | 'pipeToInit' | 'pipeFromInit'>
  readonly env: Readonly<Record<string, string>>
  /** The contents of files that are made for the container, by their paths inside the container. */
  readonly files: Readonly<Record<string, string>>
  readonly stdin: 'pipe' | 'ignore'
  readonly onOutOfMemory: () => void
}

export interface StartedContainer {
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when nothing of the container runs: with the command's exit code, or 125 when the engine failed to make or to follow the container. */
  readonly exited: Promise<number>
  interrupt(): void
  /** Ends the container at once, even while it is being made. */
  end(): void
  /** Resolves when the processes that stay after a freeze have started, or when the container has ended. */
  readonly settled: Promise<void>
  /**
   * Stops the processes that stay after a freeze, and ends all others; false when one of the processes that stay has ended, or this takes too long.
   */
  freeze(): Promise<boolean>
  thaw(): void
}

/** The paths at which the first process finds the pipes from and to the runner. */
const pipeToInitInside = '/run/flightdeck.line'
const pipeFromInitInside = '/run/flightdeck.answers'
/** A container that is not frozen within this time is ended. */
const freezeTimeoutMs = 8_000
/** If a container has not ended this long after it was told to end, the engine removes it. */
const endTimeoutMs = 2_000
const failedToStart = 125

/** Begins to make a container. A failure is written to its standard error. */
export function startContainer(options: ContainerOptions, start: ContainerStart): StartedContainer {
  const container: Container = {
    options,
    start,
    stdin: start.stdin === 'pipe' ? new PassThrough() : null,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    answers: hearAnswers(),
    words: [],
    pipeToInit: undefined,
    id: undefined,
    isOver: false,
    forcing: undefined,
  }
  const { stdin, stdout, stderr, answers } = container
  // Writing to a sandbox that has ended fails; its exit has the reason.
  stdin?.on('error', () => undefined)
  const exited = runToEnd(container)
  return {
    stdin,
    stdout,
    stderr,
    exited,
    interrupt: () => say(container, 'interrupt'),
    end: () => end(container),
    settled: Promise.race([answers.settled, exited.then(() => undefined)]),
    freeze: () => freeze(container, exited),
    thaw: () => say(container, 'thaw'),
  }
}

/** A container while it is made or runs. */
interface Container {
  readonly options: ContainerOptions
  readonly start: ContainerStart
  readonly stdin: PassThrough | null
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  readonly answers: ReturnType<typeof hearAnswers>
  /** All words for the container's first process so far. Those from before the pipe to that process was open are sent once it is. */
  readonly words: Word[]
  pipeToInit: FileHandle | undefined
  id: string | undefined
  isOver: boolean
  forcing: NodeJS.Timeout | undefined
}

/** Makes and runs the container, and cleans up after it. Resolves to what `exited` settles with. */
async function runToEnd(container: Container): Promise<number> {
  const { options, stdin, stdout, stderr, answers } = container
  const folder = await options.scratch.make()
  try {
    const id = await make(container, folder)
    return await run(container, folder, id)
  } catch (fault) {
    const why = fault instanceof EngineFault ? fault.message : String(fault)
    // If the container was running, `pour` has already ended both outputs, and `stderr` gets no sentence.
    if (!stderr.writableEnded) stderr.end(`The sandbox cannot be made: ${why}\n`)
    if (!stdout.writableEnded) stdout.end()
    if (container.id !== undefined) await options.engine.remove(container.id).catch(() => undefined)
    return failedToStart
  } finally {
    container.isOver = true
    clearTimeout(container.forcing)
    stdin?.destroy()
    // The sandbox ends when the pipe is closed, even if the engine does not respond.
    await container.pipeToInit?.close()
    answers.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Makes the pipes and files that the container mounts, and the container itself. Returns its id. */
async function make(container: Container, folder: string): Promise<string> {
  const { options, start, answers } = container
  const { path } = options
  const [pipeToInit, , ...files] = await Promise.all([
    openPipeToInit(join(folder, 'line'), path),
    makePipe(join(folder, 'answers'), path),
    ...Object.entries(start.files).map(async ([target, content], index): Promise<ContainerMount> => {
      const file = join(folder, `file-${index}`)
      await writeFile(file, content, { mode: 0o644 })
      return engineMount(options, file, target)
    }),
  ])
  container.pipeToInit = pipeToInit
  answers.listen(openSync(join(folder, 'answers'), bothWays))
  await chmod(join(folder, 'answers'), 0o222)
  // Sends the words that had to wait until the pipe was open.
  for (const word of container.words.splice(0)) say(container, word)
  const mounts = [
    ...start.plan.mounts,
    ...files,
    engineMount(options, join(folder, 'line'), pipeToInitInside),
    engineMount(options, join(folder, 'answers'), pipeFromInitInside),
  ]
  const body = containerBody({
    ...start.plan,
    image: options.image,
    labels: { [runnerLabel]: options.runnerId },
    mounts,
    pipeToInit: pipeToInitInside,
    pipeFromInit: pipeFromInitInside,
  })
  container.id = await options.engine.create(body)
  return container.id
}

/** Starts a container with its input and output attached. Resolves with its exit code. */
async function run(container: Container, folder: string, id: string): Promise<number> {
  const { start, stdout, stderr } = container
  const { engine } = container.options
  const [input, complaints, exit] = await Promise.all([
    engine.attach(id, ['stdin', 'stdout']),
    engine.attach(id, ['stderr']),
    engine.awaitExit(id),
  ])
  const unwatch = await engine.onOutOfMemory(id, start.onOutOfMemory)
  try {
    await engine.start(id)
    void begin(container, folder, input)
    void pour(input, new Map([[1, stdout]]))
    void pour(complaints, new Map([[2, stderr]]))
    return await exit.code
  } finally {
    unwatch()
  }
}

/** Sends the environment and the input to the first process, after it has opened its pipes. */
async function begin({ start, stdin, answers }: Container, folder: string, input: Socket): Promise<void> {
  await answers.opened
  // The agent's processes start next, and must not open the pipes.
  await Promise.all(['line', 'answers'].map((name) => chmod(join(folder, name), 0)))
  input.write(opening(start.env))
  if (stdin) stdin.pipe(input)
  else input.end()
}

function say(container: Container, word: Word): void {
  if (container.isOver) return
  container.words.push(word)
  // If nobody reads the pipe, it fills up and this write fails. `end` then has the engine remove the container.
  container.pipeToInit?.write(`${word}\n`).catch(() => undefined)
}

function end(container: Container): void {
  if (container.words.includes('end')) return
  say(container, 'end')
  container.forcing = setTimeout(() => {
    const { id, isOver, options } = container
    if (id !== undefined && !isOver) options.engine.remove(id).catch(() => undefined)
  }, endTimeoutMs)
}

async function freeze(container: Container, exited: Promise<number>): Promise<boolean> {
  const { answers } = container
  say(container, 'freeze')
  const answered = Promise.race([
    answers.of('frozen').then(() => true),
    answers.of('lost').then(() => false),
    exited.then(() => false),
  ])
  const late = new AbortController()
  const tooLate = delay(freezeTimeoutMs, false, { signal: late.signal }).catch(() => false)
  return Promise.race([answered, tooLate]).finally(() => late.abort())
}

/** Reads what the first process of a container says. */
function hearAnswers() {
  const waiting = new Map<string, () => void>()
  /** Resolves when the first process says `answer` after this call. If several callers wait for the same answer, only the latest one is notified. */
  const of = (answer: Answer) => new Promise<void>((resolve) => waiting.set(answer, resolve))
  let socket: Socket | undefined
  return {
    of,
    opened: of('open'),
    settled: of('settled'),
    /** Reads from `fd`, and closes it at the end. */
    listen(fd: number): void {
      socket = new Socket({ fd, readable: true, writable: false })
      const lines = createInterface({ input: socket })
      lines.on('line', (line) => waiting.get(line)?.()).on('error', () => undefined)
    },
    close: () => void socket?.destroy(),
  }
}

/**
 * Opens the pipe to the container. We open both ends, so that this does not wait for a reader. Inside the container, the pipe can only be read, even
 * by a process with our own user id.
 */
async function openPipeToInit(path: string, searchPath: string): Promise<FileHandle> {
  await makePipe(path, searchPath)
  const pipe = await open(path, bothWays)
  await chmod(path, 0o444)
  return pipe
}

const bothWays = constants.O_RDWR | constants.O_NONBLOCK

async function makePipe(path: string, searchPath: string): Promise<void> {
  const made = await runProgram('mkfifo', ['-m', '600', path], {
    env: { PATH: searchPath },
    timeoutMs: 5_000,
    maxOutputBytes: 1_000,
  })
  if (made.code !== 0) throw new Error(`a named pipe cannot be made: ${made.stderr.toString('utf8').trim()}`)
}
