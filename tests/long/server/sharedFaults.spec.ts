/** Faults of engines that services share: what prevents a start is reported in a sentence, and an engine that goes down later is waited for. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { getMe } from '#domain/api/auth.schema.ts'
import { getChat, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { limits } from '#domain/api/limits.ts'
import { listProjects } from '#domain/api/projects.schema.ts'
import { createTask, getTask, listTasks, updateTask } from '#domain/api/tasks.schema.ts'
import { localRepository } from '../../contracts/codeHost.fixture.ts'
import {
  servicesApart,
  startApart,
  type ApartProduct,
  type ServiceApart,
} from '../../product/servicesApart.ts'
import { within } from '../../product/live.ts'
import { browserSteps, type Person } from '../../product/person.ts'
import { processesOf } from '../../product/processes.ts'
import { serverProcess, type ServerProcess } from '../../product/server.ts'
import { cleanEnvironment, freePorts, ownFolder, runProduct, type FailedStart } from '../../product.ts'
import { ownNats } from '../../servers/nats.ts'
import { serveOldMongo } from '../../servers/oldMongo.ts'
import { selfSigned } from '../../servers/selfSigned.ts'
import { forMongo, startSharedEngines, type SharedEngines } from '../../servers/sharedEngines.ts'
import { startEventStoreDb } from '../../standins/eventStoreDb.ts'
import { startMessagesApi, type MessagesApi } from '../../standins/messagesApi.ts'
import { files, hasEnded } from '../../server/scene.ts'

const mongo = await forMongo()
const masterKey = randomBytes(32).toString('base64')
const secret = 's3cret-w0rd'
/** The adapters give up after 5 to 10 seconds. */
const answersMs = 15_000

describe.skipIf('missing' in mongo)('on shared engines', () => {
  let engines: SharedEngines
  let folder = ''
  let env: Record<string, string> = {}
  beforeAll(async () => {
    if ('missing' in mongo) return
    engines = await startSharedEngines(mongo.server)
  })
  afterAll(() => engines?.close())
  beforeEach(async () => {
    folder = await ownFolder()
    const ports = await freePorts()
    env = {
      ...cleanEnvironment(folder),
      ...engines.env,
      MASTER_KEY: masterKey,
      PORT: String(ports.product),
      CODEHOST_PORT: String(ports.codeHost),
      DATA_DIR: join(folder, 'data'),
    }
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** Starts the whole product with these changes, and expects it to end by itself with this one sentence and nothing written. */
  async function cannotStart(
    change: Readonly<Record<string, string>>,
    sentence: RegExp,
  ): Promise<FailedStart> {
    const written = engines.eventStore.events
    const ended = await runProduct({ ...env, ...change })
    expect(ended).toMatchObject({ stdout: '', stderr: expect.stringMatching(sentence) })
    expect(ended.stderr).toMatch(/^[^\n]+\.\n$/)
    expect(ended.stderr).not.toMatch(/s3cret|undefined|\[object/)
    expect(ended.stderr).not.toContain(passwordOf(engines.env.MONGODB_URL))
    expect(await processesOf(folder)).toEqual([])
    // The folder is held before the engines are asked; nothing else is made in it.
    expect((await readdir(join(folder, 'data'))).toSorted()).toEqual(['.writable', 'lock'])
    expect(engines.eventStore.events).toBe(written)
    return ended
  }

  describe('an address that is none is told with what one looks like', () => {
    test.each([
      ['EVENTSTORE_URL', `http://ada:${secret}@events:2113`],
      ['EVENTSTORE_URL', `esdb://ada:${secret}%zz@events:2113`],
      ['EVENTSTORE_URL', 'esdb://events:2113'],
      ['MONGODB_URL', `postgres://ada:${secret}@documents/`],
      ['MONGODB_URL', `mongodb://ada:${secret}@documents/?colour=green`],
      ['NATS_URL', `http://ada:${secret}@bus:4222`],
      ['NATS_URL', `nats://ada:${secret}%zz@bus:4222`],
    ])('%s=%s', async (name, url) => {
      expect(await cannotStart({ [name]: url }, new RegExp(`^.*${name}.*\\.$`, 'm'))).toMatchObject({
        code: 1,
      })
    })
  })

  describe('credentials that are refused are told without the password', () => {
    test('by NATS', async () => {
      const guarded = await ownNats({ user: `ada:${secret}` })
      try {
        const refused = /^NATS at \S+ refuses the credentials: check user and password in NATS_URL\.$/m
        expect(await cannotStart({ NATS_URL: guarded.url }, refused)).toMatchObject({ code: 1 })
        expect(
          await cannotStart({ NATS_URL: guarded.url.replace('//', `//ada:not-${secret}@`) }, refused),
        ).toMatchObject({ code: 1 })
      } finally {
        await guarded.close()
      }
    })

    test('by MongoDB', async () => {
      const url = engines.env.MONGODB_URL.replace(/\/\/([^:@/]*):[^@/]*@/, `//$1:${secret}@`)
      expect(url).toContain(secret)
      expect(
        await cannotStart(
          { MONGODB_URL: url },
          /^MongoDB at \S+ does not let us in: .*MONGODB_URL is wrong\.$/m,
        ),
      ).toMatchObject({ code: 1 })
    })

    test('by EventStoreDB', async ({ skip }) => {
      const secured = {
        keyFile: join(folder, 'key.pem'),
        certificateFile: join(folder, 'certificate.pem'),
        user: 'ada',
        password: secret,
      }
      const cannot = await selfSigned(secured.keyFile, secured.certificateFile)
      skip(cannot !== undefined, cannot)
      const guarded = await startEventStoreDb({ secured })
      try {
        const options = `tlsCAFile=${encodeURIComponent(secured.certificateFile)}`
        expect(
          await cannotStart(
            { EVENTSTORE_URL: `esdb://ada:not-${secret}@localhost:${guarded.port}?${options}` },
            /^EventStoreDB at \S+ refuses the user of EVENTSTORE_URL: .*password\.$/m,
          ),
        ).toMatchObject({ code: 1 })
      } finally {
        guarded.kill()
      }
    })
  })

  describe('an older server is told what it lacks', () => {
    test('EventStoreDB that tells no positions', async () => {
      const older = await startEventStoreDb({ isOlderThan22_6: true })
      try {
        const url = `esdb://127.0.0.1:${older.port}?tls=false`
        expect(
          await cannotStart({ EVENTSTORE_URL: url }, /^EventStoreDB 22\.6 or later is required\.$/m),
        ).toMatchObject({ code: 1 })
      } finally {
        older.kill()
      }
    })

    test('NATS without JetStream', async () => {
      const plain = await ownNats({ jetStream: false })
      try {
        expect(await cannotStart({ NATS_URL: plain.url }, /^NATS at \S+ .*JetStream.*\.$/m)).toMatchObject({
          code: 1,
        })
      } finally {
        await plain.close()
      }
    })

    test('MongoDB that the driver cannot speak to', async () => {
      const older = await serveOldMongo()
      try {
        expect(
          await cannotStart({ MONGODB_URL: older.url }, /^MongoDB at \S+ is too old: MongoDB 4\.4 or later/m),
        ).toMatchObject({ code: 1 })
      } finally {
        await older.close()
      }
    })
  })

  describe('an engine that is not there at the start', () => {
    const waitsFor = {
      MongoDB: /^MongoDB at \S+ does not answer \(.+\): waiting for it\.$/m,
      EventStoreDB: /^EventStoreDB at \S+ does not answer yet \(.+\): waiting for it\.$/m,
      NATS: /^NATS at \S+ does not answer yet \(.+\); waiting for it\.$/m,
    } as const
    const told = (server: ServerProcess, engine: keyof typeof waitsFor) =>
      vi.waitFor(() => expect(server.logs.stdout).toMatch(waitsFor[engine]))

    test('is waited for with a line, each in turn, and taken up when it comes; asked to end meanwhile it ends at once', async () => {
      await engines.mongo.shut()
      engines.eventStore.kill()
      await engines.nats.stop()
      const server = serverProcess(folder, { env })
      try {
        const endsAtOnce = async () => {
          await server.terminate()
          server.logs.stdout = ''
        }
        server.launch()
        await told(server, 'MongoDB')
        await endsAtOnce()
        server.launch()
        await told(server, 'MongoDB')
        await engines.mongo.open()
        await told(server, 'EventStoreDB')
        await endsAtOnce()
        server.launch()
        await told(server, 'EventStoreDB')
        await engines.eventStore.restart()
        await told(server, 'NATS')
        await endsAtOnce()
        server.launch()
        await told(server, 'NATS')
        expect(server.logs.stdout).not.toMatch(/ready/)
        await engines.nats.start()
        await server.ready()
        const { status } = await fetch(`http://127.0.0.1:${env['PORT']}/readyz`)
        expect(status).toBe(200)
        await server.terminate()
        expect(server.logs.stderr).toBe('')
        expect(server.logs.stdout).not.toContain(passwordOf(engines.env.MONGODB_URL))
      } finally {
        await server.kill9()
        await engines.mongo.open()
        await engines.nats.stop()
        await engines.nats.start()
        engines.eventStore.kill()
        await engines.eventStore.restart()
      }
    }, 120_000)
  })

  describe('once it runs, in processes of their own', () => {
    let own = ''
    let product: ApartProduct
    let model: MessagesApi
    let ada: Person
    let projectId = ''
    /** A task that has ended. */
    let params = { taskId: '' }
    beforeAll(async () => {
      own = await ownFolder()
      const repository = join(own, 'engine')
      await localRepository(repository, files)
      model = await startMessagesApi([
        { turns: [{ text: 'Looked at it.' }] },
        { when: /at length/, turns: [{ text: 'x'.repeat(800_000) }] },
      ])
      product = await startApart({
        engines,
        repos: [repository],
        model: { messagesApi: model },
        env: { MASTER_KEY: masterKey },
      })
      ada = await product.signIn('ada')
      projectId = await ada.project('engine')
      params = { taskId: (await ada.task(projectId, 'Words')).id }
      await ada.taskOnce(params.taskId, hasEnded)
    }, 90_000)
    afterAll(async () => {
      try {
        await product?.stop()
      } finally {
        await model?.close()
        await rm(own, { recursive: true, force: true })
      }
    })

    const taskBody = (description: string) =>
      ({ projectId, description, branch: 'main', agent: 'claude' }) as const
    const allOf = () => servicesApart.flatMap((service) => product.of[service])

    /** Waits until each process says of exactly those parts that are on this engine that they do not answer. */
    async function readinessLacks(engine?: keyof typeof partsOn): Promise<void> {
      const parts = engine === undefined ? [] : partsOn[engine]
      await vi.waitFor(
        async () => {
          const answers = await Promise.all(servicesApart.map((service) => readiness(product, service)))
          for (const { status, answered, lacking } of answers) {
            expect(status).toBe(parts.length === 0 ? 200 : 503)
            expect(lacking.toSorted()).toEqual(parts)
            expect(answered.length).toBeGreaterThan(0)
          }
        },
        { interval: 200 },
      )
    }

    /** Asks all at once; each must be answered with 503 and a sentence, in time. */
    async function unavailable(calls: readonly (() => ReturnType<Person['refused']>)[]): Promise<void> {
      const late = 'They are not answered in time'
      const answered = await within(answersMs, late, Promise.all(calls.map((call) => call())))
      const sentence = 'Part of the server is not responding. Try again in a moment.'
      expect(answered.map(({ status, code, error }) => ({ status, code, error }))).toEqual(
        calls.map(() => ({ status: 503, code: 'engine_unavailable', error: sentence })),
      )
    }

    test('a second program with another master key is refused, and the first goes on', async () => {
      expect(
        await cannotStart(
          { MASTER_KEY: randomBytes(32).toString('base64') },
          /^The keys in MongoDB at \S+ were sealed with another master key\. Use the original MASTER_KEY/m,
        ),
      ).toMatchObject({ code: 1 })
      await readinessLacks()
      expect((await ada.ask(getTask, { params })).task).toMatchObject({ status: 'completed' })
      expect((await product.signIn('ada')).token).toMatch(/./)
    })

    test('MongoDB goes away: every process says so, reads and writes are unavailable in time, and all is taken up again', async () => {
      const written = engines.eventStore.events
      const headers = { 'idempotency-key': randomUUID() }
      const body = taskBody('Asked for while MongoDB was away')
      await engines.mongo.shut()
      try {
        await readinessLacks('MongoDB')
        const [signedIn] = await Promise.all([
          signInOf(product),
          unavailable([
            () => ada.refused(getMe),
            () => ada.refused(listTasks),
            () => ada.refused(listProjects),
            () => ada.refused(getTask, { params }),
            () => ada.refused(getChat, { params }),
            () => ada.refused(getTerminal, { params }),
            () => ada.refused(createTask, { body, headers }),
            () => ada.refused(sendMessage, { params, body: { message: 'More' } }),
            () => ada.refused(updateTask, { params, body: { title: 'Another' } }),
          ]),
        ])
        expect(signedIn).toMatchObject({ status: 302, location: expect.stringMatching(/[?&]error=/) })
        expect(engines.eventStore.events).toBe(written)
      } finally {
        await engines.mongo.open()
      }
      await readinessLacks()
      const { task } = await ada.ask(createTask, { body, headers })
      expect((await ada.ask(createTask, { body, headers })).task.id).toBe(task.id)
      expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
    })

    test('EventStoreDB goes away: what is projected is read on, all else is unavailable, and is taken up again', async () => {
      engines.eventStore.kill()
      try {
        await readinessLacks('EventStoreDB')
        await unavailable([
          () => ada.refused(createTask, { body: taskBody('Never') }),
          () => ada.refused(sendMessage, { params, body: { message: 'More' } }),
          () => ada.refused(updateTask, { params, body: { title: 'Another' } }),
          () => ada.refused(getTerminal, { params }),
        ])
        expect((await ada.ask(getTask, { params })).task).toMatchObject({ title: 'Words' })
        expect((await ada.ask(getChat, { params })).messages.length).toBeGreaterThan(1)
      } finally {
        await engines.eventStore.restart()
      }
      await readinessLacks()
      expect((await ada.ask(updateTask, { params, body: { title: 'Another' } })).task.title).toBe('Another')
      expect((await ada.ask(getTask, { params })).task).toMatchObject({ title: 'Another' })
      const { output } = await ada.ask(getTerminal, { params })
      expect(output.length).toBeGreaterThan(0)
    })

    test('NATS goes away: nothing needs it at once, and what was started meanwhile runs when it is back', async () => {
      let taskId = ''
      await engines.nats.stop()
      try {
        await readinessLacks('NATS')
        ;({ id: taskId } = await ada.task(projectId, 'Started while NATS was away'))
        expect((await ada.ask(getTask, { params: { taskId } })).task).toMatchObject({ status: 'queued' })
        expect((await ada.ask(updateTask, { params, body: { title: 'A third' } })).task.title).toBe('A third')
        expect((await ada.ask(getTask, { params })).task).toMatchObject({ title: 'A third' })
      } finally {
        await engines.nats.start()
      }
      await readinessLacks()
      expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
    })

    test('the most that a person may write passes all engines, and more is refused before any of them', async () => {
      const written = engines.eventStore.events
      const tooLong = { title: 'x'.repeat(1_100_000) }
      expect(await ada.refused(updateTask, { params, body: tooLong })).toMatchObject({ status: 413 })
      const overlong = { description: 'x'.repeat(limits.descriptionLength + 1) }
      expect(await ada.refused(updateTask, { params, body: overlong })).toMatchObject({ status: 400 })
      expect(engines.eventStore.events).toBe(written)
      // Three bytes each: the longest that a length in characters lets through.
      const longest = '木'.repeat(limits.descriptionLength)
      await ada.ask(updateTask, { params, body: { description: longest } })
      expect((await ada.ask(getTask, { params })).task.description).toBe(longest)
    })

    test('an answer of the agent that is over what EventStoreDB takes fails its turn with that reason, and no part of it is in the chat', async () => {
      const task = await ada.task(projectId, 'Speak at length')
      expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({
        status: 'failed',
        failure: {
          code: 'too_large',
          reason: expect.stringMatching(/more output at once than can be recorded\./),
        },
      })
      // MongoDB takes the documents of a batch one collection after another: the chat may come after the status.
      await vi.waitFor(async () => {
        const { messages } = await ada.ask(getChat, { params: { taskId: task.id } })
        expect(messages.map(({ messageType }) => messageType)).toEqual(['user', 'error'])
      }, 5_000)
    })

    test('no request failed for a reason of ours, no message was lost for its size, and no secret was told', () => {
      for (const { logs } of allOf()) {
        expect(logs.stdout + logs.stderr).not.toMatch(/request failed|more than NATS takes/)
        expect(logs.stdout + logs.stderr).not.toContain(passwordOf(engines.env.MONGODB_URL))
        expect(logs.stdout + logs.stderr).not.toContain(masterKey)
      }
    })
  })
})

function passwordOf(url: string): string {
  const password = /\/\/[^:@/]*:([^@/]*)@/.exec(url)?.[1]
  // A server without credentials has none to tell.
  return password ?? randomUUID()
}

/** What stands on each engine, in the order of the alphabet. */
const partsOn = {
  MongoDB: ['blobs', 'leases', 'readStore', 'recentKeys', 'vault'],
  EventStoreDB: ['eventStore'],
  NATS: ['bus', 'jobs', 'rpc'],
} as const

const Readiness = z.object({ ready: z.boolean(), parts: z.record(z.string(), z.boolean()) })

async function readiness(product: ApartProduct, service: ServiceApart) {
  const response = await fetch(`${product.at[service][0]}/readyz`, { signal: AbortSignal.timeout(10_000) })
  const parts = Object.entries(Readiness.parse(await response.json()).parts)
  const named = (isReady: boolean) => parts.flatMap(([name, ready]) => (ready === isReady ? [name] : []))
  return { status: response.status, answered: named(true), lacking: named(false) }
}

/** How the last step of a sign-in is answered. */
async function signInOf({ base }: ApartProduct): ReturnType<ReturnType<typeof browserSteps>['go']> {
  const browser = browserSteps(base)
  const start = await browser.go('/api/auth/github')
  const authorized = await browser.go(`${start.location}&login=ada`)
  return browser.go(authorized.location)
}
