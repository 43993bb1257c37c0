/** The main job in one process, as `npm start` has it. */
import { afterAll, test } from 'vitest'
import { mainJobRepositories, mainJobScripts, walkMainJob } from './mainJob.ts'
import { openStage } from './stage.ts'

const stage = await openStage({ repositories: mainJobRepositories, scripts: mainJobScripts })
afterAll(() => stage.close())

test('a person describes a task, watches it live, reads the diff and merges the pull request', () =>
  walkMainJob(stage))
