/** An EventStoreDB for tests: the server at EVENTSTORE_URL, or a container, or else the stand-in. */
import { GenericContainer, Wait } from 'testcontainers'
import { startEventStoreDb } from '../standins/eventStoreDb.ts'
import { imageOf, noContainers } from './containers.ts'

/** A server that suites use without changing it. */
export interface AnyEventStoreDb {
  readonly url: string
  /** What the tests really ran against, for the report. */
  readonly against: string
  close(): Promise<void>
}

const startsWithinMs = 120_000

/** With REQUIRE_EVENTSTORE=1 it throws instead of using the stand-in. */
export async function anyEventStoreDb(): Promise<AnyEventStoreDb> {
  const url = process.env['EVENTSTORE_URL']
  if (url) return { url, against: 'the EventStoreDB at EVENTSTORE_URL', close: async () => {} }
  const noEngine = await noContainers()
  const image = noEngine === undefined ? await imageOf('eventStoreDb') : { missing: noEngine }
  if ('name' in image) return container(image.name)
  if (process.env['REQUIRE_EVENTSTORE'] === '1')
    throw new Error(`REQUIRE_EVENTSTORE=1 and there is no EventStoreDB to test with: ${image.missing}.`)
  const server = await startEventStoreDb()
  return {
    url: `esdb://127.0.0.1:${server.port}?tls=false`,
    against: `a stand-in at the wire, behind the real client (no EVENTSTORE_URL; ${image.missing})`,
    close: async () => server.kill(),
  }
}

async function container(image: string): Promise<AnyEventStoreDb> {
  const started = await new GenericContainer(image)
    .withEnvironment({ EVENTSTORE_INSECURE: 'true', EVENTSTORE_MEM_DB: 'true' })
    .withExposedPorts(2113)
    .withWaitStrategy(Wait.forHttp('/health/live', 2113).forStatusCodeMatching((code) => code < 300))
    .withStartupTimeout(startsWithinMs)
    .start()
  return {
    url: `esdb://${started.getHost()}:${started.getMappedPort(2113)}?tls=false`,
    against: `the real server, ${image}, in a container`,
    close: async () => void (await started.stop()),
  }
}
