/** Appends per second through the command path (load, decide, seal, chain, append) on the embedded store. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { openEngines, type Engines } from '#platform/compose.ts'
import { readConfig } from '#platform/config/config.ts'
import { logger } from '#platform/log.ts'
import { openBareAppender } from '../floors/bareSqlite.ts'
import type { Row } from '../row.ts'
import { bestRates } from '../statistics.ts'
import { intact } from '#platform/ports/eventStore.ts'

const streams = 64
const rounds = 6
const ms = 500

export const appends: Row = {
  name: 'appends',
  async measure(scene) {
    const engines = await openEngines(readConfig({ DATA_DIR: join(scene.folder, 'data') }), logger('silent'))
    scene.atEnd(() => engines.close())
    const taskIds = await Promise.all(Array.from({ length: streams }, () => newTask(engines)))
    await rename(engines, taskIds.slice(0, 1), 100)
    const [sample] = intact(
      await engines.eventStore.readStream(taskStream(taskIds[0] ?? ''), {
        from: 'end',
        direction: 'backwards',
        limit: 1,
      }),
    )
    if (!sample) throw new Error('Nothing was appended.')
    const bare = openBareAppender(join(scene.folder, 'bare.sqlite'), sample)
    scene.atEnd(async () => bare.close())

    const one = await bestRates(rounds, {
      figure: () => rename(engines, taskIds.slice(0, 1), ms),
      floor: async () => bare.rate({ perTransaction: 1, ms }),
    })
    const many = await bestRates(rounds, {
      figure: () => rename(engines, taskIds, ms),
      floor: async () => bare.rate({ perTransaction: streams, ms }),
    })
    return [
      {
        name: 'appends by command, one stream, one at a time',
        unit: 'a second',
        figure: one.figure,
        floor: { name: 'bare SQLite, a row a commit', figure: one.floor },
      },
      {
        name: `appends by command, ${streams} streams at once`,
        unit: 'a second',
        figure: many.figure,
        floor: { name: `bare SQLite, ${streams} rows a commit`, figure: many.floor },
      },
    ]
  },
}

async function newTask({ commands }: Engines): Promise<string> {
  const taskId = randomUUID()
  const ids = { taskId, ownerId: randomUUID(), projectId: randomUUID() }
  const first = { messageId: randomUUID(), executionId: randomUUID() }
  const words = { title: 'Make the widget round', description: 'Make the widget round', branch: 'main' }
  await commands.execute(
    task,
    taskStream(taskId),
    { type: 'CreateTask', ...ids, ...first, ...words, agent: 'claude', codexModel: null, images: [] },
    cause(),
  )
  return taskId
}

/** Gives the tasks new titles, with one event per command and one loop per task; returns commands per second. */
async function rename({ commands }: Engines, taskIds: readonly string[], forMs: number): Promise<number> {
  const startedAt = performance.now()
  let count = 0
  const worker = async (taskId: string) => {
    while (performance.now() - startedAt < forMs) {
      count += 1
      const command = { type: 'UpdateTask', title: `Make widget ${count} round` } as const
      await commands.execute(task, taskStream(taskId), command, cause())
    }
  }
  await Promise.all(taskIds.map(worker))
  return (count * 1_000) / (performance.now() - startedAt)
}

function cause() {
  return { actor: { kind: 'user', userId: randomUUID() }, commandId: randomUUID() } as const
}
