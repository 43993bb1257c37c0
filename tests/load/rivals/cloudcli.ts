/** cloudcli, a web page for the `claude` program. */
import { join } from 'node:path'
import { z } from 'zod'
import { freePortsFor } from '../../freePorts.ts'
import { claudeHere } from '../floors/bareClaude.ts'
import { environment } from '../project.ts'
import { makeSampleRepository } from '../repository.ts'
import { send, type Contender } from './contender.ts'
import { fileOf } from './installed.ts'

const Registered = z.object({ token: z.string() })
const Session = z.object({ data: z.object({ sessionId: z.string() }) })

export const cloudcli: Contender = {
  name: 'cloudcli',
  async prepare(scene, modelUrl) {
    const server = await fileOf('@cloudcli-ai/cloudcli', 'dist-server/server/index.js')
    const home = join(scene.folder, 'cloudcli')
    const repository = join(home, 'sample')
    await makeSampleRepository(scene, repository)
    const [port = 0] = await freePortsFor(1)
    const base = `http://127.0.0.1:${port}`
    return {
      command: [process.execPath, server],
      ready: /Server - Ready/,
      home,
      cwd: home,
      env: environment(home, {
        SERVER_PORT: String(port),
        HOST: '127.0.0.1',
        DATABASE_PATH: join(home, 'auth.db'),
        CLAUDE_CLI_PATH: await claudeHere(),
        ANTHROPIC_API_KEY: 'sk-ant-bench',
        ANTHROPIC_BASE_URL: modelUrl,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // As root, claude skips permissions only with this variable.
        IS_SANDBOX: '1',
      }),
      base,
      async signIn() {
        const ask = asking(base)
        const { token } = Registered.parse(
          await ask('/api/auth/register', { username: 'ada-bench', password: 'a long password' }),
        )
        await ask('/api/user/complete-onboarding', {}, token)
        await ask('/api/projects/create-project', { path: repository }, token)
        const begin = { provider: 'claude', projectPath: repository, initialMessage: 'Bench' }
        return {
          before: `localStorage.setItem('auth-token', ${JSON.stringify(token)})`,
          async newRun() {
            const { data } = Session.parse(await ask('/api/providers/sessions', begin, token))
            return `${base}/session/${data.sessionId}`
          },
          begin: (page, message) => send(page, 'textarea', message, 'Enter'),
          followUp: (page, message) => send(page, 'textarea', message, 'Enter'),
        }
      },
    }
  },
}

const asking =
  (base: string) =>
  async (path: string, body: object, token = ''): Promise<unknown> => {
    const response = await fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
