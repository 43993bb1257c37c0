/** Damage hides nothing from an erasure: what is known of a stream that cannot be read, or is not folded any more, is erased too. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { projectStream, taskStream, userStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { task } from '#domain/task/task.ts'
import { AccountDeleted, UserRegistered } from '#domain/user/events.ts'
import { figuresView } from '#domain/views/figures.ts'
import { views } from '#domain/views/registry.ts'
import { commands } from '#platform/commands/execute.ts'
import { erasureJob } from '#platform/commands/requestedJobs.ts'
import { isErased, sealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { emptyHead, eventLog } from '#platform/eventlog/eventLog.ts'
import { intact, isDamaged } from '#platform/ports/eventStore.ts'
import { documents } from '#platform/reads/documents.ts'
import { creating } from '../../tests/domain/creating.ts'
import { foldView } from '../../tests/domain/fold.ts'
import { projectId, taskId, userId } from '../../tests/domain/ids.ts'
import { created as projectCreated } from '../../tests/domain/issues.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { startErasure } from './erasure.ts'

let engines: TestEngines
const [user, project, ownTask] = [userStream(userId(1)), projectStream(projectId(1)), taskStream(taskId(1))]

beforeEach(async () => {
  engines = await openTestEngines()
  const registered = UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null })
  await engines.log.append(user, emptyHead, [registered], cause())
  await engines.log.append(project, emptyHead, [projectCreated], cause())
  await engines.commands.execute(task, ownTask, creating(), cause())
  for (const stream of [user, project, ownTask]) {
    const events = await engines.log.read(stream, 0, 100)
    const position = events.at(-1)?.position ?? ''
    for (const view of views)
      for (const document of foldView(view, new Map(), events).values())
        await engines.readStore.apply(
          [{ kind: 'put', collection: view.collection, document: { ...document }, position }],
          null,
        )
  }
})
afterEach(() => engines.close())

/** Erases what the last event of the stream deletes. The streams in `damaged` cannot be read. */
async function erased(stream: string, damaged: readonly string[] = []): Promise<void> {
  const eventStore: typeof engines.eventStore = {
    ...engines.eventStore,
    readStream: async (...asked) =>
      (await engines.eventStore.readStream(...asked)).map((record) =>
        damaged.includes(record.stream) && !isDamaged(record)
          ? { ...record, meta: { ...record.meta, prev: 'another' } }
          : record,
      ),
  }
  const log = eventLog({ ...engines, eventStore })
  const nobody = async () => {
    throw new Error('Nothing is at a code host.')
  }
  const worker = startErasure({
    ...engines,
    eventStore,
    log,
    commands: commands(log),
    documents: documents(engines.readStore, log),
    blobs: sealedBlobs(engines),
    projected: { waitFor: async () => true, close: () => undefined },
    ids: { uuid: () => cause().commandId },
    access: { end: async () => undefined, tokenOf: nobody },
    codeHost: { branch: nobody, deleteBranch: nobody, isInOpenPullRequest: nobody },
  })
  const [deletion] = intact(
    await engines.eventStore.readStream(stream, { from: 'end', direction: 'backwards', limit: 1 }),
  )
  if (deletion === undefined) throw new Error('Nothing was deleted.')
  const job = erasureJob(deletion)
  await engines.jobs.put(job)
  await eventually('it is erased', async () => (await engines.jobs.stateOf(job.id)) === 'done')
  await worker.stop()
}

/** The collections that still have a document of this id. */
async function collectionsWith(id: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const { collection } of views)
    if ((await engines.readStore.get(collection, id)) !== undefined) found.push(collection)
  return found
}

async function deleteAccount(): Promise<void> {
  const [last] = await engines.log.readBackwards(user, 'end', 1)
  const head = last && { revision: last.revision, hash: last.meta.hash }
  await engines.log.append(user, head ?? emptyHead, [AccountDeleted.of({})], cause())
}

test('a project and a task that cannot be read are erased with their account', async () => {
  const { projectSecrets, mcpHeaders, vault } = engines
  await projectSecrets.set(projectId(1), 'TOKEN', 'a secret')
  await mcpHeaders.set(projectId(1), 'server', 'a header')
  expect(await collectionsWith(taskId(1))).toContain('tasks')
  expect(await collectionsWith(projectId(1))).toContain('projects')
  await deleteAccount()
  await erased(user, [project, ownTask])
  expect(await collectionsWith(taskId(1))).toEqual([figuresView.collection])
  expect(await collectionsWith(projectId(1))).toEqual([])
  for (const scope of ['task', 'project', 'project-secrets', 'mcp-headers'])
    expect(await isErased(vault, `${scope}:${scope === 'task' ? taskId(1) : projectId(1)}`)).toBe(true)
})

test('what was deleted and is not folded any more leaves no documents but figures', async () => {
  await engines.commands.execute(task, ownTask, { type: 'DeleteTask' }, cause())
  await erased(ownTask)
  expect(await collectionsWith(taskId(1))).toEqual([figuresView.collection])
  await engines.commands.execute(projectDecider, project, { type: 'DeleteProject' }, cause())
  await erased(project)
  expect(await collectionsWith(projectId(1))).toEqual([])
  await deleteAccount()
  await erased(user)
  expect(await collectionsWith(userId(1))).toEqual([])
})
