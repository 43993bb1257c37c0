/** A person who uses the product: signs in as a browser does, calls the API, and listens. */
import type { z } from 'zod'
import type { AnswerOf, AnyCall, BodyInputOf } from '#domain/api/call.schema.ts'
import { completeOnboarding } from '#domain/api/auth.schema.ts'
import { FaultAnswer } from '#domain/api/fields.schema.ts'
import { createProject, listRepositories } from '#domain/api/projects.schema.ts'
import { createTask, getTask, type Task } from '#domain/api/tasks.schema.ts'
import { holdsToContract } from './contract.ts'
import { connectLive, type Live } from './live.ts'
import { patienceMs } from '../patience.ts'

/** An answer of the API as it was received. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON; `undefined` when there was no body. */
  readonly body: unknown
  readonly text: string
}

type Headers_ = Readonly<Record<string, string>>

/** The parameters of a call. Query and path parameters are as in the address. */
export interface Ask<C extends AnyCall> {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: BodyInputOf<C>
  readonly headers?: Headers_
}

export interface Person {
  readonly token: string
  /** Makes any request below `/api`; a body that is a string is sent as it is. */
  api(method: string, path: string, body?: unknown, headers?: Headers_): Promise<Answer>
  /** Makes a call of the contract. Throws unless it succeeds with the status and the answer of the contract. */
  ask<C extends AnyCall>(call: C, ask?: Ask<C>): Promise<AnswerOf<C>>
  /** Makes a call that must be refused; returns the status and the answer. */
  refused<C extends AnyCall>(call: C, ask?: Ask<C>): Promise<z.infer<typeof FaultAnswer> & { status: number }>
  socket(): Promise<Live>
  /** The address of a repository at the code host, by its name. */
  repository(name: string): Promise<string>
  /** Makes a project of the repository, and returns its id. */
  project(repository: string): Promise<string>
  /** Starts a task on the project's `main`, or on another branch. */
  task(projectId: string, description: string, branch?: string): Promise<Task>
  /** The task once it matches; throws with the last state of the task after `withinMs`. */
  taskOnce(taskId: string, like: (task: Task) => boolean, withinMs?: number): Promise<Task>
}

const requestMs = patienceMs

/** A person with a token, which need not be valid. */
export function personWith(base: string, token: string | undefined): Person {
  const api: Person['api'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${base}/api${path}`, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(requestMs),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : undefined,
      text,
    }
    holdsToContract(method, path, answer)
    return answer
  }
  const send = <C extends AnyCall>(call: C, { params, query, body, headers }: Ask<C>) =>
    api(call.method, addressOf(call, params, query), body, headers)

  const person: Person = {
    token: token ?? '',
    api,
    async ask(call, ask = {}) {
      const answer = await send(call, ask)
      if (answer.status !== call.status)
        throw new Error(`${call.method} ${call.path} answered ${answer.status}: ${answer.text}`)
      return call.answer.parse(answer.body) as AnswerOf<typeof call>
    },
    async refused(call, ask = {}) {
      const { status, body, text } = await send(call, ask)
      if (status < 400) throw new Error(`${call.method} ${call.path} was not refused: ${status} ${text}`)
      return { status, ...FaultAnswer.parse(body) }
    },
    socket: () => connectLive(base, token ?? ''),
    async repository(name) {
      const { repositories } = await person.ask(listRepositories)
      const found = repositories.find((repository) => repository.name === name)
      if (!found) throw new Error(`There is no repository ${name}: ${JSON.stringify(repositories)}`)
      return found.html_url
    },
    async project(repository) {
      const { id } = await person.ask(createProject, {
        body: { repoUrl: await person.repository(repository) },
      })
      return id
    },
    async task(projectId, description, branch = 'main') {
      const body = { projectId, description, branch, agent: 'claude' } as const
      return (await person.ask(createTask, { body })).task
    },
    async taskOnce(taskId, like, withinMs = patienceMs) {
      // Each read costs processor time on both sides, and waiting costs none.
      for (let [pauseMs, end] = [50, Date.now() + withinMs]; ; pauseMs = Math.min(pauseMs * 2, 400)) {
        const { task } = await person.ask(getTask, { params: { taskId } })
        if (like(task)) return task
        if (Date.now() > end) throw new Error(`The task stays as it is: ${JSON.stringify(task, null, 1)}`)
        await new Promise((resolve) => {
          setTimeout(resolve, pauseMs)
        })
      }
    },
  }
  return person
}

/** The address of a call below `/api`, with its parameters filled in. */
export function addressOf(
  call: AnyCall,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string>> = {},
): string {
  const path = call.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(query).toString()
  return search === '' ? path : `${path}?${search}`
}

/** The steps of a browser through redirects, one at a time, with its cookies. */
export interface Steps {
  /** Opens an address; returns the status, the target of the redirect, and the cookies that were set. */
  go(address: string): Promise<{ status: number; location: string; cookies: readonly string[]; body: string }>
}

export function browserSteps(base: string): Steps {
  const jar = new Map<string, string>()
  return {
    async go(address) {
      const url = new URL(address, base)
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, {
        redirect: 'manual',
        signal: AbortSignal.timeout(requestMs),
        headers: cookie === '' ? {} : { cookie },
      })
      const cookies = response.headers.getSetCookie()
      for (const set of cookies) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        jar.set(name, value)
      }
      const body = await response.text()
      return { status: response.status, location: response.headers.get('location') ?? '', cookies, body }
    },
  }
}

/** Signs in at the local code host as `login`; the token is in the address to which the client is redirected. */
export async function signIn(base: string, login: string): Promise<{ token: string; onboarding: boolean }> {
  const browser = browserSteps(base)
  const start = await browser.go('/api/auth/github')
  const authorized = await browser.go(`${start.location}&login=${login}`)
  const back = await browser.go(authorized.location)
  const { searchParams } = new URL(back.location, base)
  const token = searchParams.get('token')
  if (token === null) throw new Error(`Signing in as ${login} led to ${back.location}`)
  return { token, onboarding: searchParams.get('onboarding') === 'true' }
}

/** Completes the onboarding with plausible data. */
export async function onboard(person: Person, fullName: string): Promise<void> {
  const body = { fullName, email: '', companySize: 'solo', role: 'developer' } as const
  await person.ask(completeOnboarding, { body })
}
