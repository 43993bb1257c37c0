/** A bundle ends with a task's last events: while nobody seals, there is none. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { TaskDeleted } from '#domain/task/events.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { taskId } from '../../tests/domain/ids.ts'
import { cause, openTestEngines } from '../../tests/server/engines.ts'
import { startSealer } from '../maintenance/sealer.ts'
import { provenHeads } from './provenHeads.ts'

test('the last events are proven once they are sealed, and events that nobody seals are refused', async () => {
  const engines = await openTestEngines()
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-heads-'))
  const rpc = openInProcessRpc({ onFault: () => undefined })
  const sealing = { intervalMs: 3_600_000, file: join(folder, 'seals.ndjson'), tell: () => undefined }
  const [stream, terminal] = [taskStream(taskId(1)), terminalStream(taskId(1))]
  const append = async (to: string, head = emptyHead) => {
    const appended = await engines.log.append(to, head, [TaskDeleted.of({})], cause())
    return appended.kind === 'appended' ? appended.head : emptyHead
  }
  const ends = async () => {
    const { heads } = await provenHeads({ ...engines, rpc }, [stream, terminal])
    return [...heads].map(([name, { revision }]) => [name, revision])
  }
  try {
    const first = await append(stream)
    const sealer = await startSealer({ ...engines, rpc }, sealing)
    expect(await ends()).toEqual([[stream, 0]])
    await sealer.stop()
    expect(await ends()).toEqual([[stream, 0]])
    await append(terminal)
    await expect(ends()).rejects.toMatchObject({ code: 'not_sealed' })
    const again = await startSealer({ ...engines, rpc }, sealing)
    await ends()
    await again.stop()
    await append(stream, first)
    await expect(ends()).rejects.toMatchObject({ code: 'not_sealed' })
  } finally {
    await engines.close()
    await rm(folder, { recursive: true })
  }
})
