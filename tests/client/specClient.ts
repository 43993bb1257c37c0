/**
 * A client that knows only sections 7 and 8 of the specification: bare HTTP, and the nine events of the socket. It does not see members of an answer
 * that those sections do not name.
 */
import { io } from 'socket.io-client'
import { expect } from 'vitest'
import { z } from 'zod'

/** The events of the socket, in alphabetical order. */
export const nineEvents = [
  'chat_message',
  'chat_message_status_changed',
  'command_cancelled',
  'command_completed',
  'command_failed',
  'command_output',
  'global_task_status_changed',
  'task_status_changed',
  'terminal_output',
]

const User = z.object({
  id: z.string(),
  name: z.string(),
  fullName: z.string(),
  email: z.string().nullable(),
  onboardingCompleted: z.boolean(),
})
const SignedIn = z.object({ token: z.string(), user: User })
const Project = z.object({ id: z.string(), name: z.string(), defaultBranch: z.string() })
const ChangedFiles = z.array(z.object({ fileName: z.string(), status: z.string(), diff: z.string() }))
const Task = z.object({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  progress: z.number(),
  prUrl: z.string().nullable(),
  prNumber: z.number().nullable(),
})
const Image = z.object({
  id: z.string(),
  url: z.string(),
  name: z.string(),
  size: z.number(),
  type: z.string(),
})
const Message = z.object({
  id: z.string(),
  message: z.string().nullable(),
  messageType: z.string(),
  isCommand: z.boolean(),
  commandText: z.string().nullable(),
  images: z.array(Image),
  commandStatus: z.string(),
  response: z.string().nullable(),
})
const Entry = z.object({ taskId: z.string(), timestamp: z.string(), content: z.string() })
const Diff = z.object({
  status: z.string(),
  changedFiles: ChangedFiles,
  totalChanges: z.number(),
  currentBranch: z.string(),
  commitComparison: z.object({ ahead: z.number(), behind: z.number() }),
})
const Failure = z.object({ error: z.string().min(1) })

const StatusChanged = z.object({ taskId: z.string(), status: z.string(), progress: z.number() })
const MessageStatusChanged = z.object({
  taskId: z.string(),
  messageId: z.string(),
  commandStatus: z.string(),
  response: z.string().nullable(),
})
const Printed = z.object({ type: z.enum(['stdout', 'stderr']), output: z.string() })

/** The time limit for a turn or a command, which may take long on a busy machine. */
const withinMs = 60_000
const waits = { timeout: withinMs }

/** Makes calls below `/api`, as JSON, with the token if there is one. */
function callsTo(base: string, token?: string) {
  const ask = async (method: string, path: string, body?: unknown) => {
    const isForm = body instanceof FormData
    const answer = await fetch(`${base}/api${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    })
    const told: unknown = await answer.json()
    return { status: answer.status, ok: answer.ok, told, about: `${method} ${path}: ${JSON.stringify(told)}` }
  }
  return {
    /** Makes a call that must succeed, and returns the named members of its answer. */
    async call<Shape extends z.ZodRawShape>(shape: Shape, method: string, path: string, body?: unknown) {
      const { ok, told, about } = await ask(method, path, body)
      if (!ok) throw new Error(about)
      return z.object(shape).parse(told)
    },
    /** Makes a call that must be refused with a reason, and returns the status. */
    async refused(method: string, path: string, body?: unknown) {
      const { status, told, about } = await ask(method, path, body)
      if (!Failure.safeParse(told).success) throw new Error(`This is no refusal: ${about}`)
      return status
    },
  }
}

/** Registers, signs in and completes the onboarding; returns the user. */
export async function walkThePassword(base: string): Promise<z.infer<typeof User>> {
  const { call, refused } = callsTo(base)
  const [email, password] = ['spec.client@example.com', 'correct horse battery']
  const registered = await call(SignedIn.shape, 'POST', '/auth/register', {
    name: 'Sam Doe',
    email,
    password,
  })
  expect(registered.user).toMatchObject({ name: 'Sam Doe', email, onboardingCompleted: false })
  expect(await refused('POST', '/auth/login', { email, password: 'another password' })).toBe(401)
  const { token, user } = await call(SignedIn.shape, 'POST', '/auth/login', { email, password })
  expect(user).toEqual(registered.user)
  const mine = callsTo(base, token)
  expect((await mine.call({ user: User }, 'GET', '/auth/me')).user).toEqual(user)
  const answers = { fullName: 'Sam Doe', companySize: 'solo', role: 'developer' }
  const onboarded = await mine.call({ user: User }, 'POST', '/auth/complete-onboarding', answers)
  expect(onboarded.user).toMatchObject({ fullName: 'Sam Doe', onboardingCompleted: true })
  expect((await mine.call({ projects: z.array(Project) }, 'GET', '/projects')).projects).toEqual([])
  return onboarded.user
}

const returns = [
  ['code=x&state=y', 'session_lost'],
  ['setup_action=install', 'no_install_id'],
  ['installation_id=x&setup_action=install', 'install_callback'],
  ['installation_id=7&setup_action=install', null],
] as const
/** The errors that `walkTheSignInErrors` must find: each return from the code host without the cookie of a sign-in, and with it. */
export const signInErrors = [...returns, ...returns, ['error=access_denied', 'github'] as const]

/** Returns from the code host in each way after which nobody is signed in; collects the error in the address to which the browser is redirected. */
export async function walkTheSignInErrors(
  base: string,
): Promise<readonly (readonly [string, string | null])[]> {
  const go = async (path: string, cookie = '') => {
    const url = `${base}/api/auth/github${path}`
    const { status, headers } = await fetch(url, { redirect: 'manual', headers: { cookie } })
    expect(status).toBe(302)
    const cookies = headers.getSetCookie().map((set) => set.split(';')[0])
    return { location: new URL(headers.get('location') ?? '', base), cookies: cookies.join('; ') }
  }
  const begun = await go('')
  expect(await callsTo(base).refused('GET', '/projects')).toBe(401)
  const errorOf = async (query: string, cookies: string) =>
    [query, (await go(`/callback?${query}`, cookies)).location.searchParams.get('error')] as const
  const told = []
  for (const cookies of ['', begun.cookies])
    for (const [query] of returns) told.push(await errorOf(query, cookies))
  const state = begun.location.searchParams.get('state') ?? ''
  const [, refused] = await errorOf(`error=access_denied&state=${state}`, begun.cookies)
  return [...told, ['error=access_denied', refused]]
}

/**
 * The main job: creates a task in this project and follows it to its end, continues it, sends a message with an image, runs three commands of which
 * one fails and one is cancelled, and opens a pull request. Returns the names of the events that were received.
 */
export async function walkTheMainJob(
  base: string,
  token: string,
  projectId: string,
): Promise<readonly string[]> {
  const { call, refused } = callsTo(base, token)
  const socket = io(base, {
    auth: { token },
    withCredentials: true,
    transports: ['websocket', 'polling'],
    timeout: 20_000,
    forceNew: true,
  })
  const heard = new Set<string>()
  /** Checks and collects the payloads of this event, with the members that the specification names. */
  const hearing = <T>(name: string, schema: z.ZodType<T>) => {
    const payloads: unknown[] = []
    socket.on(name, (payload: unknown) => {
      heard.add(name)
      payloads.push(payload)
    })
    return () => payloads.map((payload) => schema.parse(payload))
  }
  const terminalOutput = hearing('terminal_output', Entry)
  const chatMessages = hearing('chat_message', Message)
  const messageChanges = hearing('chat_message_status_changed', MessageStatusChanged)
  const taskChanges = hearing('task_status_changed', StatusChanged)
  const globalChanges = hearing('global_task_status_changed', StatusChanged)
  const commandOutput = hearing('command_output', Printed)
  const commandsDone = hearing('command_completed', z.unknown())
  const commandsFailed = hearing('command_failed', z.unknown())
  const commandsCancelled = hearing('command_cancelled', z.unknown())
  let taskId = ''
  /** Counts how often the task has come to its end. */
  const ends = () =>
    globalChanges().filter((change) => change.taskId === taskId && change.status === 'completed').length
  try {
    await expect.poll(() => socket.connected, waits).toBe(true)

    const { user } = await call({ user: User }, 'PUT', '/auth/profile', { name: 'Ada King' })
    expect(user.name).toBe('Ada King')
    expect((await call({ user: User }, 'GET', '/auth/me')).user).toEqual(user)
    await call({ user: z.object({ login: z.string(), public_repos: z.number() }) }, 'GET', '/github/user')
    await call({ organizations: z.array(z.unknown()) }, 'GET', '/github/orgs')
    const Repository = z.object({ id: z.union([z.number(), z.string()]), full_name: z.string() })
    const repositories = { repositories: z.array(Repository) }
    await call(repositories, 'GET', '/github/repos?type=all&sort=updated&per_page=100')

    const repository = { name: 'by-the-book', description: 'Of the specification', private: true }
    const created = await call(
      { data: z.object({ html_url: z.string() }) },
      'POST',
      '/github/repos',
      repository,
    )
    expect(await refused('POST', '/github/repos', repository)).toBe(422)
    const payloadOfProject = { repoUrl: created.data.html_url, name: 'By the book', description: '' }
    const other = (await call({ project: Project }, 'POST', '/projects', payloadOfProject)).project
    const changed = await call({ project: Project }, 'PUT', `/projects/${other.id}`, { name: 'Changed' })
    expect(changed.project.name).toBe('Changed')
    await call({}, 'POST', `/projects/${other.id}/sync`)
    await call({}, 'DELETE', `/projects/${other.id}`)
    expect(await refused('GET', `/projects/${other.id}`)).toBe(404)

    const { projects } = await call({ projects: z.array(Project) }, 'GET', '/projects')
    const project = projects.find(({ id }) => id === projectId)
    if (project === undefined) throw new Error(`The project to work in is not listed.`)
    expect((await call({ project: Project }, 'GET', `/projects/${project.id}`)).project).toEqual(project)
    const ofProject = `/projects/${project.id}`
    const { branches } = await call(
      { branches: z.array(z.object({ name: z.string() })) },
      'GET',
      `${ofProject}/branches`,
    )
    expect(branches).toContainEqual({ name: project.defaultBranch })
    const standing = { data: z.object({ currentBranch: z.string() }) }
    await call(standing, 'GET', `${ofProject}/git/status`)

    const dot = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
      'base64',
    )
    const form = new FormData()
    form.set('image', new Blob([dot], { type: 'image/png' }), 'dot.png')
    const { url } = await call({ url: z.string() }, 'POST', '/upload/image', form)
    expect((await fetch(new URL(url, base))).headers.get('content-type')).toBe('image/png')

    const title = 'Say something of the book'
    await call({}, 'POST', '/tasks', {
      title,
      description: title,
      projectId: project.id,
      branch: project.defaultBranch,
      codexModel: '',
      images: [url],
      agent: 'claude',
    })
    const { tasks } = await call({ tasks: z.array(Task) }, 'GET', `/tasks?project=${project.id}&limit=10`)
    expect(tasks[0]?.title).toBe(title)
    taskId = tasks[0]?.id ?? ''
    const path = `/tasks/${taskId}`
    socket.emit('join_task', taskId)
    const task = async () => (await call({ task: Task }, 'GET', path)).task
    await expect.poll(ends, waits).toBe(1)
    await expect.poll(async () => (await task()).status, waits).toBe('completed')

    await call({ task: Task }, 'POST', `${path}/retry`)
    await expect.poll(ends, waits).toBe(2)
    const send = (body: { message: string; isCommand: boolean; images: readonly string[] }) =>
      call({ success: z.literal(true), chatMessage: Message }, 'POST', `${path}/chat`, {
        ...body,
        messageType: body.isCommand ? 'command' : 'user',
        commandText: body.isCommand ? body.message : '',
        agent: 'claude',
      })
    const { chatMessage } = await send({ message: 'Say something more', isCommand: false, images: [url] })
    expect(chatMessage).toMatchObject({
      messageType: 'user',
      images: [{ name: 'dot.png', type: 'image/png' }],
    })
    await expect.poll(ends, waits).toBe(3)

    const run = (command: string) => send({ message: command, isCommand: true, images: [] })
    await run('echo more >> README.md; echo done')
    await expect.poll(commandsDone, waits).toHaveLength(1)
    expect(commandOutput()).toContainEqual({ type: 'stdout', output: 'done\n' })
    const { chatMessage: failing } = await run('exit 3')
    await expect.poll(commandsFailed, waits).toHaveLength(1)
    // The specification does not name the paths for executing and cancelling, so these are the product's.
    await run('echo begun; sleep 600')
    await expect.poll(() => commandOutput().map(({ output }) => output), waits).toContain('begun\n')
    await call({}, 'POST', `${path}/cancel`)
    await expect.poll(commandsCancelled, waits).toHaveLength(1)
    await expect.poll(async () => (await task()).status, waits).toBe('completed')

    const statuses = taskChanges().filter((change) => change.taskId === taskId)
    expect(statuses.map(({ status }) => status)).toContain('running')
    const fared = messageChanges()
    expect(fared.map(({ commandStatus }) => commandStatus)).toEqual(
      expect.arrayContaining(['running', 'completed', 'failed', 'cancelled']),
    )
    const failed = { taskId, messageId: failing.id, commandStatus: 'failed', response: expect.any(String) }
    expect(fared).toContainEqual(failed)
    expect(terminalOutput().map((entry) => entry.taskId)).toContain(taskId)
    const said = chatMessages().map(({ messageType }) => messageType)
    expect(said).toEqual(expect.arrayContaining(['user', 'command', 'response']))

    const { messages } = await call({ messages: z.array(Message) }, 'GET', `${path}/chat`)
    expect(messages.map(({ message }) => message)).toEqual(
      expect.arrayContaining([title, 'Said.', 'Say something more', 'exit 3']),
    )
    await call({ logs: z.array(z.unknown()) }, 'GET', `${path}/commands`)
    const { output } = await call({ output: z.array(Entry) }, 'GET', `${path}/terminal`)
    expect(output.map(({ content }) => content).join('')).toContain('done\n')

    const readDiff = (query = '') => call({ data: Diff }, 'GET', `${path}/git/diff${query}`)
    const { data } = await readDiff()
    expect(data.changedFiles).toMatchObject([{ fileName: 'README.md', status: 'modified' }])
    expect(data.changedFiles[0]?.diff).toContain('\n+more')
    expect((await readDiff(`?baseBranch=${project.defaultBranch}`)).data).toEqual(data)
    // The same diff, as a list reads it for the numbers of changed lines.
    const counted = await call({ data: z.object({ changedFiles: ChangedFiles }) }, 'GET', path)
    expect(counted.data.changedFiles).toEqual(data.changedFiles)

    const Pr = z.object({ html_url: z.string(), number: z.number() })
    const { pr } = await call({ pr: Pr }, 'POST', `${path}/pr`, {})
    await expect.poll(task, waits).toMatchObject({ prUrl: pr.html_url, prNumber: pr.number })
    await expect
      .poll(async () => (await readDiff()).data.commitComparison, waits)
      .toEqual({ ahead: 1, behind: 0 })
    await expect.poll(() => chatMessages().map(({ messageType }) => messageType), waits).toContain('system')

    socket.emit('leave_task', taskId)
    const renamed = await call({ task: Task }, 'PUT', path, { title: 'By the book' })
    expect(renamed.task).toMatchObject({ id: taskId, title: 'By the book' })
    await call({}, 'DELETE', path)
    expect(await refused('GET', path)).toBe(404)
    return [...heard].toSorted()
  } finally {
    socket.close()
  }
}
