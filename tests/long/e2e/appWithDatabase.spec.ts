/** An app with a database: its server and PostgreSQL run beside the agent, which changes the app and tests it while a person looks at it. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { expect } from '../../e2e/expect.ts'
import { openStage, type Stage } from '../../e2e/stage.ts'
import { visiting } from '../../e2e/visiting.ts'
import type { Person } from '../../product/person.ts'
import { hasEnded } from '../../server/scene.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { noPostgres, postgres, psql } from '../postgres.ts'
import { changesGreeting, installs, openApp, port, serves, viteApp } from '../viteApp.ts'

/** The repository's own test: the greeting comes back from the database. */
const ownTest = `
import { execFileSync } from 'node:child_process'
import { strictEqual } from 'node:assert'
import { test } from 'node:test'
import { greeting } from './greeting.js'
const [program, ...args] = ${JSON.stringify(psql)}
const query = (statement) => execFileSync(program, [...args, statement], { encoding: 'utf8' }).trim()
test('the greeting comes back from the database', () => {
  query('create table if not exists greetings (at serial, words text)')
  query("insert into greetings (words) values ('" + greeting + "')")
  strictEqual(query('select words from greetings order by at desc limit 1'), greeting)
})
`
const asks = `${psql.join(' ')} "select 'kept: ' || string_agg(words, ', ' order by at) from greetings"`
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const runsTests = bash('node --test greeting.test.js')
const [edits, ends] = [createGate(), createGate()]

describe.skipIf(noPostgres !== '')(`an app with PostgreSQL${noPostgres}`, () => {
  let stage: Stage
  let ada: Person
  let projectId: string
  beforeAll(async () => {
    stage = await openStage({
      repositories: { greeter: { ...viteApp(), 'greeting.test.js': ownTest } },
      scripts: [
        {
          when: /Greet in the evening/,
          turns: [
            { tools: [runsTests] },
            {
              text: 'The tests pass so far.',
              hold: { afterWords: 2, gate: edits },
              tools: [bash(changesGreeting), runsTests],
            },
            {
              text: 'It is changed, and the tests pass.',
              hold: { afterWords: 2, gate: ends },
              tools: [bash(asks)],
            },
            { text: 'Done.' },
          ],
        },
      ],
    })
    ada = await stage.product.signIn('ada')
    projectId = await ada.project('greeter')
    const web = { name: 'web', command: serves, readyPort: port }
    const body = { setupCommand: installs, services: [postgres, web] }
    await ada.ask(updateProjectSettings, { params: { projectId }, body })
  })
  afterAll(async () => {
    edits.release()
    ends.release()
    await stage?.close()
  })

  test('the agent changes the app, a person sees it at once, and its tests pass against the database of the task', async () => {
    const { id } = await ada.task(projectId, 'Greet in the evening')
    const { page, context } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto(`/tasks/${id}`)
    await edits.reached
    const app = await openApp(page, context)
    edits.release()
    await app.getByRole('heading', { name: 'Good evening' }).waitFor()
    await expect(app.locator('body')).toHaveAttribute('data-mark', 'kept')
    ends.release()
    expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
    const { output } = await ada.ask(getTerminal, { params: { taskId: id } })
    const terminal = output.map(({ content }) => content).join('')
    for (const service of ['postgres is ready on port 5432', `web is ready on port ${port}`])
      expect(terminal).toContain(`The service ${service}.\n`)
    expect(terminal.match(/pass 1\b/g)).toHaveLength(2)
    expect(terminal).toContain('kept: Good morning, Good evening')
    // What was open is still served when the turn has ended, since services go on.
    await app.reload()
    await app.getByRole('heading', { name: 'Good evening' }).waitFor()
  })
})
