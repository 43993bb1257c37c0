/** Runs programs in a container that is already running: requests, outputs and exits go over a socket. */
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { z } from 'zod'
import type { Exit, SpawnedProcess } from '#platform/childProcess.ts'
import { pour } from './frames.ts'

export interface Call {
  readonly file: string
  readonly args: readonly string[]
  /** The complete environment of the program. */
  readonly env: Readonly<Record<string, string>>
  /** Whether the program gets what is written to the call's stdin; otherwise it has no input. */
  readonly hasInput: boolean
}

/**
 * A program for `node -e` in the container, with the socket's path as argument. It prints a line when it listens. A connection is a call: a line of
 * JSON that says what to run, then the input. The answer is in frames: 1 for stdout, 2 for stderr, 3 for the exit.
 */
export const callScript = `
const { spawn } = require('node:child_process')
const { createServer } = require('node:net')
const answer = (socket) => {
  let child
  let isOver = false
  const end = () => { isOver = true; try { if (child && child.pid) process.kill(-child.pid, 'SIGKILL') } catch {} }
  const say = (kind, bytes) => {
    const head = Buffer.alloc(8)
    head[0] = kind
    head.writeUInt32BE(bytes.length, 4)
    socket.write(head)
    return socket.write(bytes)
  }
  const begin = ({ file, args, env, hasInput }, rest) => {
    child = spawn(file, args, { env, cwd: '/', detached: true, stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    const outputs = [child.stdout, child.stderr]
    outputs.forEach((output, index) => output.on('data', (chunk) => {
      if (say(index + 1, chunk)) return
      for (const each of outputs) each.pause()
      socket.once('drain', () => { for (const each of outputs) each.resume() })
    }))
    child.on('error', (fault) => say(2, Buffer.from(String(fault.message))))
    child.on('close', (code, signal) => { if (!isOver) { say(3, Buffer.from(JSON.stringify({ code, signal }))); socket.end() } })
    if (!hasInput) return socket.resume()
    child.stdin.on('error', () => socket.resume())
    child.stdin.write(rest)
    socket.pipe(child.stdin)
  }
  let received = Buffer.alloc(0)
  const hear = (chunk) => {
    received = Buffer.concat([received, chunk])
    const line = received.indexOf(10)
    if (line < 0) return
    socket.off('data', hear)
    socket.pause()
    begin(JSON.parse(received.subarray(0, line).toString()), received.subarray(line + 1))
  }
  socket.on('data', hear)
  socket.on('error', end)
  socket.on('close', end)
}
createServer({ allowHalfOpen: true }, answer).listen(process.argv[1], () => process.stdout.write('ready\\n'))
`

/** Starts a call. If the container ends, the call ends as if killed by SIGKILL. */
export function startCall(socketPath: string, call: Call): SpawnedProcess {
  const socket = connect({ path: socketPath, allowHalfOpen: true })
  socket.on('error', () => socket.destroy())
  socket.write(`${JSON.stringify(call)}\n`)
  if (!call.hasInput) socket.end()
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const outputs = new Map([
    [1, stdout],
    [2, stderr],
  ])
  const readExit = async (): Promise<Exit> => {
    let json = ''
    await pour(socket, outputs, (bytes) => (json += bytes.toString('utf8')))
    return ExitMessage.parse(JSON.parse(json))
  }
  const exited = readExit()
    .catch((): Exit => ({ code: null, signal: 'SIGKILL' }))
    .finally(() => socket.destroy())
  return {
    pid: 0,
    stdin: call.hasInput ? socket : null,
    stdout,
    stderr,
    pipes: [],
    exited,
    signalGroup: () => socket.destroy(),
  }
}

const ExitMessage = z.object({
  code: z.int().nullable(),
  signal: z.custom<NodeJS.Signals>((name) => typeof name === 'string').nullable(),
})
