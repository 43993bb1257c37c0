/** A person's shell over the live connection: its requests are passed on to the runner with the task's workspace. */
import type { Socket } from 'socket.io'
import type { z } from 'zod'
import {
  CloseShell,
  OpenShell,
  ResizeShell,
  WriteToShell,
  type ShellAnswer,
  type ShellOpening,
} from '#domain/api/shell.schema.ts'
import type { ClientEvents, ServerEvents } from '#domain/api/socket.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { readInput } from '#domain/kernel/readInput.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { sealInput } from '#platform/live/shellInput.ts'
import type { VerifiedIdentity } from '#platform/http/session.ts'
import type { RpcRequest } from '#platform/ports/rpc.ts'
import type { GatewayServices } from '../services.ts'

/** How long to wait for a shell to open, which may first have to create a sandbox. */
const openingTimeoutMs = 20_000
/** The longest time that a program may take to read its input before the person is told that the shell is gone. */
const useTimeoutMs = 20_000
/** The maximum number of requests of one socket that wait. A client waits for the answer to its input before it sends more. */
const maxWaiting = 20

type LiveSocket = Socket<ClientEvents, ServerEvents, Record<string, never>, VerifiedIdentity>
type UseInput = readonly [taskId: string, shellId: string, ...unknown[]]
type Use = RpcRequest<'useShell'>['use']
export type ShellServices = Pick<GatewayServices, 'documents' | 'logger'> & {
  readonly rpc: Pick<GatewayServices['rpc'], 'call'>
  readonly vault: Pick<GatewayServices['vault'], 'seal'>
}

/**
 * Answers a socket's requests about shells, in order. The returned function closes the shells that the socket opened or joined. Call it when the
 * person signs out or loses access.
 */
export function serveShells(socket: LiveSocket, services: ShellServices): () => void {
  const { userId } = socket.data
  const joined = new Map<string, string>()
  let turn: Promise<void> = Promise.resolve()
  let waiting = 0
  let isSignedOut = false
  function serialized(work: () => Promise<void>): void {
    waiting += 1
    if (waiting > maxWaiting) return void socket.disconnect(true)
    turn = turn.then(() => (isSignedOut ? undefined : work())).finally(() => (waiting -= 1))
  }
  function use<S extends z.ZodType<UseInput>>(
    schema: S,
    args: readonly unknown[],
    of: (input: z.output<S>) => Promise<Use>,
  ): void {
    const reply = args.at(-1)
    const input = readInput(schema, args.slice(0, -1))
    serialized(async () => {
      const taken = input.kind === 'refused' ? 'invalid_input' : await used(input.data, () => of(input.data))
      if (typeof reply === 'function') reply(taken)
    })
  }
  async function used([taskId, shellId]: UseInput, of: () => Promise<Use>): Promise<ShellAnswer> {
    try {
      await requireOwner(services, taskId, userId)
      const answer = await services.rpc.call('useShell', { taskId, shellId, use: await of() }, useTimeoutMs)
      return answer ? 'taken' : 'gone'
    } catch (fault) {
      if (!(fault instanceof Fault)) services.logger.error({ err: fault, taskId }, 'a shell cannot be used')
      return 'gone'
    }
  }

  socket.on('shell_open', (taskId, size, answer) => {
    serialized(async () => {
      const opening = await opened(services, userId, [taskId, size])
      if (opening.opened) joined.set(taskId, opening.shellId)
      if (isSignedOut) closeAll()
      if (typeof answer === 'function') answer(opening)
    })
  })
  socket.on('shell_input', (...args) =>
    use(WriteToShell, args, async ([taskId, shellId, text]) => ({
      kind: 'input',
      sealed: await sealInput(services.vault, { taskId, shellId }, text),
    })),
  )
  socket.on('shell_resize', (...args) =>
    use(ResizeShell, args, async ([, , size]) => ({ kind: 'resize', size })),
  )
  socket.on('shell_close', (...args) => use(CloseShell, args, async () => ({ kind: 'close' })))
  function closeAll(): void {
    isSignedOut = true
    for (const one of joined) void used(one, async () => ({ kind: 'close' }))
  }
  return closeAll
}

async function opened(
  services: ShellServices,
  userId: string,
  args: readonly unknown[],
): Promise<ShellOpening> {
  try {
    const input = readInput(OpenShell, args)
    if (input.kind === 'refused') throw new Fault('invalid_input', input.sentence)
    const [taskId, size] = input.data
    await requireOwner(services, taskId, userId)
    const answer = await services.rpc.call('openShell', { taskId, size }, openingTimeoutMs)
    if (!answer) throw new Fault('not_initialized', notHere)
    if (answer.kind === 'refused') throw new Fault(answer.code, answer.sentence)
    return { opened: true, shellId: answer.shellId, shared: answer.shared }
  } catch (thrown) {
    if (!(thrown instanceof Fault)) services.logger.error({ err: thrown }, 'a shell cannot be opened')
    const fault = thrown instanceof Fault ? thrown : new Fault('internal')
    return { opened: false, error: fault.message, code: fault.code }
  }
}

const notHere =
  'The files of this task are not on a machine now, so there is nothing to open a shell in. Send the agent a message first.'

async function requireOwner(
  { documents }: Pick<ShellServices, 'documents'>,
  taskId: string,
  userId: string,
): Promise<void> {
  const task = await documents.get(tasksView, taskId)
  if (task?.owner !== userId) throw new Fault('not_found', 'There is no such task.')
}
