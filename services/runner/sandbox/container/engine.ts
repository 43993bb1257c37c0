/**
 * Calls the container engine over HTTP on a socket, by the API of Docker, which Podman has too. dockerode is not used: it takes address and keys from
 * the environment, ignores slow readers, and cannot tell when the engine begins to wait for the end of a container.
 */
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { jsonOf } from '#platform/json.ts'

/** The engine does not answer, or refuses. The message is the engine's own if it sent one. */
export class EngineFault extends Error {
  override readonly name = 'EngineFault'
  /** The HTTP status of a refusal; `null` for any other fault. */
  readonly status: number | null
  constructor(sentence: string, status: number | null) {
    super(sentence)
    this.status = status
  }
}

/** An image that the engine has. */
export interface ContainerImage {
  readonly id: string
  /** Folders for which the engine would make a volume for each container. */
  readonly volumes: readonly string[]
}

export interface BuildRequest {
  readonly name: string
  readonly buildArguments: Readonly<Record<string, string>>
  /** Called with a line for each step. */
  readonly progress: (line: string) => void
}

/** The calls to the engine. Each throws `EngineFault`, also when the engine is silent for 30 s, unless stated otherwise. */
export interface ContainerEngine {
  /** Returns name and version of the engine: `Docker 20.10.24`. */
  version(): Promise<string>
  /** Whether the engine can limit the memory of containers here. An engine without root often cannot. */
  limitsMemory(): Promise<boolean>
  /** Returns an image; `undefined` when the engine does not have it. */
  image(name: string): Promise<ContainerImage | undefined>
  /**
   * Builds an image from a tar of its context, which contains `Dockerfile`, within 15 minutes. If the build fails, throws with the engine's error.
   */
  build(context: Buffer, request: BuildRequest): Promise<void>
  /** Creates a container without starting it, and returns its id. */
  create(body: object): Promise<string>
  /** Attaches a stream to the outputs of a container and, if requested, to its input. Call it before the container is started. */
  attach(id: string, streams: readonly ('stdin' | 'stdout' | 'stderr')[]): Promise<Socket>
  /**
   * Begins to wait for the container's end; call it before the container is started. `code` is as a shell reports it, and settles when the container
   * ends.
   */
  awaitExit(id: string): Promise<{ readonly code: Promise<number> }>
  /** Calls `tell` each time that the kernel has ended a process of the container because of the memory limit. The returned function stops this. */
  onOutOfMemory(id: string, tell: () => void): Promise<() => void>
  start(id: string): Promise<void>
  /** Ends the container with everything in it, and removes it. Does nothing when it does not exist. */
  remove(id: string): Promise<void>
  /** The ids of all containers with the label, running or not. */
  labelled(label: string, value: string): Promise<readonly string[]>
}

const answerTimeoutMs = 30_000
/** Long enough for the first build, which fetches a base image and a few packages. */
const buildTimeoutMs = 15 * 60_000

/** The client for the engine that listens on `socketPath`. */
export function containerEngine(socketPath: string): ContainerEngine {
  const call = (method: string, path: string, more: CallContent = {}) =>
    callEngine(socketPath, { method, path, ...more })
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await text((await call(method, path, { body })).response)
    return answer === '' ? undefined : JSON.parse(answer)
  }
  return {
    async version() {
      const { Version, Platform } = Answers.version.parse(await ask('GET', '/version'))
      const name = /podman/i.test(Platform?.Name ?? '') ? 'Podman' : 'Docker'
      return `${name} ${Version}`
    },
    limitsMemory: async () => Answers.info.parse(await ask('GET', '/info')).MemoryLimit,
    async image(name) {
      try {
        const path = `/images/${encodeURIComponent(name)}/json`
        const { Id, Config } = Answers.image.parse(await ask('GET', path))
        return { id: Id, volumes: Object.keys(Config?.Volumes ?? {}) }
      } catch (fault) {
        if (fault instanceof EngineFault && fault.status === 404) return undefined
        throw fault
      }
    },
    async build(context, { name, buildArguments, progress }) {
      const query = new URLSearchParams({
        t: name,
        rm: '1',
        forcerm: '1',
        // Uses the machine's network. A build needs the name servers and proxies of the machine, and containers may have no way out.
        networkmode: 'host',
        buildargs: JSON.stringify(buildArguments),
      })
      const { response } = await call('POST', `/build?${query}`, { tar: context, isLong: true })
      await followBuild(response, progress).catch((fault: unknown) => {
        const why = fault instanceof Error ? fault.message : String(fault)
        throw new EngineFault(`the build of ${name} failed: ${why}`, null)
      })
    },
    create: async (body) => Answers.created.parse(await ask('POST', '/containers/create', body)).Id,
    async attach(id, streams) {
      const query = streams.map((name) => `${name}=1`).join('&')
      const path = `/containers/${id}/attach?stream=1&${query}`
      const { connection, response } = await call('POST', path, { isUpgrade: true })
      return connection ?? Promise.reject(await refusal(response))
    },
    async awaitExit(id) {
      // The engine answers at once, and sends the body of the answer only when the container has ended.
      const path = `/containers/${id}/wait?condition=next-exit`
      const { response } = await call('POST', path, { isLong: true })
      const code = text(response).then((body) => Answers.exit.parse(JSON.parse(body)).StatusCode)
      code.catch(() => undefined)
      return { code }
    },
    async onOutOfMemory(id, tell) {
      const filters = encodeURIComponent(JSON.stringify({ container: [id], event: ['oom'] }))
      const { response } = await call('GET', `/events?filters=${filters}`, { isLong: true })
      response.on('data', tell).on('error', () => undefined)
      return () => response.destroy()
    },
    async start(id) {
      await ask('POST', `/containers/${id}/start`)
    },
    async remove(id) {
      try {
        await ask('DELETE', `/containers/${id}?force=1&v=1`)
      } catch (fault) {
        // 404: the container does not exist. 409: it is already being removed.
        if (!(fault instanceof EngineFault && (fault.status === 404 || fault.status === 409))) throw fault
      }
    },
    async labelled(label, value) {
      const filters = encodeURIComponent(JSON.stringify({ label: [`${label}=${value}`] }))
      const found = Answers.list.parse(await ask('GET', `/containers/json?all=1&filters=${filters}`))
      return found.map(({ Id }) => Id)
    },
  }
}

const Answers = {
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

/** Follows the lines of JSON in which the engine reports a build. A failure is in these lines, too: the status 200 was sent before it. */
async function followBuild(answer: IncomingMessage, progress: (line: string) => void): Promise<void> {
  const tooLong = new Error(`it took more than ${buildTimeoutMs / 60_000} min`)
  const timer = setTimeout(() => answer.destroy(tooLong), buildTimeoutMs)
  try {
    for await (const line of createInterface({ input: answer })) {
      const { stream, error } = Answers.build.parse(JSON.parse(line))
      if (error !== undefined) throw new Error(error.trim())
      if (stream !== undefined && /^Step |^STEP /.test(stream)) progress(stream.trim())
    }
  } finally {
    clearTimeout(timer)
    answer.destroy()
  }
}

interface CallContent {
  readonly body?: object | undefined
  /** A tar that is sent instead of a JSON body. */
  readonly tar?: Buffer
  /** Whether the answer may take a long time. */
  readonly isLong?: boolean
  /** Whether the connection is upgraded to a raw stream. */
  readonly isUpgrade?: boolean
}

/** Sends a request. Resolves when the headers of a successful answer have arrived. */
function callEngine(
  socketPath: string,
  {
    method,
    path,
    body,
    tar,
    isLong = false,
    isUpgrade = false,
  }: CallContent & { readonly method: string; readonly path: string },
): Promise<{ readonly response: IncomingMessage; readonly connection?: Socket }> {
  const content = tar ?? (body === undefined ? undefined : JSON.stringify(body))
  const headers = {
    host: 'engine',
    ...(isUpgrade && { connection: 'Upgrade', upgrade: 'tcp' }),
    ...(content !== undefined && {
      'content-type': tar ? 'application/x-tar' : 'application/json',
      'content-length': Buffer.byteLength(content),
    }),
  }
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, agent: false, headers })
    call.on('response', (response) => {
      if (isLong) call.setTimeout(0)
      if ((response.statusCode ?? 500) < 400) resolve({ response })
      else void refusal(response).then(reject)
    })
    call.on('upgrade', (response, connection: Socket, head) => {
      connection.setTimeout(0)
      // A broken connection is not reported here: the writer learns from the container's exit that the container has ended.
      connection.on('error', () => connection.destroy())
      if (head.length > 0) connection.unshift(head)
      resolve({ response, connection })
    })
    call.on('error', (fault) => reject(notThere(socketPath, fault)))
    call.setTimeout(answerTimeoutMs, () => call.destroy(new Error('it does not answer')))
    call.end(content)
  })
}

async function refusal(answer: IncomingMessage): Promise<EngineFault> {
  const body = await text(answer).catch(() => '')
  const { data } = Answers.fault.safeParse(jsonOf(body))
  // An error that is not JSON is passed on as text.
  const sentence = data?.message ?? body.trim().slice(0, 500)
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
