/** PostgreSQL as a service of a project: used by the agent, with its data there in the next turn. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'
import { noPostgres, postgres, psql } from '../postgres.ts'

const count =
  "create table if not exists seen (at int); insert into seen values (1); select 'rows: ' || count(*) from seen"
const input = { command: `${psql.join(' ')} "${count}"`, description: 'Work' }

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    { when: /Ask the database/, turns: [{ tools: [{ name: 'Bash', input }] }, { text: 'Done.' }] },
  ])
})
afterAll(() => scene?.close())

test.skipIf(noPostgres !== '')(`PostgreSQL keeps its data between turns${noPostgres}`, async () => {
  const { ada, projectId } = scene
  await ada.ask(updateProjectSettings, { params: { projectId }, body: { services: [postgres] } })
  const { id: taskId } = await ada.task(projectId, 'Ask the database')
  const terminal = async () => {
    const { output } = await ada.ask(getTerminal, { params: { taskId } })
    return output.map(({ content }) => content).join('')
  }
  const { execution } = await ada.taskOnce(taskId, hasEnded)
  expect(await terminal()).toContain('The service postgres is ready on port 5432.\n')
  expect(await terminal()).toContain('rows: 1')
  await ada.ask(sendMessage, { params: { taskId }, body: { message: 'Ask the database again' } })
  await ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.id !== execution?.id)
  expect(await terminal()).toContain('rows: 2')
})
