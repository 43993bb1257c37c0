/** A Vite app that the agent serves in its sandbox is opened from the page of the task, and shows a change at once. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { listPorts } from '#domain/api/preview.schema.ts'
import { violations } from '../../e2e/axe.ts'
import { expect } from '../../e2e/expect.ts'
import { overflowAt } from '../../e2e/overflow.ts'
import { openStage } from '../../e2e/stage.ts'
import { visiting } from '../../e2e/visiting.ts'
import { root } from '../../load/project.ts'
import { createGate } from '../../standins/messagesApi.ts'

/** Vite and what it needs, packed, since no registry can be reached from the sandbox. */
function packedVite(): string {
  const names = 'vite rolldown @rolldown @oxc-project lightningcss lightningcss-linux-x64-gnu detect-libc'
  const more = 'postcss nanoid picocolors source-map-js picomatch tinyglobby fdir'
  const args = ['-czf', '-', '-C', join(root, 'node_modules/.'), ...`${names} ${more}`.split(' ')]
  return execFileSync('tar', args, { maxBuffer: 200_000_000 }).toString('base64')
}

const main = `
import { greeting } from './greeting.js'
const show = (words) => { document.querySelector('h1').textContent = words }
show(greeting)
import.meta.hot.accept('./greeting.js', (changed) => show(changed.greeting))
`
const serve = [
  'mkdir node_modules',
  'base64 -d vite.b64 | tar xz -C node_modules',
  '(setsid node node_modules/vite/bin/vite.js --port 5173 </dev/null >/tmp/vite.log 2>&1 &)',
].join(' && ')
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
const [edits, ends] = [createGate(), createGate()]

const stage = await openStage({
  repositories: {
    greeter: {
      'package.json': '{"type":"module"}',
      '.gitignore': 'node_modules\n',
      'vite.b64': packedVite(),
      'index.html':
        '<!doctype html><title>Greeter</title><h1></h1><script type="module" src="/main.js"></script>',
      'main.js': main,
      'greeting.js': "export const greeting = 'Good morning'\n",
    },
  },
  scripts: [
    {
      when: /Serve it/,
      turns: [
        { tools: [bash(serve)] },
        {
          text: 'It is served now.',
          hold: { afterWords: 2, gate: edits },
          tools: [bash("sed -i 's/Good morning/Good evening/' greeting.js")],
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

  const opening = context.waitForEvent('page')
  await open.focus()
  await page.keyboard.press('Enter')
  const app = await opening
  const heading = app.getByRole('heading', { name: 'Good morning' })
  await heading.waitFor()
  const own = new URL(app.url())
  expect(app.url()).toBe(`http://${task.id}-5173.localhost:${new URL(stage.product.base).port}/`)
  expect(await app.evaluate(() => [window.opener, document.referrer])).toEqual([null, ''])
  const [cookie] = await context.cookies(app.url())
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', domain: own.hostname })

  // A reload would lose this mark.
  await app.evaluate(() => document.body.setAttribute('data-mark', 'kept'))
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
