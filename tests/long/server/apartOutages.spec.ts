/** A shared engine that is down for ten seconds in the middle of a run: nothing of the run is lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { addressOf } from '../../product/person.ts'
import { forMongo, type SharedEngines } from '../../servers/sharedEngines.ts'
import { changeSomething, openApartScene, readyTask, type ApartScene } from '../../server/apartScene.ts'
import { counted, counting, linesOf, printedBy, saidBy } from '../../server/countingCommand.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, watching } from '../../server/scene.ts'

const awayMs = 10_000
const mongo = await forMongo()
let scene: ApartScene

describe.skipIf('missing' in mongo)('an outage', () => {
  beforeAll(async () => {
    if ('missing' in mongo) return
    scene = await openApartScene(mongo.server, [changeSomething], { gateway: 2 })
  })
  afterAll(() => scene?.close())

  interface Outage {
    readonly engine: string
    begin(engines: SharedEngines): Promise<void> | void
    end(engines: SharedEngines): Promise<void>
    /** How a message that is sent meanwhile is answered. */
    readonly answer: { readonly status: number }
  }
  const refused = { status: 503, body: { code: 'engine_unavailable', error: expect.stringMatching(/\.$/) } }
  const outages: readonly Outage[] = [
    {
      engine: 'NATS',
      begin: ({ nats }) => nats.stop(),
      end: ({ nats }) => nats.start(),
      // It is in the log, and the work follows.
      answer: { status: 201 },
    },
    {
      engine: 'EventStoreDB',
      begin: ({ eventStore }) => eventStore.kill(),
      end: ({ eventStore }) => eventStore.restart(),
      answer: refused,
    },
    {
      engine: 'MongoDB',
      begin: ({ mongo: gate }) => gate.shut(),
      end: ({ mongo: gate }) => gate.open(),
      answer: refused,
    },
  ]

  test.each(outages)('of $engine: output and status are whole afterwards', async ({ begin, end, answer }) => {
    const { ada, adaAt, engines, product } = scene
    const { id } = await readyTask(scene)
    const params = { taskId: id }
    const tabs = [await watching(ada, id), await watching(adaAt(1), id)]
    await ada.ask(executeTask, { params, body: { command: counting(0.4) } })
    for (const tab of tabs) await tab.until('some lines', () => printedBy(tab).length > 5)
    await begin(engines)
    const gone = performance.now()
    const message = { message: 'Said meanwhile' }
    expect(await ada.api(sendMessage.method, addressOf(sendMessage, params), message)).toMatchObject(answer)
    await new Promise((resolve) => {
      setTimeout(resolve, awayMs - (performance.now() - gone))
    })
    await end(engines)
    await eventually(
      'all engines are there again',
      async () => (await fetch(`${product.at.runner[0]}/readyz`)).ok,
      15_000,
    )
    for (const tab of tabs) await tab.until('the end', ({ name }) => name === 'command_completed')
    await ada.ask(sendMessage, { params, body: { message: 'Said afterwards' } })
    await eventually(
      'all is answered',
      async () => (await saidBy(ada, id)).slice(-2).join() === 'Said afterwards,Done.',
      20_000,
    )
    expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed', failure: null })
    expect(linesOf((await ada.ask(getTerminal, { params })).output).slice(0, counted.length)).toEqual(counted)
    for (const tab of tabs) {
      expect(printedBy(tab)).toEqual(counted)
      tab.close()
    }
  })
})
