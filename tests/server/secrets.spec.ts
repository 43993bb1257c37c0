/** Searches for secrets, in every form, in everything that the product stores, prints and starts. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { getMe } from '#domain/api/auth.schema.ts'
import { getChat, getCommands, getTerminal } from '#domain/api/chat.schema.ts'
import { createPullRequest, executeTask, getTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { absentAs } from '../../services/operations/backupFiles.ts'
import { apiKey } from '../product.ts'
import { createGate } from '../standins/messagesApi.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const gate = createGate()
const look =
  'env; cat /proc/1/environ /proc/self/environ /proc/$PPID/environ; cat /proc/*/cmdline; cat .git/config'

let scene: Scene
let taskId = ''
/** Everything that anybody was told. */
const told: string[] = []

beforeAll(async () => {
  scene = await openScene(
    [
      {
        when: /Look around/,
        turns: [
          { tools: [{ name: 'Bash', input: { command: look, description: 'Look around' } }] },
          { tools: [{ name: 'Bash', input: { command: 'echo seen >> README.md', description: 'Change' } }] },
          { text: 'I have looked around.', hold: { afterWords: 2, gate } },
        ],
      },
      // A model that knows the key, and says it in every way it can.
      {
        when: /Betray/,
        turns: [
          {
            text: `The key is ${apiKey}, or ${Buffer.from(apiKey).toString('base64')}.`,
            tools: [
              {
                name: 'Bash',
                input: { command: `echo ${apiKey}; echo ${apiKey} | rev | rev`, description: apiKey },
              },
            ],
          },
          { text: `Again: ${apiKey}`, pauseMs: 5 },
        ],
      },
    ],
    { env: { LOG_LEVEL: 'debug' } },
  )
})
afterAll(() => scene?.close())

/** All that the API says of a task. */
async function allOf(id: string): Promise<string> {
  const params = { taskId: id }
  const { ada } = scene
  const answers = await Promise.all([
    ada.ask(getTask, { params }),
    ada.ask(getChat, { params }),
    ada.ask(getCommands, { params }),
    ada.ask(getTerminal, { params, query: { limit: '5000' } }),
    ada.ask(getTaskDiff, { params }),
    ada.api('GET', '/projects'),
    ada.api('GET', '/tasks'),
    ada.api('GET', '/github/repos'),
    ada.api('GET', '/auth/me'),
  ])
  return JSON.stringify(answers)
}

/** The forms in which a secret would still be one. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    Buffer.from(`x-access-token:${secret}`).toString('base64').replace(/=+$/, ''),
  ]
}

/** The secrets of this product by name, taken from where they are kept; it must be stopped. */
async function secretsOf(dataDir: string, userId: string): Promise<Readonly<Record<string, string>>> {
  const masterKey = await loadMasterKey({ configured: undefined, file: join(dataDir, 'master.key') })
  const vault = openSqliteVault({ file: join(dataDir, 'vault.sqlite'), masterKey })
  try {
    const Kept = z.object({ accessToken: z.string().min(20), refreshToken: z.string().min(20) })
    const kept = Kept.parse(JSON.parse((await vault.getSecret(`user:${userId}`, 'code-host')) ?? '{}'))
    return {
      'the API key': apiKey,
      "the person's access token": kept.accessToken,
      "the person's refresh token": kept.refreshToken,
      'the client secret': Buffer.from(vault.deriveKey('local-code-host')).toString('base64url'),
      'the master key': Buffer.from(masterKey).toString('base64'),
      'the master key in hex': Buffer.from(masterKey).toString('hex'),
      'the key of bearer tokens': Buffer.from(vault.deriveKey('bearer-token')).toString('base64'),
      "the person's bearer token": scene.ada.token,
    }
  } finally {
    await vault.close()
  }
}

/** A database may end one of its files in between: SQLite closes it once its statements were collected. */
async function filesBelow(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = async (name: string) => [name, await readFile(name).catch(absentAs(undefined))] as const
  const found = await Promise.all(names.map(read))
  return new Map(
    found.flatMap(([name, bytes]) =>
      bytes && !name.endsWith('/master.key') ? [[name, bytes] as const] : [],
    ),
  )
}

const findIn = (bytes: Buffer, secret: string) => formsOf(secret).filter((form) => bytes.includes(form))

describe('during a main job', () => {
  test('the agent and all that it starts are given no key, in environment or arguments', async () => {
    const { ada, product, projectId, api } = scene
    const task = await ada.task(projectId, 'Look around')
    taskId = task.id
    const live = await watching(ada, taskId)
    await gate.reached
    // A child between fork and exec still looks like the server: it is looked at once it is itself.
    const startedBy = async () => {
      const [server, ...started] = await product.processes()
      expect(started.filter(({ command }) => command === server?.command)).toEqual([])
      return started
    }
    const boxed = await vi.waitFor(startedBy)
    expect(boxed.length).toBeGreaterThan(0)
    for (const { pid, command } of boxed) {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
      for (const form of formsOf(apiKey)) expect(`${command}\n${environment}`).not.toContain(form)
    }
    gate.release()
    await ada.taskOnce(taskId, hasEnded)
    // It is the model's API alone that is shown the key.
    for (const { headers } of api.requests) expect(headers['x-api-key']).toBe(apiKey)
    for (const { body } of api.requests) expect(JSON.stringify(body)).not.toContain(apiKey)

    await ada.ask(executeTask, { params: { taskId }, body: { command: `${look}; git remote -v` } })
    await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === 2)
    const { pr } = await ada.ask(createPullRequest, { params: { taskId } })
    told.push(JSON.stringify(live.heard), await allOf(taskId), await (await fetch(pr.html_url)).text())
    live.close()
  })

  test('no secret is in anything that was said, printed or kept, in any form', async () => {
    const { ada, product } = scene
    const { user } = await ada.ask(getMe)
    const running = await filesBelow(product.dataDir)
    await product.terminate()
    const secrets = await secretsOf(product.dataDir, user.id)
    const kept = await filesBelow(product.dataDir)
    expect(kept.size).toBeGreaterThan(20)
    const places = [
      ...[...running].map(([name, bytes]) => [`${name} while it ran`, bytes] as const),
      ...kept,
      ['what it printed', Buffer.from(product.logs.stdout + product.logs.stderr)] as const,
      ['what it told', Buffer.from(told.join('\n'))] as const,
    ]
    const found = Object.entries(secrets).flatMap(([what, secret]) =>
      places.flatMap(([where, bytes]) =>
        findIn(bytes, secret).map((form) => `${what} (${form.slice(0, 6)}…) in ${where}`),
      ),
    )
    expect(found).toEqual([])
    // What is there would have been found.
    expect(places.filter(([, bytes]) => findIn(bytes, 'Ada Lovelace').length > 0).length).toBeGreaterThan(1)
    await product.restart()
  })

  test('the agent really looked: it saw its own environment, with what was a secret in it taken out', () => {
    const said = told.join('\n')
    expect(said).toContain('HOME=/home/agent')
    expect(said).toContain('[redacted]')
  })
})

test('a key that a model knows and says is taken out of all that people see and the log keeps', async () => {
  const { ada, product, projectId } = scene
  const task = await ada.task(projectId, 'Betray')
  const live = await watching(ada, task.id)
  await ada.taskOnce(task.id, hasEnded)
  const said = [JSON.stringify(live.heard), await allOf(task.id), product.logs.stdout, product.logs.stderr]
  for (const text of said) for (const form of formsOf(apiKey)) expect(text).not.toContain(form)
  expect(said[0]).toContain('The key is [redacted]')
  expect(said[1]).toContain('Again: [redacted]')
  live.close()
})
