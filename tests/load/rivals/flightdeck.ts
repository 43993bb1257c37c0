/** Flightdeck itself, with its built-in code host and the real `claude` program. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { freePorts } from '../../product.ts'
import { onboard, personWith, signIn } from '../../product/person.ts'
import { environment, root } from '../project.ts'
import { send, type Contender } from './contender.ts'

export const flightdeck: Contender = {
  name: 'Flightdeck',
  async prepare(scene, modelUrl) {
    const home = join(scene.folder, 'flightdeck')
    await mkdir(home)
    const ports = await freePorts()
    const base = `http://127.0.0.1:${ports.product}`
    return {
      command: [process.execPath, join(root, 'dist/server/main.js')],
      ready: /^Flightdeck is ready/,
      home,
      cwd: root,
      env: environment(home, {
        PORT: String(ports.product),
        CODEHOST_PORT: String(ports.codeHost),
        DATA_DIR: join(home, 'data'),
        ANTHROPIC_API_KEY: 'sk-ant-bench',
        ANTHROPIC_BASE_URL: modelUrl,
      }),
      base,
      async signIn() {
        const { token } = await signIn(base, 'ada')
        const ada = personWith(base, token)
        await onboard(ada, 'Ada')
        await ada.project('sample')
        return {
          before: `localStorage.setItem('authToken', ${JSON.stringify(token)})`,
          newRun: async () => `${base}/dashboard`,
          begin: beginTask,
          followUp: (page, message) => send(page, 'textarea[aria-label="Message"]', message, 'Enter'),
        }
      },
    }
  },
}

/** Starts a task from the dashboard, and opens it by the link that appears. */
async function beginTask(page: Page, message: string): Promise<number> {
  const tasks = () => page.locator('a[href^="/tasks/"]')
  const known = await tasks().evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  const pressedAt = await send(page, 'textarea[aria-label="Task description"]', message, 'Control+Enter')
  const others = known.map((href) => `:not([href="${href}"])`).join('')
  await page.locator(`a[href^="/tasks/"]${others}`).first().click()
  return pressedAt
}
