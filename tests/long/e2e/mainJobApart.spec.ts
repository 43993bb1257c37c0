/** The main job with services in processes of their own. */
import { afterAll, describe, test } from 'vitest'
import { forMongo } from '../../servers/sharedEngines.ts'
import { expect } from '../../e2e/expect.ts'
import { mainJobRepositories, mainJobScripts, walkMainJob } from '../../e2e/mainJob.ts'
import { openStageApart } from '../../e2e/stage.ts'

const mongo = await forMongo()

describe.skipIf('missing' in mongo)('on services apart', async () => {
  if ('missing' in mongo) return
  const stage = await openStageApart(mongo.server, {
    repositories: mainJobRepositories,
    scripts: mainJobScripts,
  })
  afterAll(() => stage.close())

  test('a person describes a task, watches it live, reads the diff and merges the pull request', async () => {
    expect(await walkMainJob(stage)).toMatchObject({ changes: expect.stringContaining('Good morning') })
  })
})
