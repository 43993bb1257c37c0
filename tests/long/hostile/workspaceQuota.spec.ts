/** The kernel's own limit for a workspace on file systems with project quotas: a disk of each kind that has them. */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { deleteTask, executeTask, getTask } from '#domain/api/tasks.schema.ts'
import type { Person } from '../../product/person.ts'
import { neighbour, turns, worksOn } from '../../hostile/diskFiller.ts'
import { loopDisk, type LoopDisk } from '../../server/loopDisk.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const env = { WORKSPACE_GB: '0.2', MIN_FREE_DISK_GB: '0.1' }
/** Bytes and files that the kernel lets a workspace have. */
const most = { bytes: 0.204e9, files: 0.204e9 / 4_096 }
const longMs = 300_000

describe.each(['ext4 with project quotas', 'xfs with project quotas'] as const)(
  'security H2: on %s',
  (kind) => {
    let disk: LoopDisk | string
    let scene: Scene | undefined
    let other: Awaited<ReturnType<typeof neighbour>>
    beforeAll(async () => {
      disk = await loopDisk(2_000, 0, kind)
      if (typeof disk === 'string') return
      scene = await openScene(turns, { dataDir: `${disk.folder}/data`, env })
      other = await neighbour(scene)
    }, longMs)
    afterAll(async () => {
      await scene?.close()
      if (typeof disk !== 'string') await disk.close()
    }, longMs)

    function here(context: TestContext): Scene & { disk: LoopDisk; workspace(taskId: string): string } {
      if (typeof disk === 'string') return context.skip(disk)
      if (scene === undefined) throw new Error('the product did not start')
      return { ...scene, disk, workspace: (id) => join(scene?.product.dataDir ?? '', 'runner/tasks', id) }
    }

    test('security H2: the operator is told that the kernel limits workspaces', async (context) => {
      const { product } = here(context)
      expect(await limitOf(product.base)).toMatch(/have a project quota of 0\.204 GB each/)
    })

    // Holds findings 1.73.
    test(
      'security H2: a run that fills its workspace gets to the kernel’s limit, ends with the reason, and others go on',
      async (context) => {
        const { ada, projectId, workspace } = here(context)
        const { id } = await begun(ada, projectId)
        await command(ada, id, 'dd if=/dev/zero of=fill bs=1M count=1000; sleep 600')
        const last = await lastOf(ada, id)
        expect(last).toMatchObject({
          commandStatus: 'failed',
          response: expect.stringContaining('more than 0.2 GB'),
        })
        const { blocks } = statSync(join(workspace(id), 'tree/fill'))
        expect(blocks * 512).toBeGreaterThan(0.9 * 0.2e9)
        expect(blocks * 512).toBeLessThanOrEqual(most.bytes)
        await worksOn(here(context), other)

        // It is full, and its owner can still make room.
        await command(ada, id, 'rm fill && echo room > fill')
        expect(await lastOf(ada, id)).toMatchObject({ commandStatus: 'completed' })
        await ada.ask(deleteTask, { params: { taskId: id } })
      },
      longMs,
    )

    test(
      'security H2: files without content, which no measurement sees, are held too',
      async (context) => {
        const { ada, projectId } = here(context)
        const { id } = await begun(ada, projectId)
        // In the home, which is no part of what is saved of a task.
        await command(ada, id, 'cd; n=0; while : > $n; do n=$((n + 1)); done; echo "$n files"')
        const { response } = (await lastOf(ada, id)) ?? {}
        expect(response).toMatch(/Disk quota exceeded|No space left on device/)
        const files = Number(/^(\d+) files$/m.exec(response ?? '')?.[1])
        expect(files).toBeGreaterThan(0.9 * most.files)
        expect(files).toBeLessThanOrEqual(most.files)
        await worksOn(here(context), other)
        await ada.ask(deleteTask, { params: { taskId: id } })
      },
      longMs,
    )

    test(
      'security H2: what runs in a sandbox cannot take its files out of the limit',
      async (context) => {
        const { ada, projectId, workspace } = here(context)
        const { id } = await begun(ada, projectId)
        const attempts = ['-p 5 file', '-P folder', '+P file', '-p 0 .', '-P .', '-p 5 "$HOME"', '-P "$HOME"']
        await command(
          ada,
          id,
          `mkdir folder; : > file; ${attempts.map((one) => `chattr ${one} 2> /dev/null && echo ${one.slice(0, 2)} >> done`).join('; ')}; mv file folder; : > folder/new; true`,
        )
        expect(await lastOf(ada, id)).toMatchObject({ commandStatus: 'completed' })
        const tree = join(workspace(id), 'tree')
        expect(readdirSync(tree)).not.toContain('done')
        const project = projectOf(workspace(id)).id
        expect(project).toBeGreaterThan(20_000)
        for (const path of ['.', 'folder'])
          expect(projectOf(join(tree, path))).toEqual({ id: project, inherits: true })
        for (const path of ['folder/file', 'folder/new'])
          expect(projectOf(join(tree, path))).toEqual({ id: project, inherits: false })
        // What the server keeps is outside of it.
        expect(projectOf(join(workspace(id), 'git'))).toEqual({ id: 0, inherits: false })
        await ada.ask(deleteTask, { params: { taskId: id } })
      },
      longMs,
    )

    test(
      'security H2: a workspace from before the limit is under it from the next start, and its project is free once it is gone',
      async (context) => {
        const {
          ada,
          projectId,
          workspace,
          product,
          disk: { folder },
        } = here(context)
        const { id } = await begun(ada, projectId)
        await command(ada, id, 'mkdir -p of/old; ln -s old of/link; mkfifo of/pipe; echo old > of/old/file')
        const project = projectOf(workspace(id)).id
        await product.terminate()
        const root = workspace(id)
        for (const change of [['-p', '0'], ['-P']])
          try {
            execFileSync('chattr', ['-R', '-f', ...change, root], { stdio: 'ignore' })
          } catch {
            // Links have no attributes.
          }
        expect(projectOf(join(root, 'tree/of/old/file')).id).toBe(0)
        await product.restart()

        expect(await limitOf(product.base)).toMatch(/have a project quota/)
        expect(projectOf(join(root, 'tree/of/old'))).toEqual({ id: project, inherits: true })
        expect(projectOf(join(root, 'tree/of/old/file')).id).toBe(project)
        await command(
          ada,
          id,
          'mv of/old/file of/file && dd if=/dev/zero of=of/old/fill bs=1M count=1000; sleep 600',
        )
        expect(await lastOf(ada, id)).toMatchObject({ response: expect.stringContaining('more than 0.2 GB') })
        expect(statSync(join(root, 'tree/of/old/fill')).blocks * 512).toBeLessThanOrEqual(most.bytes)
        expect(limits(folder)).toContain(project)

        await ada.ask(deleteTask, { params: { taskId: id } })
        await expect.poll(() => limits(folder), { timeout: 90_000 }).not.toContain(project)
      },
      longMs,
    )
  },
)

test.skipIf(process.getuid?.() !== 0)(
  'security H2: a server that is not root measures, also where there are project quotas, and says why',
  async (context) => {
    const disk = await loopDisk(2_000, 27_000, 'ext4 with project quotas')
    if (typeof disk === 'string') return context.skip(disk)
    const scene = await openScene(turns, { dataDir: `${disk.folder}/data`, env, user: 27_000 })
    try {
      expect(await limitOf(scene.product.base)).toMatch(/are measured: 0\.2 GB each.*no users of their own/)
      const { id } = await begun(scene.ada, scene.projectId)
      await command(scene.ada, id, 'dd if=/dev/zero of=fill bs=1M count=1000; sleep 600')
      expect(await lastOf(scene.ada, id)).toMatchObject({
        response: expect.stringContaining('more than 0.2 GB'),
      })
    } finally {
      await scene.close()
      await disk.close()
    }
  },
  longMs,
)

async function limitOf(base: string): Promise<string> {
  const { details } = await (await fetch(`${base}/readyz`)).json()
  return String(details.workspaceLimit)
}

async function begun(ada: Person, projectId: string): Promise<{ id: string }> {
  const task = await ada.task(projectId, 'Begin')
  await ada.taskOnce(task.id, hasEnded, longMs)
  return task
}

/** Runs a command to its end. */
async function command(ada: Person, taskId: string, line: string): Promise<void> {
  const { execution } = (await ada.ask(getTask, { params: { taskId } })).task
  await ada.ask(executeTask, { params: { taskId }, body: { command: line } })
  const isNext = (turn = 0) => turn > (execution?.turn ?? 0)
  await ada.taskOnce(taskId, (task) => hasEnded(task) && isNext(task.execution?.turn), 240_000)
}

async function lastOf(person: Person, taskId: string) {
  return (await person.ask(getChat, { params: { taskId } })).messages.at(-1)
}

function projectOf(path: string): { id: number; inherits: boolean } {
  const [id, flags = ''] = execFileSync('lsattr', ['-pd', path], { encoding: 'utf8' }).trim().split(/\s+/)
  return { id: Number(id), inherits: flags.includes('P') }
}

/** The projects that have a limit on what they may write. */
function limits(mount: string): readonly number[] {
  const told = execFileSync('repquota', ['-P', '-n', '-v', mount], { encoding: 'utf8' })
  return [...told.matchAll(/^#(\d+) +\S+ +\d+ +\d+ +[1-9]/gm)].map(([, id]) => Number(id))
}
