/** kill -9 of each of the processes when services run in processes of their own, while a person watches. */
import { afterAll, describe, test } from 'vitest'
import type { ApartProduct, ServiceApart } from '../../product/servicesApart.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { expect } from '../../e2e/expect.ts'
import { openTask } from '../../e2e/pages/task.ts'
import { openStageApart, type Stage } from '../../e2e/stage.ts'
import { serverGone } from '../../e2e/visit.ts'
import { visiting } from '../../e2e/visiting.ts'

const mongo = await forMongo()
const victims = ['gateway', 'query', 'command'] as const
const gates = { gateway: createGate(), query: createGate(), command: createGate(), runner: createGate() }
const sentence = (service: string) => `Before and after the ${service} service died.`

describe.skipIf('missing' in mongo)('on services apart', async () => {
  if ('missing' in mongo) return
  const stage = await openStageApart(mongo.server, {
    repositories: { surviving: { 'README.md': '# Surviving\n' } },
    scripts: [
      {
        when: /Outlive them/,
        turns: victims.map((service) => ({
          text: sentence(service),
          hold: { afterWords: 2, gate: gates[service] },
          tools: [{ name: 'Bash', input: { command: `echo after ${service}` } }],
        })),
      },
      {
        when: /Lose the runner/,
        turns: [{ text: sentence('runner'), hold: { afterWords: 2, gate: gates.runner } }],
      },
    ],
  })
  afterAll(() => stage.close())

  test('who watches while processes are killed and start again sees all of it, once, without a reload', async () => {
    const ada = await stage.product.signIn('ada')
    const project = await ada.project('surviving')
    const { page, context, expectFault } = await visiting(stage, { as: ada })
    expectFault(serverGone)
    expectFault(/answered 50[34]/)
    let loads = 0
    const { id } = await ada.task(project, 'Outlive them')
    const tab = await openTask(page, id)
    page.on('load', () => (loads += 1))
    for (const service of victims) {
      await gates[service].reached
      await expect(tab.chat).toContainText('Before and')
      await killAndRestart(stage, service)
      gates[service].release()
      await expect(tab.chat).toContainText(sentence(service))
      await expect(tab.terminal).toContainText(`after ${service}`)
    }
    await expect(tab.status('Completed')).toBeVisible()
    await expect(tab.pill).toHaveText('Live')
    const late = await openTask(await context.newPage(), id)
    await expect(late.terminal).toContainText('Finished in')
    await expect
      .poll(async () => [await tab.said(), await tab.printed()])
      .toEqual([await late.said(), await late.printed()])

    await tab.send('Lose the runner')
    await gates.runner.reached
    await killAndRestart(stage, 'runner')
    await expect(tab.status('Failed')).toBeVisible()
    await expect(tab.chat.getByRole('alert')).toContainText('The runner stopped while this was running.')
    gates.runner.release()
    await tab.chat.getByRole('button', { name: 'Try Again' }).click()
    await expect(tab.status('Completed')).toBeVisible()
    await expect(tab.chat.getByRole('alert')).toHaveCount(0)
    expect(loads).toBe(0)
  })
})

async function killAndRestart({ product }: Stage<ApartProduct>, service: ServiceApart): Promise<void> {
  for (const server of product.of[service]) {
    await server.kill9()
    await server.start()
  }
}
