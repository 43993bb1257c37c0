/** What a repository and a run can take from the host: a tree that is too large to read, and a full disk. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { cancelTask, executeTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { bareRepository } from '../../server/pushing.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'
import { plantBomb } from '../../hostile/treeBomb.ts'

const begin = [{ when: /^Begin/, turns: [{ text: 'Begun.' }] }]

describe('where an operator allows little:', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(begin, { env: { REPOSITORY_ENTRIES: '50000', WORKSPACE_GB: '0.05' } })
    plantBomb(await bareRepository(scene.product.dataDir), 'bomb', { levels: 12, width: 12 })
  })
  afterAll(() => scene?.close())

  describe('finding 4: a repository of some kilobytes with more files than any disk has', () => {
    // Holds findings 1.13.
    test('finding 4: is refused with the reason before any of it is read out, and leaves no git behind', async () => {
      const { ada, projectId, product } = scene
      const { id } = await ada.task(projectId, 'Begin', 'bomb')
      const ended = await ada.taskOnce(id, hasEnded)
      expect(ended.status).toBe('failed')
      expect(ended.failure).toMatchObject({
        code: 'repository_too_large',
        reason: expect.stringContaining('50,000 files and folders'),
      })
      const gits = (await product.processes()).filter(({ command }) =>
        /\bgit\b.*(read-tree|ls-tree)/.test(command),
      )
      expect(gits).toEqual([])
      expect(await readdir(join(product.dataDir, 'runner/tasks')).catch(() => [])).not.toContain(id)
      // Others' work goes on.
      const { id: other } = await ada.task(projectId, 'Begin')
      expect(await ada.taskOnce(other, hasEnded)).toMatchObject({ status: 'completed' })
    })
  })

  describe('finding low: a branch that cannot be one', () => {
    // Holds findings 1.58.
    test('finding low: reaches no argument of git, and one that is left empty is none', async () => {
      const { ada, projectId } = scene
      const { id } = await ada.task(projectId, 'Begin')
      await ada.taskOnce(id, hasEnded)
      for (const baseBranch of ['main\0', '--output=/tmp/x', 'a..b', 'x'.repeat(251)]) {
        const path = `/tasks/${id}/git/diff?baseBranch=${encodeURIComponent(baseBranch)}`
        expect(await ada.api('GET', path)).toMatchObject({
          status: 400,
          body: { code: 'invalid_input', field: 'baseBranch' },
        })
        const body = { description: 'Begin', projectId, branch: baseBranch }
        expect(await ada.api('POST', '/tasks', body)).toMatchObject({
          status: 400,
          body: { field: 'branch' },
        })
      }
      expect(await ada.api('GET', `/tasks/${id}/git/diff?baseBranch=`)).toMatchObject({ status: 200 })
    })
  })

  describe('finding 5: a run that fills the disk', () => {
    // Holds findings 1.16.
    test('finding 5: is stopped with the reason, its files stay, and what makes it smaller may run', async () => {
      const { ada, projectId } = scene
      const { id } = await ada.task(projectId, 'Begin')
      await ada.taskOnce(id, hasEnded)
      const params = { taskId: id }
      // Twice as much as it may have and no more: what it wrote is looked at when it ends.
      const fill = 'for n in $(seq 1 100); do head -c 1000000 /dev/zero > "fill.$n"; sleep 0.02; done'
      await ada.ask(executeTask, { params, body: { command: `${fill}; sleep 600` } })
      await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === 2)
      const lastMessage = async () => (await ada.ask(getChat, { params })).messages.at(-1)
      expect(await lastMessage()).toMatchObject({
        commandStatus: 'failed',
        response: expect.stringContaining('more than 0.05 GB'),
      })
      await ada.ask(executeTask, {
        params,
        body: { command: 'rm -f fill.*; echo smaller > smaller.txt; sleep 3' },
      })
      await ada.taskOnce(id, (task) => hasEnded(task) && task.execution?.turn === 3)
      expect(await lastMessage()).toMatchObject({ commandStatus: 'completed' })
      const { data } = await ada.ask(getTaskDiff, { params })
      expect(data.changedFiles.map(({ fileName }) => fileName)).toEqual(['smaller.txt'])
    })
  })
})

describe('finding 4: where an operator allows any size', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(begin, { env: { REPOSITORY_ENTRIES: '2000000000', REPOSITORY_GB: '1000000' } })
    plantBomb(await bareRepository(scene.product.dataDir), 'bomb', { levels: 12, width: 12 })
  })
  afterAll(() => scene?.close())

  // Holds findings 1.14.
  test('finding 4: who cancels is heard while git reads, and git ends with the run', async () => {
    const { ada, projectId, product } = scene
    const { id } = await ada.task(projectId, 'Begin', 'bomb')
    const reading = async () =>
      (await product.processes()).filter(({ command }) => /\bgit\b.*(read-tree|ls-tree)/.test(command))
    await expect.poll(async () => (await reading()).length).toBeGreaterThan(0)
    await ada.ask(cancelTask, { params: { taskId: id } })
    expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'cancelled' })
    await expect.poll(reading).toEqual([])
  })
})
