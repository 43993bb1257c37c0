/** A Vite app that the agent serves in its sandbox is opened from the page of the task, and shows a change at once. */
import { afterAll, test } from 'vitest'
import { listPorts } from '#domain/api/preview.schema.ts'
import { violations } from '../../e2e/axe.ts'
import { expect } from '../../e2e/expect.ts'
import { overflowAt } from '../../e2e/overflow.ts'
import { openStage } from '../../e2e/stage.ts'
import { visiting } from '../../e2e/visiting.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { changesGreeting, installs, openApp, serves, viteApp } from '../viteApp.ts'

const serve = `${installs} && (setsid ${serves} </dev/null >/tmp/vite.log 2>&1 &)`
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const [edits, ends] = [createGate(), createGate()]

const stage = await openStage({
  repositories: { greeter: viteApp() },
  scripts: [
    {
      when: /Serve it/,
      turns: [
        { tools: [bash(serve)] },
        {
          text: 'It is served now.',
          hold: { afterWords: 2, gate: edits },
          tools: [bash(changesGreeting)],
        },
        { text: 'It is changed now.', hold: { afterWords: 2, gate: ends } },
      ],
    },
  ],
})
afterAll(async () => {
  edits.release()
  ends.release()
  await stage.close()
})
const ada = await stage.product.signIn('ada')
const task = await ada.task(await ada.project('greeter'), 'Serve it')

// Attacks preview: in Chromium, the app reads, frames and calls the product, and sets cookies for its host.
test('a person opens the app of a running agent, sees it change, and is told when it has ended', async () => {
  const { page, context, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
  await page.goto(`/tasks/${task.id}`)
  const bar = page.getByRole('region', { name: 'Preview' })
  const open = bar.getByRole('button', { name: 'Open preview' })
  await open.waitFor()
  await expect(open).toHaveAccessibleDescription(/ on port 5173$/)
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 375)).toEqual([])

  const app = await openApp(page, context)
  const own = new URL(app.url())
  expect(app.url()).toBe(`http://${task.id}-5173.localhost:${new URL(stage.product.base).port}/`)
  expect(await app.evaluate(() => [window.opener, document.referrer])).toEqual([null, ''])
  const [cookie] = await context.cookies(app.url())
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', domain: own.hostname })

  edits.release()
  await app.getByRole('heading', { name: 'Good evening' }).waitFor()
  await expect(app.locator('body')).toHaveAttribute('data-mark', 'kept')

  expectFault(/CORS|ERR_FAILED|WebSocket|frame|Failed to load resource/)
  const { host, port } = new URL(stage.product.base)
  const tried = await app.evaluate(tryProduct, { host, port })
  expect(tried).toEqual({ read: 'refused', socket: 'refused', token: null, cookies: 'app=1' })
  const products = [stage.product.base, `http://localhost:${port}`, 'http://localhost']
  expect((await context.cookies(products)).map(({ name }) => name)).toEqual([])
  await expect.poll(() => app.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/')

  await page.bringToFront()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await bar.getByText('The sandbox has ended; send a message to start it again.').waitFor()
  expect(await violations(page)).toEqual([])
  await app.reload()
  await app.getByText('The sandbox of this task has ended.').waitFor()
  expect(await ada.ask(listPorts, { params: { taskId: task.id } })).toMatchObject({ running: false })
})

/** What a page of an app may try at the product, run in that page. */
async function tryProduct({ host, port }: { readonly host: string; readonly port: string }) {
  document.cookie = 'app=1'
  for (const domain of ['localhost', '.localhost', '127.0.0.1'])
    for (const name of ['flightdeck_link', 'flightdeck_sign_in'])
      document.cookie = `${name}=1; Domain=${domain}`
  const frame = document.createElement('iframe')
  frame.src = `http://${host}/dashboard`
  document.body.append(frame)
  const read = await fetch(`http://${host}/api/notices`, { credentials: 'include' }).then(
    () => 'read',
    () => 'refused',
  )
  const socket = await new Promise((resolve) => {
    const tried = new WebSocket(`ws://localhost:${port}/socket.io/?EIO=4&transport=websocket`)
    tried.addEventListener('open', () => resolve('open'))
    tried.addEventListener('error', () => resolve('refused'))
  })
  return { read, socket, token: localStorage.getItem('authToken'), cookies: document.cookie }
}
