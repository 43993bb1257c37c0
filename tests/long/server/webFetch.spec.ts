/** The agent's own tool for fetching pages: it obeys the project's list of hosts, through the proxy of its sandbox. With the real CLI. */
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getCommands, getTerminal } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { ownFolder } from '../../product.ts'
import { selfSigned } from '../../servers/selfSigned.ts'
import type { Script } from '../../standins/messagesApi.ts'
import { hasEnded, openScene } from '../../server/scene.ts'

let folder = ''
let server: Server
let address = ''
let certificate = ''
beforeAll(async () => {
  folder = await ownFolder()
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const missing = await selfSigned(keyFile, certificateFile)
  if (missing !== undefined) throw new Error(missing)
  certificate = await readFile(certificateFile, 'utf8')
  server = createServer({ key: await readFile(keyFile), cert: certificate }, (_, response) => {
    response.setHeader('content-type', 'text/plain')
    response.end('The engine computes.')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  address = `127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}`
})
afterAll(() => server?.close())

// Holds findings 1.137.
test('agents D3: WebFetch reads a host that the project lists, and is refused any other in a clear sentence', async () => {
  const fetched = (url: string) => ({ tools: [{ name: 'WebFetch', input: { url, prompt: 'What is it?' } }] })
  const scripts: readonly Script[] = [
    {
      when: /^Read the page/,
      turns: [{ tools: [{ name: 'ToolSearch', input: { query: 'select:WebFetch' } }] }],
    },
    // What the search found comes to the model like another message.
    {
      turns: [
        fetched(`https://${address}/page`),
        fetched('https://other.example.com/page'),
        { text: 'Read.' },
      ],
    },
  ]
  const scene = await openScene(scripts, { env: { PRIVATE_EGRESS: '1' } })
  try {
    const { ada, api, projectId } = scene
    await ada.ask(updateProjectSettings, {
      params: { projectId },
      body: {
        egress: [address],
        variables: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/workspace/cert.pem' }],
        setupCommand: `cat > cert.pem <<'END'\n${certificate}END\n`,
      },
    })
    const { id: taskId } = await ada.task(projectId, 'Read the page')
    expect((await ada.taskOnce(taskId, hasEnded)).status).toBe('completed')
    const { logs } = await ada.ask(getCommands, { params: { taskId } })
    const [allowed, refused] = logs.filter(({ name }) => name === 'WebFetch')
    expect(allowed).toMatchObject({ status: 'completed', kind: 'fetch' })
    expect(JSON.stringify(api.requests.map(({ body }) => body))).toContain('The engine computes.')
    expect(refused).toMatchObject({ status: 'failed' })
    const { output } = await ada.ask(getTerminal, { params: { taskId } })
    expect(output.map(({ content }) => content).join('')).toMatch(/other\.example\.com[^\n]*was not reached/)
    expect(refused?.summary).not.toMatch(/claude\.ai|Unable to verify/)
  } finally {
    await scene.close()
  }
})
