/** A repository with an app that Vite serves, and its page as a person opens it from the task. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright'
import { root } from '../load/project.ts'

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

/** The files of the repository. Its page has the greeting as its heading, and shows another one without a reload. */
export const viteApp = (): Readonly<Record<string, string>> => ({
  'package.json': '{"type":"module"}',
  '.gitignore': 'node_modules\n',
  'vite.b64': packedVite(),
  'index.html':
    '<!doctype html><title>Greeter</title><h1></h1><script type="module" src="/main.js"></script>',
  'main.js': main,
  'greeting.js': "export const greeting = 'Good morning'\n",
})
export const port = 5173
export const installs = 'mkdir node_modules && base64 -d vite.b64 | tar xz -C node_modules'
export const serves = `node node_modules/vite/bin/vite.js --port ${port}`
export const changesGreeting = "sed -i 's/Good morning/Good evening/' greeting.js"

/** Opens the app from the page of its task, with the keyboard. */
export async function openApp(page: Page, context: BrowserContext): Promise<Page> {
  const open = page.locator(`button[aria-describedby="port-${port}"]`)
  await open.waitFor()
  const opening = context.waitForEvent('page')
  await open.focus()
  await page.keyboard.press('Enter')
  const app = await opening
  await app.getByRole('heading', { name: 'Good morning' }).waitFor()
  // A reload would lose this mark.
  await app.evaluate(() => document.body.setAttribute('data-mark', 'kept'))
  return app
}
