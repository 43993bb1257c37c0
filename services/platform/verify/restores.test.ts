/**
 * A restore must go back to a state that a key of the log has signed. A restore that no such key has signed does not explain a missing end of the
 * log.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LogRestored } from '#domain/log.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { logStream } from '#domain/kernel/streams.ts'
import { eventLog } from '#platform/eventlog/eventLog.ts'
import { commands } from '#platform/commands/execute.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { restoreLog } from '#platform/seals/nextEpoch.ts'
import { sealsFile, type SealLine } from '#platform/seals/sealsFile.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { startSealer, type SealerEngines } from '../../maintenance/sealer.ts'
import { openTestEngines } from '../../../tests/server/engines.ts'
import { openSealedLog, withRestore, type SealedLog } from '../../../tests/server/sealedLog.ts'
import { intact } from '#platform/ports/eventStore.ts'

let sealed: SealedLog
beforeAll(async () => {
  sealed = await openSealedLog()
})
afterAll(() => sealed?.close())

const kept = 30
/** The keys of an epoch, for the evidence that `verify` needs. */
const keysOf = async (epoch: number) =>
  (await signingKeys(sealed.engines.vault, { ...sealed.evidence.identity, epoch }))?.vouched ?? []
const verified = async (log: readonly StoredEvent[]) =>
  sealed.verify(log, { ...sealed.evidence, identity: { ...sealed.evidence.identity, epoch: 2 }, keysOf })
const wrongs = async (log: readonly StoredEvent[]) =>
  (await verified(log)).findings.map(({ stream, revision, wrong }) => `${stream}@${revision} ${wrong}`)

/** Restores a store that holds only these events, appends events to it, and seals it with `seal`. Returns the events of the restored log. */
async function putBack(
  log: readonly StoredEvent[],
  later: readonly StoredEvent[] = [],
  seal: (engines: SealerEngines) => Promise<void> = async () => undefined,
): Promise<readonly StoredEvent[]> {
  const { vault } = sealed.engines
  const engines = await openTestEngines()
  const { eventStore, bus, clock, close } = engines
  const appendAll = async (events: readonly StoredEvent[]) => {
    for (const { position: _position, ...event } of events)
      await eventStore.append(event.stream, event.revision - 1, [event])
  }
  await appendAll(log)
  const own = eventLog({ eventStore, vault, bus, clock })
  const logIdentity = await restoreLog({ commands: commands(own), eventStore, vault, clock })
  await appendAll(later)
  await seal({
    ...engines,
    vault,
    log: own,
    logIdentity,
    rpc: openInProcessRpc({ onFault: () => undefined }),
  })
  const all = intact(await eventStore.readAll(null, 10_000))
  await close()
  return all
}

const cutOff = () => sealed.log.length - 1 - kept
const beyond = () =>
  sealed.log.filter(({ type, data }) => type === 'LogSealed' && Number(Object(data).size) > kept).length

describe('recorder H5: a log that was put back', () => {
  test('is whole where a key of the log signed what it goes back to, and it is said when, and what was cut', async () => {
    const log = await putBack(sealed.log.slice(0, kept))
    const { findings, sealing } = await verified(log)
    expect(findings).toEqual([])
    expect(sealing?.told).toEqual([
      `The log was put back at ${log.at(-1)?.at} to its first ${kept} events, as epoch 2, signed by a key of this log. ` +
        `${beyond()} seals from before go beyond them, up to ${kept + cutOff()} events: ${cutOff()} sealed events were cut off.`,
    ])
  })

  test('is sealed up to its newest seal, also when it grew past a seal that was cut off', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flightdeck-restored-'))
    const file = join(folder, 'seals.ndjson')
    const lines: SealLine[] = []
    for await (const line of sealed.evidence.outside()) lines.push(line)
    await sealsFile(file).append(lines.flatMap(({ seal }) => seal ?? []))
    const later = sealed.log.slice(kept).filter(({ type }) => type !== 'LogSealed')
    const log = await putBack(sealed.log.slice(0, kept), later, async (engines) => {
      const sealer = await startSealer(engines, { intervalMs: 3_600_000, file, tell: () => undefined })
      expect(await engines.rpc.call('seal', {}, 10_000)).toBeDefined()
      await sealer.stop()
    })
    const { findings, sealing } = await sealed.verify(log, {
      ...sealed.evidence,
      identity: { ...sealed.evidence.identity, epoch: 2 },
      keysOf,
      outside: () => sealsFile(file).all(),
    })
    await rm(folder, { recursive: true })
    expect(findings).toEqual([])
    expect(sealing?.sealed).toBe(log.length - 1)
  })

  // Holds findings 1.119.
  test('is not whole by a restore of version 1, which anybody who can write to the log can make', async () => {
    const log = withRestore(sealed.log.slice(0, kept), { epoch: 2 })
    expect(await wrongs(log)).toEqual(['log-main@1 restore_unsigned'])
    expect((await verified(log)).sealing?.told.join()).toMatch(
      new RegExp(`no key of this log vouches for that.* ${cutOff()} sealed events were cut off`),
    )
  })

  // Holds findings 1.120.
  test('is not whole by a signature of no key of the log, nor by one over other events', async () => {
    const genuine = (await putBack(sealed.log.slice(0, kept))).at(-1)
    const data = LogRestored.data.parse(genuine?.data)
    const otherKey = { ...data, tree: { ...data.tree, keyId: '00000000' } }
    expect(await wrongs(withRestore(sealed.log.slice(0, kept), otherKey, 2))).toEqual([
      'log-main@1 restore_forged',
    ])
    const otherRoot = { ...data, tree: { ...data.tree, root: '0'.repeat(64) } }
    expect(await wrongs(withRestore(sealed.log.slice(0, kept), otherRoot, 2))).toEqual([
      'log-main@1 restore_forged',
    ])
    expect(await wrongs(withRestore(sealed.log.slice(0, kept - 1), data, 2))).toEqual([
      'log-main@1 restore_elsewhere',
    ])
    expect(await wrongs(withRestore(sealed.log.slice(0, kept), { ...data, epoch: 3 }, 2))).toEqual([
      'log-main@1 restore_forged',
    ])
  })

  test('that nobody signed is vouched for by a later restore that is signed, and is told all the same', async () => {
    const log = await putBack(withRestore(sealed.log.slice(0, kept), { epoch: 2 }))
    expect(log.filter(({ stream }) => stream === logStream)).toHaveLength(3)
    const { findings, sealing } = await verified(log)
    expect(findings).toEqual([])
    expect(sealing?.told).toEqual([
      expect.stringMatching(/epoch 2, and no key of this log vouches for that\./),
      expect.stringMatching(/epoch 3, signed by a key of this log\./),
    ])
  })

  test('goes back to no epoch that it has been in', async () => {
    expect(await wrongs(withRestore(sealed.log.slice(0, kept), { epoch: 1 }))).toContain(
      'log-main@1 log_identity',
    )
  })
})
