/** The container engine, spoken to as its own client does: HTTP on its socket. Docker's interface, which Podman has as well. */
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

/** The engine is not there, or refuses; the sentence is its own where it gave one. */
export class EngineFault extends Error {
  override readonly name = 'EngineFault'
  /** What it answered; `null` when it did not. */
  readonly status: number | null
  constructor(sentence: string, status: number | null) {
    super(sentence)
    this.status = status
  }
}

/** An image that is on the engine. */
export interface ContainerImage {
  readonly id: string
  /** Folders for which the engine would make a volume for each container. */
  readonly volumes: readonly string[]
}

export interface BuildRequest {
  readonly name: string
  readonly buildArguments: Readonly<Record<string, string>>
  readonly limitMs: number
  /** Told of each step, a line each. */
  readonly progress: (line: string) => void
}

/** Every call throws `EngineFault`, within 30 s where nothing else is said. */
export interface ContainerEngine {
  /** What it is called and its version: `Docker 20.10.24`. */
  version(): Promise<string>
  /** Whether it can bound the memory of a container here: one of a user who is not root often cannot. */
  limitsMemory(): Promise<boolean>
  /** `undefined` when it is not on the engine. */
  image(name: string): Promise<ContainerImage | undefined>
  /**
   * Builds an image from a tar of its context, in which `Dockerfile` lies. Throws what the build said last when it fails, and when it takes
   * longer than `limitMs`.
   */
  build(context: Buffer, request: BuildRequest): Promise<void>
  /** Makes a container, not started, and gives its id. */
  create(body: object): Promise<string>
  /** Joins a stream to what the container says, and to its input where asked for, before it is started. */
  attach(id: string, streams: readonly ('stdin' | 'stdout' | 'stderr')[]): Promise<Socket>
  /** Begins to wait for its end, before it is started; `code` is as a shell tells it, and settles when the container ends. */
  awaitExit(id: string): Promise<{ readonly code: Promise<number> }>
  /** Tells each time when the kernel ended a process of it for want of memory, until the returned function is called. */
  onOutOfMemory(id: string, tell: () => void): Promise<() => void>
  start(id: string): Promise<void>
  /** Ends it with all that runs in it, and takes it away; one that is gone already is fine. */
  remove(id: string): Promise<void>
  /** The ids of all containers that have the label, running or not. */
  labelled(label: string, value: string): Promise<readonly string[]>
}

const answerMs = 30_000

/** `socketPath` is where it listens. */
export function containerEngine(socketPath: string): ContainerEngine {
  const ask = (method: string, path: string, asked: Pick<Asked, 'body' | 'lasts'> = {}) =>
    answerOf(socketPath, { method, path, ...asked })
  const told = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await ask(method, path, body === undefined ? {} : { body })
    const said = await text(answer)
    return said === '' ? undefined : JSON.parse(said)
  }
  return {
    async version() {
      const { Version, Platform } = Told.version.parse(await told('GET', '/version'))
      const name = /podman/i.test(Platform?.Name ?? '') ? 'Podman' : 'Docker'
      return `${name} ${Version}`
    },
    limitsMemory: async () => Told.info.parse(await told('GET', '/info')).MemoryLimit,
    async image(name) {
      try {
        const path = `/images/${encodeURIComponent(name)}/json`
        const { Id, Config } = Told.image.parse(await told('GET', path))
        return { id: Id, volumes: Object.keys(Config?.Volumes ?? {}) }
      } catch (fault) {
        if (fault instanceof EngineFault && fault.status === 404) return undefined
        throw fault
      }
    },
    build: (context, request) => buildImage(socketPath, context, request),
    create: async (body) => Told.created.parse(await told('POST', '/containers/create', body)).Id,
    attach: (id, streams) =>
      attached(
        socketPath,
        `/containers/${id}/attach?stream=1&${streams.map((name) => `${name}=1`).join('&')}`,
      ),
    async awaitExit(id) {
      // The engine answers at once that it waits, and tells the end in the body.
      const answer = await ask('POST', `/containers/${id}/wait?condition=next-exit`, { lasts: true })
      const code = text(answer).then((said) => Told.exit.parse(JSON.parse(said)).StatusCode)
      code.catch(() => undefined)
      return { code }
    },
    async onOutOfMemory(id, tell) {
      const filters = encodeURIComponent(JSON.stringify({ container: [id], event: ['oom'] }))
      const events = await ask('GET', `/events?filters=${filters}`, { lasts: true })
      events.on('data', tell).on('error', () => undefined)
      return () => events.destroy()
    },
    async start(id) {
      await told('POST', `/containers/${id}/start`)
    },
    async remove(id) {
      try {
        await told('DELETE', `/containers/${id}?force=1&v=1`)
      } catch (fault) {
        // 409: it is being taken away already.
        if (!(fault instanceof EngineFault && (fault.status === 404 || fault.status === 409))) throw fault
      }
    },
    async labelled(label, value) {
      const filters = encodeURIComponent(JSON.stringify({ label: [`${label}=${value}`] }))
      const found = Told.list.parse(await told('GET', `/containers/json?all=1&filters=${filters}`))
      return found.map(({ Id }) => Id)
    },
  }
}

const Told = {
  version: z.object({
    Version: z.string(),
    Platform: z.object({ Name: z.string().optional() }).optional(),
  }),
  info: z.object({ MemoryLimit: z.boolean() }),
  image: z.object({
    Id: z.string(),
    Config: z.object({ Volumes: z.record(z.string(), z.unknown()).nullish() }).nullish(),
  }),
  created: z.object({ Id: z.string() }),
  exit: z.object({ StatusCode: z.int() }),
  list: z.array(z.object({ Id: z.string() })),
  fault: z.object({ message: z.string() }),
  build: z.object({ stream: z.string().optional(), error: z.string().optional() }),
}

/** The engine reports a build in lines of JSON, and its failure too: the status is 200 by then. */
async function buildImage(
  socketPath: string,
  context: Buffer,
  { name, buildArguments, limitMs, progress }: BuildRequest,
): Promise<void> {
  const query = new URLSearchParams({
    t: name,
    rm: '1',
    forcerm: '1',
    // The machine's own network: a build needs its name servers and proxies, and containers may have no way out.
    networkmode: 'host',
    buildargs: JSON.stringify(buildArguments),
  })
  const path = `/build?${query}`
  const answer = await answerOf(socketPath, { method: 'POST', path, tar: context, lasts: true })
  const limit = setTimeout(
    () => answer.destroy(new Error(`it took more than ${limitMs / 60_000} min`)),
    limitMs,
  )
  try {
    for await (const line of createInterface({ input: answer })) {
      const { stream, error } = Told.build.parse(JSON.parse(line))
      if (error !== undefined) throw new EngineFault(`the build of ${name} failed: ${error.trim()}`, null)
      if (stream !== undefined && /^Step |^STEP /.test(stream)) progress(stream.trim())
    }
  } catch (fault) {
    if (fault instanceof EngineFault) throw fault
    const why = fault instanceof Error ? fault.message : String(fault)
    throw new EngineFault(`the build of ${name} failed: ${why}`, null)
  } finally {
    clearTimeout(limit)
    answer.destroy()
  }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: object
  /** Sent in place of a body in JSON. */
  readonly tar?: Buffer
  /** Its body comes over a long time. */
  readonly lasts?: boolean
}

/** The answer, once its head has come. */
async function answerOf(
  socketPath: string,
  { method, path, body, tar, lasts }: Asked,
): Promise<IncomingMessage> {
  const sent = tar ?? (body === undefined ? undefined : JSON.stringify(body))
  const type = tar ? 'application/x-tar' : 'application/json'
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asking = request({
      socketPath,
      method,
      path,
      agent: false,
      headers: {
        host: 'engine',
        ...(sent === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(sent) }),
      },
    })
    asking.on('response', (response) => {
      if (lasts === true) asking.setTimeout(0)
      resolve(response)
    })
    asking.on('error', (fault) => reject(notThere(socketPath, fault)))
    asking.setTimeout(answerMs, () => asking.destroy(new Error('it does not answer')))
    asking.end(sent)
  })
  if ((answer.statusCode ?? 500) >= 400) throw await refusal(answer)
  return answer
}

function attached(socketPath: string, path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'engine', connection: 'Upgrade', upgrade: 'tcp' }
    const asking = request({ socketPath, method: 'POST', path, agent: false, headers })
    asking.on('upgrade', (_, socket: Socket, head) => {
      socket.setTimeout(0)
      // A writer learns from the exit that the container is gone.
      socket.on('error', () => socket.destroy())
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    asking.on('response', (response) => void refusal(response).then(reject))
    asking.on('error', (fault) => reject(notThere(socketPath, fault)))
    asking.setTimeout(answerMs, () => asking.destroy(new Error('it does not answer')))
    asking.end()
  })
}

async function refusal(answer: IncomingMessage): Promise<EngineFault> {
  const said = await text(answer).catch(() => '')
  let sentence = said.trim().slice(0, 500)
  try {
    sentence = Told.fault.parse(JSON.parse(said)).message
  } catch {
    // Text that is not JSON is reported as it is.
  }
  return new EngineFault(sentence || `it answers ${answer.statusCode}`, answer.statusCode ?? null)
}

function notThere(socketPath: string, fault: Error): EngineFault {
  const code = 'code' in fault ? fault.code : undefined
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new EngineFault(`there is none at ${socketPath}`, null)
    case 'EACCES':
      return new EngineFault(`this user may not use ${socketPath}`, null)
    default:
      return new EngineFault(`${socketPath}: ${fault.message}`, null)
  }
}
