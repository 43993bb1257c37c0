/** Commands that fill the disk, and the work of another person meanwhile. */
import { open } from 'node:fs/promises'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { updateProfile } from '#domain/api/auth.schema.ts'
import { deleteTask, getTask } from '#domain/api/tasks.schema.ts'
import { createRepository } from '#domain/api/projects.schema.ts'
import type { Person } from '../product/person.ts'
import { hasEnded, type Scene } from '../server/scene.ts'

export const turns = [{ when: /^Begin/, turns: [{ text: 'Begun.' }] }]

/** Commands that write as fast as they can until they are stopped. */
export const fillers = {
  'allocates files':
    'while :; do n=$((n + 1)); fallocate -l 1G "fill.$n" || fallocate -x -l 1G "fill.$n"; done',
  'writes one file': 'dd if=/dev/zero of=fill bs=16M; sleep 600',
  'writes many files': 'while :; do n=$((n + 1)); head -c 50000000 /dev/zero > "fill.$n"; done',
  'writes to a file that it has deleted': 'exec 3> fill; rm fill; cat /dev/zero >&3; sleep 600',
} as const

/** A person with a project and a task that has a workspace. */
export async function neighbour({
  product,
}: Scene): Promise<{ person: Person; projectId: string; taskId: string }> {
  const person = await product.signIn('grace')
  await person.ask(createRepository, { body: { name: 'own', description: '', private: false } })
  const projectId = await person.project('own')
  const { id: taskId } = await person.task(projectId, 'Begin')
  await person.taskOnce(taskId, hasEnded)
  return { person, projectId, taskId }
}

/** The ordinary work of a person: each request must be answered as always, and the runs must complete. */
export async function worksOn(
  scene: Scene,
  { person, projectId, taskId }: Awaited<ReturnType<typeof neighbour>>,
): Promise<void> {
  await scene.product.signIn('grace')
  await person.ask(updateProfile, { body: { fullName: 'Grace Hopper' } })
  const { execution } = (await person.ask(getTask, { params: { taskId } })).task
  await person.ask(sendMessage, { params: { taskId }, body: { message: 'Begin once more' } })
  const { id } = await person.task(projectId, 'Begin another')
  const ended = [
    await person.taskOnce(
      taskId,
      (task) => hasEnded(task) && (task.execution?.turn ?? 0) > (execution?.turn ?? 0),
    ),
    await person.taskOnce(id, hasEnded),
  ]
  for (const { status, failure } of ended)
    if (status !== 'completed') throw new Error(`It did not complete: ${status} ${JSON.stringify(failure)}`)
  await person.ask(deleteTask, { params: { taskId: id } })
}

/** Writes until the disk is full. */
export async function fillUp(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (let bytes = 1 << 20; bytes >= 512;) {
      const { bytesWritten } = await handle.write(Buffer.alloc(bytes)).catch(() => ({ bytesWritten: 0 }))
      if (bytesWritten < bytes) bytes >>= 1
    }
  } finally {
    await handle.close()
  }
}
