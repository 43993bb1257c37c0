/** What the agent does reaches every tab at once, and a lost connection loses nothing. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Route } from 'playwright'
import { afterAll, describe, test } from 'vitest'
import { createGate, type Gate, type Script } from '../standins/messagesApi.ts'
import { expect } from './expect.ts'
import { pick, recentTask } from './pages/dashboard.ts'
import { layoutShift } from './layoutShift.ts'
import { openTask, type TaskPage } from './pages/task.ts'
import { openStage } from './stage.ts'
import { serverGone } from './visit.ts'
import { visiting } from './visiting.ts'

/** A run that stands still twice, each time in the middle of a sentence. */
interface Run {
  readonly description: string
  readonly first: Gate
  readonly second: Gate
}

const run = (description: string): Run => ({ description, first: createGate(), second: createGate() })
const runs = {
  tabs: run('Count for two tabs'),
  offline: run('Count for somebody in a tunnel'),
  killed: run('Count until the server dies'),
  phone: run('Count on a phone'),
}
const stage = await openStage({
  repositories: { counting: { 'README.md': '# Counting\n' } },
  scripts: [
    { when: /Begin only once/, turns: [{ text: 'Once.' }] },
    ...Object.values(runs).map(({ description, first, second }): Script => ({
      when: new RegExp(description),
      turns: [
        {
          text: 'One two three four five six.',
          hold: { afterWords: 3, gate: first },
          // So few that all of them are drawn, however long the clone and its lines take.
          tools: [{ name: 'Bash', input: { command: 'seq 1 20 | sed "s/^/line /"' } }],
        },
        { text: 'Seven eight nine ten eleven twelve.', hold: { afterWords: 3, gate: second } },
      ],
    })),
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('counting')

test('two tabs see the same, also the one that comes in the middle of a sentence', async () => {
  const { page, context } = await visiting(stage, { as: ada })
  const { first, second, description } = runs.tabs
  const { id } = await ada.task(project, description)
  const one = await openTask(page, id)
  await first.reached
  await expect(one.chat).toContainText('One two three')

  const two = await openTask(await context.newPage(), id)
  await expect(two.chat).toContainText('One two three')
  first.release()
  for (const tab of [one, two]) {
    await expect(tab.chat).toContainText('One two three four five six.')
    await expect(tab.terminal).toContainText('line 20')
    await expect(tab.chat).toContainText('Seven eight nine')
    await expect(tab.chat).not.toContainText('ten')
  }
  second.release()
  for (const tab of [one, two]) await expect(tab.status('Completed')).toBeVisible()
  await seeTheSame(one, two)
  await seeTheSame(one, await openTask(await context.newPage(), id))
})

test('a connection that was lost is said to be, and what happened meanwhile comes when it is back', async () => {
  const { page, context, expectFault } = await visiting(stage, { as: ada })
  expectFault(/ERR_INTERNET_DISCONNECTED/)
  const { first, second, description } = runs.offline
  const { id } = await ada.task(project, description)
  const tab = await openTask(page, id)
  await first.reached
  await expect(tab.chat).toContainText('One two three')
  await expect(tab.pill).toHaveText('Live')

  await context.setOffline(true)
  await expect(tab.pill).toHaveText('Offline')
  await expect(tab.status('Last known:')).toBeVisible()
  await tab.send('Written in the tunnel')
  await tab.send('And on the way out')
  await expect(tab.pill).toHaveText('Offline, 2 queued')
  first.release()
  await second.reached
  expect(await tab.chat.innerText()).not.toContain('four')

  await context.setOffline(false)
  await expect(tab.pill).toHaveText('Live')
  const queue = tab.chat.getByRole('list', { name: 'Queued messages' }).getByRole('listitem')
  await expect(queue).toHaveText(['Written in the tunnel', 'And on the way out'])
  for (const text of ['Written in the tunnel', 'And on the way out'])
    await queue.filter({ hasText: text }).getByRole('button', { name: 'Withdraw' }).click()
  await expect(tab.chat).toContainText('One two three four five six.')
  await expect(tab.chat).toContainText('Seven eight nine')
  second.release()
  await expect(tab.status('Completed')).toBeVisible()
  await seeTheSame(tab, await openTask(await context.newPage(), id))
})

test('a part of a page that cannot be loaded is told of, and leaves the page as it is', async () => {
  const { page, expectFault } = await visiting(stage, { as: ada })
  expectFault(/PickerList|could not be loaded/)
  await page.route('**/assets/PickerList-*.js', (route) => route.abort())
  await page.goto('/dashboard')
  const description = page.getByRole('textbox', { name: 'Task description' })
  await description.fill('Half a thought')
  // What tells it is loaded after the page; each press tries the part again.
  await expect(async () => {
    await page.getByRole('combobox', { name: 'Agent:' }).click()
    await expect(page.getByText("Couldn't load this page")).toBeVisible({ timeout: 2_000 })
  }).toPass()
  await expect(description).toHaveValue('Half a thought')
})

test('live updates that cannot be downloaded ask for a reload, which brings them', async () => {
  const { page, expectFault } = await visiting(stage, { as: ada })
  expectFault(/assets\/socket-/)
  const chunk = '**/assets/socket-*.js'
  await page.route(chunk, (route) => route.abort())
  await page.goto('/dashboard')
  await expect(page.getByText('Live updates could not be downloaded.')).toBeVisible()
  await page.unroute(chunk)
  await page.reload()
  await expect(page.getByRole('banner').getByRole('status')).toHaveText('Live')
})

test('a server that is killed and starts again shows what there was, and how the run ended', async () => {
  const { page, context, expectFault } = await visiting(stage, { as: ada })
  expectFault(serverGone)
  const { first, second, description } = runs.killed
  const { id } = await ada.task(project, description)
  const tab = await openTask(page, id)
  let loads = 0
  page.on('load', () => (loads += 1))
  await first.reached
  await expect(tab.chat).toContainText('One two three')
  // Who comes now has it from the log: what was only said is gone with the server.
  const later = await context.newPage()
  await expect((await openTask(later, id)).chat).toContainText('One two three')
  await later.close()

  await stage.product.kill9()
  await expect(tab.pill).toHaveText('Offline')
  await expect(tab.status('Last known:')).toBeVisible()
  await stage.product.restart()
  await expect(tab.pill).toHaveText('Live')
  await expect(tab.status('Failed')).toBeVisible()
  await expect(tab.chat.getByRole('alert')).toContainText('The runner stopped while this was running.')
  await expect(tab.chat).toContainText('One two three')
  await seeTheSame(tab, await openTask(await context.newPage(), id))

  first.release()
  second.release()
  await tab.chat.getByRole('button', { name: 'Try Again' }).click()
  await expect(tab.chat).toContainText('Seven eight nine ten eleven twelve.')
  await expect(tab.status('Completed')).toBeVisible()
  expect(loads).toBe(0)
})

/** The same words, lines and times, when both have drawn what they know. */
async function seeTheSame(one: TaskPage, other: TaskPage): Promise<void> {
  await expect
    .poll(async () => [await other.said(), await other.printed()])
    .toEqual([await one.said(), await one.printed()])
}

test('who taps Send twice on a phone does not stop the turn', async () => {
  const { page, requests } = await visiting(stage, { as: ada, width: 390, height: 844 })
  const { first, description } = runs.phone
  const { id } = await ada.task(project, description)
  const { chat, composer } = await openTask(page, id)
  await first.reached
  await composer.fill('And backwards')
  await chat.getByRole('button', { name: 'Send', exact: true }).dblclick()
  const stop = chat.getByRole('button', { name: 'Stop', exact: true })
  await expect(stop).toBeVisible()
  expect(requests.filter((request) => request.url().endsWith('/cancel'))).toEqual([])
  first.release()
  await expect(chat).toContainText('One two three four five six.')
  await stop.click()
  await expect(stop).toBeHidden()
})

describe('on a slow network', () => {
  test('who presses again while the answer is on its way has one task', async () => {
    const { page } = await visiting(stage, { as: ada })
    await page.goto('/dashboard')
    await pick(page, 'Project', 'ada/counting')
    const asked: Route[] = []
    await page.route('**/api/tasks', (route) => void asked.push(route))
    const text = page.getByRole('textbox', { name: 'Task description' })
    await text.fill('Begin only once')
    const button = page.getByRole('button', { name: 'Start Coding' })
    await button.dblclick()
    await expect(page.getByRole('button', { name: 'Creating...' })).toBeDisabled()
    await text.press('Control+Enter')
    await text.press('Control+Enter')
    expect(asked).toHaveLength(1)
    await asked[0]?.continue()
    await expect(recentTask(page, 'Begin only once')).toHaveCount(1)
    expect(asked).toHaveLength(1)
  })

  test('what comes late moves little of what is seen', async () => {
    const { page } = await visiting(stage, { as: ada })
    await ada.task(project, 'Begin only once')
    for (const late of ['**/api/tasks?*', '**/api/projects?*', '**/api/agents'])
      await page.route(late, async (route) => {
        await pause(600)
        await route.continue()
      })
    await page.goto('/dashboard')
    await expect(recentTask(page, 'Begin only once').first()).toBeVisible()
    await page.waitForLoadState('networkidle')
    expect(await layoutShift(page)).toBeLessThan(0.1)
  })
})
