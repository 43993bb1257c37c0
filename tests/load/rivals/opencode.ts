/** opencode, an agent of its own with a web page. */
import { join } from 'node:path'
import { z } from 'zod'
import { freePortsFor } from '../../freePorts.ts'
import { environment } from '../project.ts'
import { makeSampleRepository } from '../repository.ts'
import { send, type Contender } from './contender.ts'
import { fileOf } from './installed.ts'

const Session = z.object({ id: z.string() })
const model = 'claude-sonnet-5'

export const opencode: Contender = {
  name: 'opencode',
  async prepare(scene, modelUrl) {
    const program = await fileOf('opencode-ai', 'bin/opencode.exe')
    const home = join(scene.folder, 'opencode')
    const repository = join(home, 'sample')
    await makeSampleRepository(scene, repository)
    const [port = 0] = await freePortsFor(1)
    const base = `http://127.0.0.1:${port}`
    const settings = {
      model: `anthropic/${model}`,
      enabled_providers: ['anthropic'],
      provider: {
        anthropic: {
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'sk-ant-bench' },
          models: { [model]: {} },
        },
      },
      share: 'disabled',
      autoupdate: false,
    }
    return {
      command: [program, 'serve', '--port', String(port), '--hostname', '127.0.0.1'],
      ready: /server listening/,
      home,
      cwd: repository,
      env: environment(home, {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(settings),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
      }),
      base,
      async signIn() {
        return {
          before: '',
          async newRun() {
            const at = `${base}/session?directory=${encodeURIComponent(repository)}`
            const headers = { 'content-type': 'application/json' }
            const signal = AbortSignal.timeout(30_000)
            const made = await fetch(at, { method: 'POST', headers, body: '{}', signal })
            const { id } = Session.parse(await made.json())
            return `${base}/server/${Buffer.from(base).toString('base64url')}/session/${id}`
          },
          begin: (page, message) => send(page, '[data-component="prompt-input"]', message, 'Enter'),
          followUp: (page, message) => send(page, '[data-component="prompt-input"]', message, 'Enter'),
        }
      },
    }
  },
}
