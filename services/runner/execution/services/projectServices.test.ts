import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ProjectService } from '#domain/project/settings.ts'
import { CannotStart } from '#platform/childProcess.ts'
import { makeScene, testGit, testPath, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { redactionOf } from '../../redaction/redaction.ts'
import { noSandbox } from '../../sandbox/none.ts'
import type { SandboxedProcess } from '../../sandbox/port.ts'
import { projectServices, toldOfServices, whyNoServices } from './projectServices.ts'

const limits = { memoryBytes: 2 * 1024 ** 3, processes: 256, fileSizeBytes: 1024 ** 3, wallMs: 60_000 }
const unused = async (): Promise<never> => {
  throw new Error('So short a text needs no thread.')
}
const redaction = redactionOf([], { run: unused, close: unused })
const service = (name: string, command: string, readyPort: number | null = null): ProjectService => ({
  name,
  command,
  readyPort,
})

describe('the services of a project', () => {
  let scene: Scene
  let agent: SandboxedProcess
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    agent = noSandbox({ path: testPath, git: testGit }).run({
      command: ['sleep', '60'],
      env: {},
      workspace: { ...(await scene.prepare()), owner: undefined },
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits,
    })
  })
  afterAll(async () => {
    agent.kill()
    await agent.exited
    await scene.remove()
  })

  function servicesOf(
    services: readonly ProjectService[],
    given: Partial<SandboxedProcess> & { readonly refusal?: string; readonly relayPort?: number } = {},
  ) {
    const said: string[] = []
    const stopping = new AbortController()
    const write = async (text: string | Uint8Array) => void said.push(text.toString())
    const output = {
      stdout: { write, end: async () => undefined },
      stderr: { write, end: async () => undefined },
      note: write,
      keepLast: () => async () => '',
      end: async () => undefined,
    }
    const { beginTurn, endTurn } = projectServices({
      services,
      sandbox: { exec: given.exec ?? agent.exec, listening: given.listening ?? agent.listening },
      env: {},
      refusal: given.refusal,
      relayPort: given.relayPort,
    })
    return {
      said,
      stopping,
      begin: (readyMs = 60_000) => beginTurn({ output, redaction, signal: stopping.signal, readyMs }),
      endTurn,
    }
  }

  // Attacks services: a service never becomes ready.
  test('one that never listens holds the turn up once, and no turn after that', async () => {
    const { said, begin, endTurn } = servicesOf([service('web', 'echo waiting for nothing; sleep 50', 5_997)])
    // What the service prints comes by itself, at any time.
    const told = () => said.findLast((text) => text.startsWith('The service'))
    await begin(1_000)
    expect(told()).toMatch(
      /^The service web is not ready: nothing listens on port 5997 after 1 second\. The turn goes on without it\./,
    )
    await endTurn()
    said.length = 0
    await begin(3_600_000)
    expect(told()).toBe('The service web is still not ready: nothing listens on port 5997.\n')
  })

  test('one that ended is started again in the next turn, and not sooner', async () => {
    const { said, begin, endTurn } = servicesOf([service('job', 'echo done; exit 4', 5_996)])
    await begin()
    expect(said.at(-1)).toBe(
      'The service job is not ready: it ended with exit code 4. It is started again in the next turn. It printed last:\n    done\n',
    )
    await endTurn()
    expect(said.join('').split('[job] done')).toHaveLength(2)
    await begin()
    expect(said.join('')).toContain('The service job ended with exit code 4 and is started again.\n')
    expect(said.join('').split('[job] done')).toHaveLength(3)
  })

  // Attacks services: a service takes the port of the relay while the relay starts.
  test('none is started before the relay listens', async () => {
    let looked = 0
    const relay = { port: 31_280, process: 'node' }
    const listening = async () => ((looked += 1), looked < 3 ? [] : [relay])
    const startedAt: number[] = []
    const exec: SandboxedProcess['exec'] = (spec) => (startedAt.push(looked), agent.exec(spec))
    const { begin, endTurn } = servicesOf([service('job', 'exit 4')], {
      exec,
      listening,
      relayPort: relay.port,
    })
    await begin()
    await endTurn()
    expect(startedAt).toEqual([3])
  })

  test('a turn that is stopped waits for none of them', async () => {
    const { begin, stopping, said } = servicesOf([service('web', 'sleep 50', 5_995)])
    stopping.abort()
    await begin(3_600_000)
    expect(said.join('')).toBe('')
  })

  test('one that cannot be started is named, and why there can be none is told once', async () => {
    const exec = async () => {
      throw new CannotStart('bash', new Error('there are already 64 others in this sandbox'))
    }
    const full = servicesOf([service('web', 'true')], { exec })
    await full.begin()
    expect(full.said.join('')).toMatch(/^The service web could not be started: .*64 others/)

    const refusal = whyNoServices({ kind: 'container' }) ?? ''
    const refused = servicesOf([service('web', 'true')], { refusal })
    await refused.begin()
    await refused.endTurn()
    await refused.begin()
    expect(refused.said).toEqual([`${refusal}\n`])
  })

  test('the agent is told of them only where they can run', () => {
    const services = [service('web', 'true', 5_173), service('worker', 'true')]
    expect(toldOfServices(services, { kind: 'bubblewrap' })).toBe(
      'These services of the project are started beside you in this sandbox and keep running between your turns: web (port 5173 on localhost), worker.',
    )
    expect(toldOfServices([], { kind: 'bubblewrap' })).toBe('')
    expect(toldOfServices(services, { kind: 'container' })).toBe('')
    expect(whyNoServices({ kind: 'bubblewrap' })).toBeUndefined()
  })
})
