/** The main job with the product in one process, as with `npm start`. */
import { afterAll, expect, test } from 'vitest'
import { mainJobRepositories, mainJobScripts, walkMainJob } from './mainJob.ts'
import { openStage } from './stage.ts'

const stage = await openStage({ repositories: mainJobRepositories, scripts: mainJobScripts })
afterAll(() => stage.close())

test('a person describes a task, watches it live, reads the diff and merges the pull request', async () => {
  expect(await walkMainJob(stage)).toMatchObject({ changes: expect.stringContaining('Good morning') })
})
