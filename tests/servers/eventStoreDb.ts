/** An EventStoreDB for tests: the one at EVENTSTORE_URL, else a container, else the stand-in at the wire. */
import { setTimeout as pause } from 'node:timers/promises'
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import { startEventStoreDb } from '../standins/eventStoreDb.ts'

/** A server that suites use as it is. */
export interface AnyEventStoreDb {
  readonly url: string
  /** What stands behind it, for the report. */
  readonly against: string
  close(): Promise<void>
}

const defaultImage = 'eventstore/eventstore:24.10'
const engineAnswersWithinMs = 5_000
const startsWithinMs = 120_000

/** With REQUIRE_CONTAINERS=1 it throws instead of taking the stand-in. */
export async function anyEventStoreDb(): Promise<AnyEventStoreDb> {
  const url = process.env['EVENTSTORE_URL']
  if (url) return { url, against: 'the EventStoreDB at EVENTSTORE_URL', close: async () => {} }
  const reason = await noContainers()
  if (reason === undefined) return container()
  if (process.env['REQUIRE_CONTAINERS'] === '1') throw new Error(`No EventStoreDB to test with: ${reason}.`)
  const server = await startEventStoreDb()
  return {
    url: `esdb://127.0.0.1:${server.port}?tls=false`,
    against: `a stand-in at the wire, behind the real client (no EVENTSTORE_URL; ${reason})`,
    close: async () => server.kill(),
  }
}

/** Why there is no container engine; `undefined` when there is one. */
async function noContainers(): Promise<string | undefined> {
  const silence = new AbortController()
  try {
    return await Promise.race([
      getContainerRuntimeClient().then(
        () => undefined,
        () => 'no container engine',
      ),
      pause(engineAnswersWithinMs, 'a container engine that does not answer', { signal: silence.signal }),
    ])
  } finally {
    silence.abort()
  }
}

async function container(): Promise<AnyEventStoreDb> {
  const image = process.env['EVENTSTORE_IMAGE'] ?? defaultImage
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
