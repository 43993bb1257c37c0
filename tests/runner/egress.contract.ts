/**
 * The contract of the way out of a real sandbox: programs reach what is allowed and nothing else, and the process that carries their connections ends
 * with the sandbox.
 */
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openScratch, type Scratch } from '../../services/runner/scratch.ts'
import { noSandbox } from '../../services/runner/sandbox/none.ts'
import { processesOf } from './sandboxStage.ts'
import type { TestSandbox } from './testSandbox.ts'
import type { Sandbox } from '../../services/runner/sandbox/port.ts'
import { startGitServer, type TestGitServer } from './gitServer.ts'
import { makeScene, testGit, testPath, type Scene } from './workspaceScene.ts'
import type { Workspace } from '../../services/runner/workspace/workspace.ts'
import { ruleOf, ruleOfUrl, type Rule } from '#platform/http/egressRules.ts'
import type { Refusal } from '../../services/runner/egress/proxyServer.ts'
import { modelPort, type Begins } from '../../services/runner/egress/relay.ts'
import { openSandboxEgress } from '../../services/runner/egress/sandboxEgress.ts'

const limits = { memoryBytes: 2 * 1024 ** 3, processes: 256, fileSizeBytes: 1024 ** 3, wallMs: 30_000 }

/** Registers all tests for a sandbox of one kind. */
export function describeEgress({ sandbox: sandboxed, note }: TestSandbox): void {
  let scene: Scene
  let workspace: Workspace
  let git: TestGitServer
  let scratch: Scratch
  const web = createServer((asked, response) => response.end(`${asked.headers.host}${asked.url}`))
  let webPort = 0
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    workspace = await scene.prepare()
    scratch = await openScratch(randomUUID())
    git = await startGitServer(scene.root)
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    const address = web.address()
    webPort = typeof address === 'object' && address !== null ? address.port : 0
  })
  afterAll(async () => {
    web.closeAllConnections()
    web.close()
    await git.stop()
    await scene.remove()
  })

  let refusals: Refusal[] = []
  afterEach(() => {
    refusals = []
  })

  /** Runs a script in a sandbox with a way out; every host name resolves to this machine. */
  async function shell(
    sandbox: Sandbox | undefined,
    rules: readonly Rule[],
    script: string,
    begins: Begins = 'reachable',
    input = '\nand more\n',
    env: Readonly<Record<string, string>> = {},
    model = '',
  ) {
    if (!sandbox) throw new Error('there is no sandbox')
    const way = await openSandboxEgress({
      sandbox,
      owner: workspace.owner,
      rules,
      node: process.execPath,
      scratch,
      lookup: async () => ['127.0.0.1'],
      onRefusal: (refusal) => refusals.push(refusal),
    })
    try {
      const child = sandbox.run({
        command: way.command(['/bin/bash', '--norc', '-c', script], begins, model),
        env: { ...way.env, ...env, GIT_TERMINAL_PROMPT: '0' },
        workspace,
        readOnly: way.readOnly,
        sockets: way.sockets,
        stdin: begins === 'on_first_line' ? 'pipe' : 'ignore',
        limits,
      })
      child.stdin?.end(input)
      const [stdout, stderr, exit] = await Promise.all([text(child.stdout), text(child.stderr), child.exited])
      return { stdout, stderr, code: exit.code }
    } finally {
      await way.close()
    }
  }

  /** A rule for a host name, on the port of this test's server. */
  const webRule = (host: string): Rule => ({ ...ruleOf(host, { mayBeInside: true }), port: webPort })
  const curl = 'curl -sS --max-time 10'

  describe.skipIf(!sandboxed)(`a sandbox with a way out${note}`, () => {
    test('reaches an allowed host, plainly and through a tunnel', async () => {
      const address = `http://allowed.example:${webPort}`
      const ran = await shell(
        sandboxed,
        [webRule('allowed.example')],
        `${curl} ${address}/plain; echo; ${curl} --proxytunnel ${address}/tunnel`,
      )
      expect(ran).toEqual({
        stdout: `allowed.example:${webPort}/plain\nallowed.example:${webPort}/tunnel`,
        stderr: '',
        code: 0,
      })
      expect(refusals).toEqual([])
    })

    test('does not reach another, and is told why', async () => {
      const ran = await shell(
        sandboxed,
        [webRule('allowed.example')],
        `${curl} http://other.example:${webPort}/; ${curl} -p http://169.254.169.254/latest/ || echo "exit $?"`,
      )
      expect(ran.stdout).toContain(`other.example:${webPort} is not reached.`)
      expect(ran.stdout).toContain('exit 56')
      expect(refusals).toEqual([
        { destination: `other.example:${webPort}`, why: 'not_allowed' },
        { destination: '169.254.169.254:80', why: 'not_allowed' },
      ])
    })

    test('finding 1: what carries it has no variable of a project', async () => {
      const look = `look() { for pid in /proc/[0-9]*; do case $(tr '\\0' ' ' < $pid/cmdline) in */opt/flightdeck/node\\ -e*) cat $pid/environ; echo found;; esac; done; }`
      for (const begins of ['reachable', 'on_first_line'] as const) {
        const ran = await shell(
          sandboxed,
          [],
          `${look}; until look | grep -q found; do sleep 0.05; done; look`,
          begins,
          '\n',
          { NODE_DEBUG: 'net' },
        )
        expect(ran.stdout).toBe('found\n')
      }
    })

    test('has no other way: past the proxy there is nothing', async () => {
      const ran = await shell(
        sandboxed,
        [webRule('allowed.example')],
        `${curl} --noproxy '*' http://127.0.0.1:${webPort}/; ${curl} --noproxy '*' http://1.1.1.1/; echo done`,
      )
      expect(ran.stdout).toBe('done\n')
    })

    test('has the code host on the port of its own loopback where it is on this machine', async () => {
      const ran = await shell(
        sandboxed,
        [ruleOfUrl(git.url)],
        `git clone -q ${git.url}/remote.git /tmp/clone && cat /tmp/clone/README.md; git clone -q ${git.url.replace('127.0.0.1', 'localhost')}/remote.git /tmp/again && ls /tmp/again`,
      )
      expect(ran).toEqual({ stdout: '# Sample\nREADME.md\n', stderr: '', code: 0 })
    })

    test('keeps the code and the signals of its command, and leaves nothing behind', async () => {
      const ran = await shell(sandboxed, [], 'ps -A -o args=; exit 7')
      expect(ran.code).toBe(7)
      expect(ran.stdout).toContain('/opt/flightdeck/node ')
      expect(await processesOf(workspace)).toEqual([])
    })

    test('is not waited for by who cannot wait, and hears what comes after the word to begin', async () => {
      const ran = await shell(
        sandboxed,
        [webRule('allowed.example')],
        `cat; until ${curl} http://allowed.example:${webPort}/ 2>/dev/null; do sleep 0.05; done`,
        'on_first_line',
      )
      expect(ran).toMatchObject({ stdout: `and more\nallowed.example:${webPort}/`, code: 0 })
    })

    test('is there from the first moment for who reaches its model by it', async () => {
      const connected = `exec 3<>/dev/tcp/127.0.0.1/${modelPort} && echo connected`
      const ran = await shell(sandboxed, [], connected, 'on_first_line', '\n', {}, '/tmp/broker.sock')
      expect(ran).toEqual({ stdout: 'connected\n', stderr: '', code: 0 })
    })

    test('of which nothing begins, and nothing is left, when nobody gives the word', async () => {
      const ran = await shell(sandboxed, [], 'echo begun', 'on_first_line', '')
      expect(ran).toEqual({ stdout: '', stderr: '', code: 1 })
      expect(await processesOf(workspace)).toEqual([])
    })

    test('runs nothing that an agent planted in its home', async () => {
      const planted = join(workspace.homeDir, '.bashrc')
      await writeFile(planted, 'echo planted\n', { mode: 0o755 })
      onTestFinished(() => rm(planted))
      for (const begins of ['on_first_line', 'reachable'] as const)
        expect(await shell(sandboxed, [], 'echo begun', begins)).toEqual({
          stdout: 'begun\n',
          stderr: '',
          code: 0,
        })
    })

    test('lives on when its command is interrupted and goes on', async () => {
      const ran = await shell(
        sandboxed,
        [webRule('allowed.example')],
        `trap : INT; kill -INT 0; ${curl} http://allowed.example:${webPort}/`,
      )
      expect(ran).toMatchObject({ stdout: `allowed.example:${webPort}/`, code: 0 })
    })
  })

  test('without a sandbox the proxy is on the loopback of this machine', async () => {
    const ran = await shell(
      noSandbox({ path: testPath, git: testGit }),
      [webRule('allowed.example')],
      `${curl} http://allowed.example:${webPort}/; ${curl} http://other.example/`,
    )
    expect(ran.stdout).toContain(`allowed.example:${webPort}/`)
    expect(refusals).toEqual([{ destination: 'other.example', why: 'not_allowed' }])
  })
}
