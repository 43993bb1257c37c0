/** The check of a log also compares blobs with their hashes, and says why a content cannot be decrypted. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { TaskDeleted, TaskUpdated, WorkspaceChanged } from '#domain/task/events.ts'
import { openFileBlobs } from '#platform/blobs/files.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { openLog } from '#platform/eventlog/logIdentity.ts'
import { sealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { intact } from '#platform/ports/eventStore.ts'
import { KeyMissing } from '#platform/ports/faults.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { verifyLog } from './verify.ts'

let engines: TestEngines
let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-verify-'))
  const opened = await openTestEngines()
  await opened.blobs.close()
  engines = { ...opened, blobs: openFileBlobs({ folder }) }
  await openLog(engines)
})
afterEach(async () => {
  await engines.blobs.close()
  await engines.close()
  await rm(folder, { recursive: true, force: true })
})

const verified = (changed: Partial<TestEngines> = {}) =>
  verifyLog({ ...engines, ...changed }, async (events) => events.map(digestsOf))
const said = async (changed?: Partial<TestEngines>) =>
  (await verified(changed)).findings.map(({ sentence }) => sentence)

const facts = {
  executionId: executionId(1),
  files: 1,
  additions: 1,
  deletions: 0,
  ahead: 0,
  behind: 0,
  truncated: false,
}

/** Appends a task with a diff to the log. Returns the hash of the diff's blob. */
async function withDiff(
  task: string,
  shared?: { readonly hash: string; readonly size: number },
): Promise<string> {
  const blob = shared ?? (await sealedBlobs(engines).put(`task:${task}`, randomBytes(200_000)))
  const event = WorkspaceChanged.of(
    { ...facts, blob },
    { currentBranch: 'main', baseBranch: 'main', tree: null },
  )
  await engines.log.append(taskStream(task), emptyHead, [event], cause())
  return blob.hash
}
const fileOf = async (hash: string) => {
  const name = (await readdir(folder, { recursive: true })).find((each) => each.endsWith(hash))
  return join(folder, name ?? 'none')
}

// Holds findings 1.125.
test('recorder M4: a blob that was changed or removed is named with the event that names it', async () => {
  const [changed, removed, whole] = [
    await withDiff(taskId(1)),
    await withDiff(taskId(2)),
    await withDiff(taskId(3)),
  ]
  expect(await verified()).toMatchObject({ findings: [], blobs: 3, erasedBlobs: 0 })
  await writeFile(await fileOf(changed), 'another')
  await rm(await fileOf(removed))
  expect(await said()).toEqual([
    `The blob ${changed} of ${taskStream(taskId(1))} @ 0 is not what its name says: it was changed.`,
    `The blob ${removed} of ${taskStream(taskId(2))} @ 0 is not there: it was removed.`,
  ])
  expect(await verified()).toMatchObject({ blobs: 1 })
  await withDiff(taskId(4), { hash: whole, size: 200_000 })
  expect(await verified()).toMatchObject({ blobs: 1 })
})

test('recorder M4: a blob that went with its task, or with its key, is counted and no fault', async () => {
  const [deleted, erased] = [await withDiff(taskId(1)), await withDiff(taskId(2))]
  await rm(await fileOf(deleted))
  await rm(await fileOf(erased))
  const head = await engines.log.headOf(taskStream(taskId(1)))
  await engines.log.append(taskStream(taskId(1)), head, [TaskDeleted.of({})], cause())
  await engines.vault.destroy(`task:${taskId(2)}`)
  expect(await verified()).toMatchObject({ findings: [], blobs: 0, erasedBlobs: 2, erased: 1 })
})

// Holds findings 1.127.
test('recorder H2: a content that does not open says whether its bytes were changed, or its key is missing or erased', async () => {
  const stream = taskStream(taskId(1))
  const update = TaskUpdated.of({}, { title: 'a', description: '' })
  await engines.log.append(stream, emptyHead, [update], cause())
  const flipped = {
    ...engines.eventStore,
    readAll: async (after: string | null, limit: number) =>
      intact(await engines.eventStore.readAll(after, limit)).map((event) => {
        const bytes = Buffer.from(event.content ?? '', 'base64')
        bytes[40] = (bytes[40] ?? 0) ^ 1
        return event.content === null ? event : { ...event, content: bytes.toString('base64') }
      }),
  }
  expect(await said({ eventStore: flipped })).toEqual([
    `${stream} @ 0 does not have the sealed content that was recorded: its bytes were changed.`,
  ])
  const other = await openTestEngines()
  await expect(other.vault.open(`task:${taskId(1)}`, 'c', randomBytes(40))).rejects.toThrow(KeyMissing)
  expect(await said({ vault: other.vault })).toEqual([
    `${stream} @ 0 has content whose key is missing. It was not erased: that leaves a mark.`,
  ])
  await other.vault.seal(`task:${taskId(1)}`, 'c', randomBytes(8))
  expect(await said({ vault: other.vault })).toEqual([
    expect.stringContaining(
      `${stream} @ 0 has content that does not open with its key, and hashes that fit it`,
    ),
  ])
  await other.close()
  await engines.vault.destroy(`task:${taskId(1)}`)
  expect(await verified()).toMatchObject({ findings: [], erased: 1 })
})
