/** The main job over HTTP and the socket, end to end, with the real CLI and real git: sign in, import, run, watch, follow up, publish. */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { completeOnboarding, getMe } from '#domain/api/auth.schema.ts'
import {
  ChatMessage,
  getChat,
  getCommands,
  getTerminal,
  MessageDelta,
  MessageFragment,
  sendMessage,
  TerminalOutput,
} from '#domain/api/chat.schema.ts'
import {
  createProject,
  getGitHubUser,
  getProjectGitStatus,
  listBranches,
  listOrganizations,
  listProjects,
  listRepositories,
} from '#domain/api/projects.schema.ts'
import { getNotices } from '#domain/api/server.schema.ts'
import {
  ChatMessageStatusChanged,
  CommandEnded,
  CommandOutput,
  TaskStatusChanged,
} from '#domain/api/socket.schema.ts'
import {
  createPullRequest,
  createTask,
  executeTask,
  getFileLines,
  getTask,
  getTaskDiff,
  listTasks,
} from '#domain/api/tasks.schema.ts'
import { comparePositions } from '#domain/kernel/event.ts'
import { gitDone, localRepository } from '../contracts/codeHost.fixture.ts'
import { asRead, type Live } from '../product/live.ts'
import { browserSteps, type Person } from '../product/person.ts'
import { ownFolder, startProduct, type Product } from '../product.ts'
import { note } from '../report/notes.ts'
import { startMessagesApi, type MessagesApi } from '../standins/messagesApi.ts'
import { files, hasEnded, watching } from './scene.ts'

const description = 'Say goodbye in the README\nand tell how many lines it has'
const farewell = 'The README says goodbye now.\nIt has four lines.'

let folder = ''
let api: MessagesApi
let product: Product
let ada: Person
let projectId = ''
let taskId = ''
let live: Live

beforeAll(async () => {
  note('messages of the model', 'a scripted Messages API, not Anthropic')
  note('the code host', 'the local code host, not GitHub')
  folder = await ownFolder()
  await localRepository(join(folder, 'engine'), files)
  await gitDone(join(folder, 'engine'), ['branch', 'release'])
  api = await startMessagesApi([
    {
      when: /Say goodbye/,
      turns: [
        {
          text: 'I will read it first.',
          tools: [{ name: 'Read', input: { file_path: '/workspace/README.md' } }],
        },
        {
          tools: [
            {
              name: 'Edit',
              input: {
                file_path: '/workspace/README.md',
                old_string: 'It computes.\n',
                new_string: 'It computes.\nGoodbye.\n',
              },
            },
          ],
        },
        { tools: [{ name: 'Bash', input: { command: 'wc -l < README.md', description: 'Count lines' } }] },
        { text: farewell },
      ],
    },
    {
      when: /And in German/,
      turns: [
        {
          tools: [
            { name: 'Bash', input: { command: 'echo "Auf Wiedersehen." >> README.md', description: 'Add' } },
          ],
        },
        { text: 'Auch auf Deutsch.' },
      ],
    },
  ])
  product = await startProduct({ repos: [join(folder, 'engine')], model: { messagesApi: api } })
})
afterAll(async () => {
  live?.close()
  await product?.stop().finally(() => api.close())
  await rm(folder, { recursive: true, force: true })
})

describe('before anybody has signed in', () => {
  test('the page is served, and the server tells how it is', async () => {
    const page = await fetch(`${product.base}/`)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<div id="root">')
    // Every address that is no file is the client's to show.
    expect(await (await fetch(`${product.base}/tasks/anything`)).text()).toContain('<div id="root">')
    expect(await (await fetch(`${product.base}/healthz`)).json()).toEqual({ alive: true })
    const ready = await fetch(`${product.base}/readyz`)
    expect(ready.status).toBe(200)
    expect(await ready.json()).toMatchObject({ ready: true, parts: { eventStore: true, vault: true } })
  })

  // Holds contract 7.38a.
  test('its parts come compressed, with their length, and are kept by the browser; the page itself is not', async () => {
    const page = await fetch(`${product.base}/`)
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    const asset = /\/assets\/libraries-[^"]+\.js/.exec(await page.text())?.[0] ?? ''
    for (const encoding of ['gzip', 'br']) {
      const { status, headers } = await fetch(product.base + asset, {
        headers: { 'accept-encoding': encoding },
      })
      expect({ status, encoding: headers.get('content-encoding') }).toEqual({ status: 200, encoding })
      expect(Number(headers.get('content-length'))).toBeGreaterThan(0)
      expect(headers.get('cache-control')).toContain('immutable')
    }
    const manifest = await fetch(`${product.base}/.vite/manifest.json`)
    expect(manifest.status).toBe(404)
  })

  test('a call that there is not answers 404, and so does an unknown path below /api for any method', async () => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await product.personWith(undefined).api(method, '/nothing')
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })
})

describe('signing in', () => {
  // Holds contract 7.8.
  test('goes to the code host with state and PKCE, keeps the loopback host, and comes back with a token', async () => {
    const browser = browserSteps(product.base)
    const start = await browser.go('/api/auth/github')
    expect(start.status).toBe(302)
    const authorize = new URL(start.location)
    expect(authorize.hostname).toBe('127.0.0.1')
    expect(authorize.port).toBe(new URL(product.codeHostUrl).port)
    expect(Object.fromEntries(authorize.searchParams)).toEqual({
      client_id: expect.stringMatching(/./),
      redirect_uri: `${product.base}/api/auth/github/callback`,
      state: expect.stringMatching(/^[\w-]{32,}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(start.cookies).toHaveLength(1)
    expect(start.cookies[0]).toMatch(/; path=\/api\/auth\/github;.*; samesite=lax; httponly$/i)

    const page = await browser.go(start.location)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('Ada Lovelace') })
    const authorized = await browser.go(`${start.location}&login=ada`)
    expect(authorized.status).toBe(302)
    const callback = new URL(authorized.location)
    expect(callback.origin + callback.pathname).toBe(`${product.base}/api/auth/github/callback`)
    expect(callback.searchParams.get('state')).toBe(authorize.searchParams.get('state'))

    const back = await browser.go(authorized.location)
    expect(back.status).toBe(302)
    expect(back.location).toMatch(/^\/auth\/callback\?token=[\w.-]+&onboarding=true$/)
    // The cookie has done its work.
    expect(back.cookies[0]).toMatch(/^flightdeck_sign_in=;.*expires=Thu, 01 Jan 1970/i)
    ada = product.personWith(new URL(back.location, product.base).searchParams.get('token') ?? undefined)

    // The same answer of the code host, played again, lets nobody in.
    const again = await browser.go(authorized.location)
    expect(again.location).toBe('/auth/callback?error=session_lost')
  })

  test('keeps localhost where the person came by localhost, and answers to no other name', async () => {
    const { port } = new URL(product.base)
    const redirectFor = (host: string) =>
      new Promise<string>((resolve, reject) => {
        const asked = request(
          { host: '127.0.0.1', port, path: '/api/auth/github', headers: { host } },
          (response) => {
            response.resume()
            const { location } = response.headers
            if (location === undefined) return resolve(String(response.statusCode))
            const { searchParams } = new URL(location)
            resolve(searchParams.get('redirect_uri') ?? '')
          },
        )
        asked.once('error', reject)
        asked.end()
      })
    expect(await redirectFor(`localhost:${port}`)).toBe(`http://localhost:${port}/api/auth/github/callback`)
    expect(await redirectFor(`127.0.0.1:${port}`)).toBe(`http://127.0.0.1:${port}/api/auth/github/callback`)
    for (const host of ['evil.example', `localhost.evil.example:${port}`, `127.0.0.1.evil.example`])
      expect(await redirectFor(host)).toBe('421')
  })

  test.each([
    ['was refused by the person', 'error=access_denied', 'github'],
    ['lacks the code', '', 'github'],
    ['brings a code that the host did not give', 'code=made-up', 'github'],
  ])('that %s ends on the sign-in screen with the reason', async (_, query, error) => {
    const browser = browserSteps(product.base)
    const { location } = await browser.go('/api/auth/github')
    const state = new URL(location).searchParams.get('state')
    const back = await browser.go(`/api/auth/github/callback?state=${state}&${query}`)
    expect(back).toMatchObject({ status: 302, location: `/auth/callback?error=${error}` })
  })

  test('without the journey that was begun here, or with the state of another, leads to no session', async () => {
    const stranger = browserSteps(product.base)
    const { location } = await stranger.go('/api/auth/github')
    const authorized = await stranger.go(`${location}&login=ada`)
    const victim = browserSteps(product.base)
    expect((await victim.go(authorized.location)).location).toBe('/auth/callback?error=session_lost')
    await victim.go('/api/auth/github')
    expect((await victim.go(authorized.location)).location).toBe('/auth/callback?error=session_lost')
  })
})

describe('the onboarding', () => {
  // Holds contract 7.4.
  test('is all that is open at first', async () => {
    expect(await ada.ask(getMe)).toMatchObject({
      user: {
        fullName: 'Ada Lovelace',
        onboardingCompleted: false,
        githubConnected: true,
        githubUsername: 'ada',
      },
    })
    expect(await ada.refused(listProjects)).toMatchObject({ status: 403, code: 'onboarding_incomplete' })
  })

  // Holds contract 7.7.
  test('asks for name, team size and role, and opens the rest', async () => {
    const whole = { fullName: 'Ada King', companySize: 'solo', role: 'developer' } as const
    for (const lacking of ['fullName', 'companySize', 'role'] as const) {
      const { [lacking]: _left, ...rest } = whole
      const answer = await ada.api('POST', '/auth/complete-onboarding', rest)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', field: lacking } })
    }
    const { user } = await ada.ask(completeOnboarding, { body: whole })
    expect(user).toMatchObject({ fullName: 'Ada King', onboardingCompleted: true, email: 'ada@example.com' })
    expect(await ada.ask(listProjects)).toEqual({ projects: [], next: null })
    const again = await product.signIn('ada', { onboarding: 'left' })
    expect((await again.ask(getMe)).user).toMatchObject({ onboardingCompleted: true, fullName: 'Ada King' })
  })

  test('leaves nothing to say of how the server is set up when a key is there', async () => {
    expect(await ada.ask(getNotices)).toEqual({ notices: [] })
  })
})

describe('a project', () => {
  // Holds contract 7.9, 7.30, 7.31b, 7.32.
  test('is made of a repository that the person can reach', async () => {
    expect(await ada.ask(getGitHubUser)).toMatchObject({ user: { login: 'ada' } })
    expect((await ada.ask(listOrganizations)).organizations).toMatchObject([{ login: 'acme' }])
    const { repositories } = await ada.ask(listRepositories, {
      query: { type: 'all', sort: 'updated', per_page: '100' },
    })
    expect(repositories).toMatchObject([
      {
        name: 'engine',
        full_name: 'ada/engine',
        private: false,
        html_url: `${product.codeHostUrl}/ada/engine`,
      },
    ])
    const repoUrl = repositories[0]?.html_url ?? ''
    const { id, project } = await ada.ask(createProject, { body: { repoUrl } })
    projectId = id
    expect(project).toMatchObject({
      id,
      name: 'engine',
      status: 'active',
      isPrivate: false,
      isOrganization: false,
      githubUrl: repoUrl,
      githubOwner: 'ada',
      githubRepoName: 'engine',
      defaultBranch: 'main',
      stats: { totalTasks: 0, completedTasks: 0, runningTasks: 0 },
    })
    expect((await ada.ask(listProjects)).projects).toEqual([project])
    expect(await ada.ask(listBranches, { params: { projectId } })).toEqual({
      branches: [{ name: 'main' }, { name: 'release' }],
    })
  })

  test('is not made twice of one repository, nor of what is none', async () => {
    const repoUrl = `${product.codeHostUrl}/ada/engine`
    expect(await ada.refused(createProject, { body: { repoUrl } })).toMatchObject({
      status: 409,
      code: 'already_exists',
    })
    expect(
      await ada.refused(createProject, { body: { repoUrl: `${product.codeHostUrl}/ada/none` } }),
    ).toMatchObject({
      status: 422,
      code: 'code_host_refused',
      field: 'repoUrl',
      error: 'GitHub has no repository ada/none, or your account cannot see it.',
    })
    expect(await ada.refused(createProject, { body: { repoUrl: 'https://example.com/x' } })).toMatchObject({
      status: 400,
      field: 'repoUrl',
    })
  })
})

const positionsOf = (heard: Live['heard']) =>
  heard.flatMap(({ name, payload }) =>
    'position' in payload && name !== 'global_task_status_changed' ? [payload.position] : [],
  )
const inOrder = (positions: readonly string[]) => positions.toSorted(comparePositions)

describe('a task', () => {
  // Holds contract 7.17c, 7.19a.
  test('is made, and runs by itself', async () => {
    const body = {
      title: '',
      description,
      projectId,
      branch: 'main',
      codexModel: 'o4-mini',
      images: [],
      agent: 'claude' as const,
    }
    const { task, position } = await ada.ask(createTask, { body })
    taskId = task.id
    live = await watching(ada, taskId)
    expect(position).toMatch(/^\d+$/)
    expect(task).toMatchObject({
      title: 'Say goodbye in the README',
      description,
      status: expect.stringMatching(/^(queued|running)$/),
      agent: 'claude',
      codexModel: 'o4-mini',
      branch: 'main',
      project: { id: projectId, name: 'engine', githubRepoName: 'engine' },
      prUrl: null,
      prNumber: null,
      images: [],
    })
    expect((await ada.ask(listTasks, { query: { project: projectId, limit: '10' } })).tasks).toMatchObject([
      { id: taskId },
    ])
    const done = await ada.taskOnce(taskId, hasEnded)
    expect(done).toMatchObject({
      status: 'completed',
      progress: 100,
      failure: null,
      workingBranch: expect.stringMatching(/^flightdeck\/say-goodbye/),
      changes: { files: 1, additions: 1, deletions: 0 },
      usage: { inputTokens: expect.any(Number), model: expect.any(String) },
    })
    expect(done.usage.outputTokens).toBeGreaterThan(0)
    await live.until(
      'the end',
      ({ name, payload }) => name === 'task_status_changed' && payload.status === 'completed',
    )
  })

  test('was told live: in order, each event with the fields of the spec and its position', async () => {
    const placed = z.object({ position: z.string(), version: z.number() })
    const schemas = {
      terminal_output: TerminalOutput,
      chat_message: ChatMessage,
      chat_message_words: MessageFragment,
      thought_words: MessageFragment,
      chat_message_delta: MessageDelta,
      chat_message_status_changed: ChatMessageStatusChanged,
      task_status_changed: TaskStatusChanged,
      global_task_status_changed: TaskStatusChanged,
      command_output: CommandOutput,
      command_completed: CommandEnded,
      command_failed: CommandEnded,
      command_cancelled: CommandEnded,
      question_asked: placed,
      question_answered: placed,
      question_withdrawn: placed,
      task_event: placed,
      task_resync: z.object({ taskId: z.string() }),
    }
    for (const { name, payload } of live.heard)
      expect(schemas[name].safeParse(payload).error, `${name} ${JSON.stringify(payload)}`).toBeUndefined()
    const positions = positionsOf(live.heard)
    expect(positions).toEqual(inOrder(positions))

    const statuses = live.of('task_status_changed')
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set(['running', 'completed']))
    const progress = statuses.map((change) => change.progress)
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    expect(live.of('global_task_status_changed').at(-1)).toMatchObject({ taskId, status: 'completed' })
    expect(live.of('chat_message_status_changed').at(-1)).toMatchObject({ taskId, commandStatus: 'pending' })
    expect(live.of('chat_message').map(({ message }) => message)).toEqual(['I will read it first.', farewell])
    expect(live.of('task_resync')).toEqual([])
  })

  test('has its words as they are said, as they were recorded, and whole, under the same id', () => {
    for (const { id, message } of live.of('chat_message')) {
      const said = live.of('chat_message_words').filter(({ messageId }) => messageId === id)
      expect(message?.slice(said.at(-1)?.offset)).toBe(said.at(-1)?.text)
      const pieces = live.of('chat_message_delta').filter(({ messageId }) => messageId === id)
      expect(pieces.map(({ text }) => text).join('')).toBe(message)
      let offset = 0
      for (const piece of pieces) {
        expect(piece.offset).toBe(offset)
        offset += piece.text.length
      }
    }
  })

  // Holds contract 7.23, 7.26, 7.29c.
  test('shows the same in its history as it told live', async () => {
    const params = { taskId }
    const { messages } = await ada.ask(getChat, { params })
    expect(messages.map(({ messageType, message }) => [messageType, message])).toEqual([
      ['user', description],
      ['response', 'I will read it first.'],
      ['response', farewell],
    ])
    expect(messages[0]).toMatchObject({ status: 'completed', commandStatus: 'pending', isCommand: false })
    expect(messages.slice(1)).toEqual(asRead(live.of('chat_message')))

    const { output } = await ada.ask(getTerminal, { params })
    const heard = asRead(live.of('terminal_output'))
    expect(output.slice(-heard.length)).toEqual(heard)
    const text = output.map(({ content }) => content).join('')
    expect(text).toContain('wc -l < README.md')
    // What the agent says is in the chat, and not here as well.
    expect(text).not.toContain(farewell)
    expect(text).toMatch(/^4$/m)

    const { logs } = await ada.ask(getCommands, { params })
    expect(logs.map(({ kind, name, status }) => [kind, name, status])).toEqual([
      ['read', 'Read', 'completed'],
      ['edit', 'Edit', 'completed'],
      ['run', 'Bash', 'completed'],
    ])
    expect(logs[1]).toMatchObject({ target: 'README.md', additions: 1, deletions: 0 })
    expect(logs[2]).toMatchObject({ target: 'wc -l < README.md', exitCode: 0, output: '4' })
    for (const { position } of [...messages, ...output, ...logs]) expect(position).toMatch(/^\d+$/)
  })

  // Holds contract 3.11c, 7.27.
  test('has really edited the file, and shows the difference', async () => {
    const { data } = await ada.ask(getTaskDiff, { params: { taskId } })
    expect(data).toMatchObject({
      status: 'ready',
      exists: true,
      totalChanges: 1,
      currentBranch: expect.stringMatching(/^flightdeck\//),
      baseBranch: 'main',
      commitComparison: { ahead: 0, behind: 0 },
      truncated: false,
    })
    expect(data.changedFiles).toMatchObject([
      { fileName: 'README.md', status: 'modified', additions: 1, deletions: 0, binary: false },
    ])
    expect(data.changedFiles[0]?.diff).toContain('\n+Goodbye.\n')
    const beside = await ada.ask(getTask, { params: { taskId } })
    expect(beside.data.changedFiles).toEqual(data.changedFiles)
    // Nothing has reached the person's own repository.
    expect(await readFile(join(folder, 'engine/README.md'), 'utf8')).toBe(files['README.md'])
    const blobs = async () =>
      (await readdir(join(product.dataDir, 'blobs'), { recursive: true })).filter((path) =>
        /[0-9a-f]{64}$/.test(path),
      )
    const kept = await blobs()
    expect(kept.length).toBeGreaterThan(0)
    const other = await ada.ask(getTaskDiff, { params: { taskId }, query: { baseBranch: 'release' } })
    // No pull request is made of what is shown against another branch.
    expect(other.data).toEqual({ ...data, baseBranch: 'release', tree: null })
    expect(await blobs()).toEqual(kept)
    const none = await ada.refused(getTaskDiff, { params: { taskId }, query: { baseBranch: 'nowhere' } })
    expect(none).toMatchObject({ status: 409, code: 'base_not_recorded' })
  })

  test('tells lines of a changed file as they were before, and of no other file', async () => {
    const lines = (query: Readonly<Record<'path' | 'from' | 'to', string>>) => ({ params: { taskId }, query })
    expect(await ada.ask(getFileLines, lines({ path: 'README.md', from: '2', to: '9' }))).toEqual({
      from: 2,
      lines: ['', 'It computes.'],
      total: 3,
    })
    for (const path of ['src/greet.js', '../README.md', '/etc/passwd', './README.md', '.git/config'])
      expect(await ada.refused(getFileLines, lines({ path, from: '1', to: '9' }))).toMatchObject({
        status: 404,
        field: 'path',
      })
    expect(await ada.refused(getFileLines, lines({ path: 'README.md', from: '3', to: '2' }))).toMatchObject({
      status: 400,
      field: 'to',
    })
  })
})

describe('a follow-up', () => {
  // Holds contract 7.24a.
  test('is the next turn of the same session: the model sees what was said before', async () => {
    const before = api.requests.length
    const { chatMessage } = await ada.ask(sendMessage, {
      params: { taskId },
      body: {
        message: 'And in German, please',
        messageType: 'user',
        isCommand: false,
        commandText: null,
        images: [],
      },
    })
    expect(chatMessage).toMatchObject({
      message: 'And in German, please',
      owner: expect.any(String),
      task: taskId,
    })
    await ada.taskOnce(taskId, (task) => hasEnded(task) && (task.changes?.additions ?? 0) === 2)
    const seen = JSON.stringify(api.requests.slice(before).map(({ body }) => body))
    expect(seen).toContain('Say goodbye in the README')
    expect(seen).toContain('It has four lines.')
    expect(seen).toContain('And in German, please')
    const started = live.of('task_event').filter(({ type }) => type === 'AgentStarted')
    expect(started.map(({ data }) => 'resumed' in data && data.resumed)).toEqual([false, true])
    const { messages } = await ada.ask(getChat, { params: { taskId } })
    expect(messages.map(({ message }) => message).slice(-2)).toEqual([
      'And in German, please',
      'Auch auf Deutsch.',
    ])
  })
})

describe('a command', () => {
  // Holds contract 4.3b, 7.25, 7.29a.
  test('runs in the workspace, is told as it prints and as it ends, and gives the task its status back', async () => {
    const command = 'pwd; tail -1 README.md; echo oops >&2'
    const { task } = await ada.ask(executeTask, { params: { taskId }, body: { command } })
    expect(task.status).toMatch(/^(queued|running)$/)
    const ended = await live.until('its end', ({ name }) => name === 'command_completed')
    expect(ended.payload).toMatchObject({ taskId, exitCode: 0 })
    const printed = (type: string) =>
      live
        .of('command_output')
        .flatMap((said) => (said.type === type ? [said.output] : []))
        .join('')
    expect(printed('stdout')).toBe('/workspace\nAuf Wiedersehen.\n')
    expect(printed('stderr')).toBe('oops\n')
    // The terminal also has what we say around it.
    const terminal = live
      .of('terminal_output')
      .flatMap(({ type, content }) => (type === 'stdout' ? [content] : []))
    expect(terminal.join('')).toContain(`\u001B[1m$ ${command}\u001B[0m\n/workspace\nAuf Wiedersehen.\n`)
    expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed', progress: 100 })
    // Which of its two channels is read first is left open.
    const all = /(?=[^]*\/workspace)(?=[^]*Auf Wiedersehen\.)(?=[^]*oops)/
    const { messages } = await ada.ask(getChat, { params: { taskId } })
    expect(messages.at(-1)).toMatchObject({
      messageType: 'command',
      isCommand: true,
      commandText: command,
      commandStatus: 'completed',
      response: expect.stringMatching(new RegExp(`^exit 0\n${all.source}`)),
    })
    const { logs } = await ada.ask(getCommands, { params: { taskId } })
    expect(logs.at(-1)).toMatchObject({
      messageId: messages.at(-1)?.id,
      kind: 'run',
      target: command,
      status: 'completed',
      exitCode: 0,
      output: expect.stringMatching(new RegExp(`^${all.source}`)),
    })
  })

  // Holds contract 7.36c.
  test('that fails says with which exit code, also when it came by the chat', async () => {
    const command = 'git checkout -b sidetrack; exit 3'
    const body = {
      message: command,
      messageType: 'command',
      isCommand: true,
      commandText: command,
    } as const
    const { chatMessage } = await ada.ask(sendMessage, { params: { taskId }, body })
    const ended = await live.until('its end', ({ name }) => name === 'command_failed')
    expect(ended.payload).toMatchObject({ messageId: chatMessage.id, exitCode: 3 })
    expect(live.of('chat_message_status_changed').at(-1)).toMatchObject({
      messageId: chatMessage.id,
      commandStatus: 'failed',
      response: "exit 3\nSwitched to a new branch 'sidetrack'",
    })
    expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({
      status: 'completed',
      failure: null,
      execution: { kind: 'command', outcome: 'failed' },
    })
  })

  test('that changes the branch changes what task, changes and project say of it', async () => {
    const currentBranch = 'sidetrack'
    expect(await ada.ask(getTask, { params: { taskId } })).toMatchObject({ task: { currentBranch } })
    expect(await ada.ask(getTaskDiff, { params: { taskId } })).toMatchObject({ data: { currentBranch } })
    expect(await ada.ask(getProjectGitStatus, { params: { projectId } })).toEqual({ data: { currentBranch } })
  })
})

describe('a pull request', () => {
  let pageUrl = ''

  // Holds contract 4.16a, 7.28a.
  test('is opened with the work, and its page shows it to anybody', async () => {
    const { pr, task } = await ada.ask(createPullRequest, { params: { taskId } })
    expect(pr).toEqual({ html_url: `${product.codeHostUrl}/ada/engine/pull/1`, number: 1 })
    expect(task).toMatchObject({ prUrl: pr.html_url, prNumber: 1, pullRequestPending: false })
    pageUrl = pr.html_url
    const page = await (await fetch(pageUrl)).text()
    for (const shown of ['Say goodbye in the README', 'Goodbye.', 'Auf Wiedersehen.', 'Merge'])
      expect(page).toContain(shown)
    const { data } = await ada.ask(getTaskDiff, { params: { taskId } })
    expect(data.commitComparison).toEqual({ ahead: 1, behind: 0 })
    const { messages } = await ada.ask(getChat, { params: { taskId } })
    expect(messages.at(-1)).toMatchObject({
      messageType: 'system',
      message: `Pull request #1 created successfully: ${pageUrl}`,
    })
  })

  // Holds contract 4.16b, 7.28b.
  test('is updated by the next call, with what was done since', async () => {
    const command = 'echo "Adieu." >> README.md'
    await ada.ask(executeTask, { params: { taskId }, body: { command } })
    await ada.taskOnce(taskId, (task) => hasEnded(task) && (task.changes?.additions ?? 0) === 3)
    const { pr } = await ada.ask(createPullRequest, { params: { taskId }, body: {} })
    expect(pr).toEqual({ html_url: pageUrl, number: 1 })
    expect(await (await fetch(pageUrl)).text()).toContain('Adieu.')
    const { messages } = await ada.ask(getChat, { params: { taskId } })
    expect(messages.at(-1)?.message).toBe(`Pull request #1 updated successfully: ${pageUrl}`)
  })

  test('can be merged, and then the work is on the main branch under the name of the person', async () => {
    const merged = await fetch(`${pageUrl}/merge`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: product.codeHostUrl },
      body: '',
    })
    expect(merged.status).toBe(303)
    const clone = await mkdtemp(join(tmpdir(), 'flightdeck-clone-'))
    try {
      await gitDone(clone, ['clone', '-q', `${product.codeHostUrl}/ada/engine.git`, 'engine'])
      const readme = await readFile(join(clone, 'engine/README.md'), 'utf8')
      expect(readme).toBe(`${files['README.md']}Goodbye.\nAuf Wiedersehen.\nAdieu.\n`)
      const log = await gitDone(join(clone, 'engine'), [
        'log',
        '--no-merges',
        '--format=%an <%ae>|%s|%b',
        'main',
      ])
      expect(log).toContain('Ada King <1001+ada@users.noreply.localhost>|Say goodbye in the README|')
      expect(log).toMatch(/Co-authored-by: claude/im)
    } finally {
      await rm(clone, { recursive: true, force: true })
    }
  })
})

test('in the end nothing was complained of', () => {
  // A slow request is told, and no complaint.
  const complaints = product.logs.stderr
    .split('\n')
    .filter((line) => !line.includes('sign-in failed') && !line.includes('"msg":"request"'))
  expect(complaints).toEqual([''])
})
