/** A disk of 3 GB that a command fills: the command ends with the reason, and everybody else can go on working. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { deleteTask, executeTask } from '#domain/api/tasks.schema.ts'
import type { Person } from '../../product/person.ts'
import { fillers, neighbour, turns, worksOn } from '../../hostile/diskFiller.ts'
import { loopDisk, type LoopDisk } from '../../server/loopDisk.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const users = [
  ['root', undefined],
  ['not root', 27_000],
] as const

describe.skipIf(process.getuid?.() !== 0).each(users)(
  'security H2: on a disk of 3 GB, with a server that is %s',
  (_, user) => {
    let disk: LoopDisk | string
    let scene: Scene
    let other: Awaited<ReturnType<typeof neighbour>>
    beforeAll(async () => {
      disk = await loopDisk(3_300, user)
      if (typeof disk === 'string') return
      const options = { dataDir: `${disk.folder}/data`, ...(user !== undefined && { user }) }
      scene = await openScene(turns, options)
      other = await neighbour(scene)
    })
    afterAll(async () => {
      await scene?.close()
      if (typeof disk !== 'string') await disk.close()
    })

    // Holds findings 1.71.
    test.each(Object.entries(fillers))(
      'security H2: a command that %s ends with the reason, others go on, and its owner deletes what it left',
      async (_name, filler) => {
        if (typeof disk === 'string') throw new Error(disk)
        const { ada, projectId, product } = scene
        const free = disk.freeMegabytes()
        const { id } = await ada.task(projectId, 'Begin')
        await ada.taskOnce(id, hasEnded)
        try {
          // Another's command is at work all the time, and must get to its end.
          const { person, taskId } = other
          const slow = 'for n in $(seq 1 40); do echo $n >> ticks; sleep 0.1; done; rm ticks'
          await person.ask(executeTask, { params: { taskId }, body: { command: slow } })

          await ada.ask(executeTask, { params: { taskId: id }, body: { command: filler } })
          await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === 2, 120_000)
          expect(await lastOf(ada, id)).toMatchObject({
            commandStatus: 'failed',
            response: expect.stringContaining("filled the server's disk"),
          })
          await person.taskOnce(taskId, hasEnded)
          expect(await lastOf(person, taskId)).toMatchObject({ commandStatus: 'completed' })
          await worksOn(scene, other)

          await product.kill9()
          await product.restart()
          await worksOn(scene, other)
        } finally {
          await ada.ask(deleteTask, { params: { taskId: id } })
          const isBack = () => typeof disk !== 'string' && disk.freeMegabytes() > free - 100
          await expect.poll(isBack).toBe(true)
        }
      },
    )
  },
)

async function lastOf(person: Person, taskId: string) {
  return (await person.ask(getChat, { params: { taskId } })).messages.at(-1)
}
