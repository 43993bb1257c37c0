/** The product's services as containers of the product's own image, confined as in production, and the main job with them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { servicesApart, type ServiceApart } from '../product/servicesApart.ts'
import { note } from '../report/notes.ts'
import { eventually } from '../server/engines.ts'
import { noContainers } from '../servers/containers.ts'
import { docker, productImages } from './images.ts'
import { mainJob } from './mainJob.ts'
import { startStack, type ContainerStack } from './stack.ts'

const missing = await noContainers()
const buildMs = 1_800_000

const Inspected = z
  .tuple([
    z.object({
      Config: z.object({ User: z.string(), Env: z.array(z.string()) }),
      State: z.object({
        Health: z.object({ Status: z.string() }).optional(),
        ExitCode: z.number(),
        Status: z.string(),
      }),
    }),
  ])
  .transform(([one]) => one)

describe.skipIf(missing !== undefined)(
  `the services in containers${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let stack: ContainerStack
    beforeAll(async () => {
      stack = await startStack(await productImages())
      note('services in containers: the code host', 'the local code host, not GitHub')
      note('services in containers: the model', 'the built-in scripted model, not Anthropic')
    }, buildMs)
    afterAll(() => stack?.stop(), 120_000)

    const idOf = (service: ServiceApart) => stack.containers.get(service)?.getId() ?? ''
    const inspected = async (service: ServiceApart) =>
      Inspected.parse(JSON.parse(await docker('inspect', idOf(service))))
    const inside = async (service: ServiceApart, ...command: string[]) => {
      const ended = await stack.containers.get(service)?.exec(command)
      return { code: ended?.exitCode, said: ended?.output.trim() }
    }

    test.each(servicesApart)('%s is ready, and well by its own check', async (service) => {
      const ready = await fetch(`${stack.at.get(service)}/readyz`)
      expect(await ready.json()).toMatchObject({ ready: true })
      await eventually(
        'healthy',
        async () => (await inspected(service)).State.Health?.Status === 'healthy',
        40_000,
      )
    })

    test.each(servicesApart)('%s is nobody, and can write to nothing but its own', async (service) => {
      expect(await inside(service, 'id', '-u')).toEqual({ code: 0, said: '1000' })
      for (const path of ['/app/dist/x', '/usr/bin/x', '/etc/x', '/home/node/x'])
        expect((await inside(service, 'touch', path)).said).toMatch(/Read-only file system/)
      expect(await inside(service, 'touch', '/tmp/x')).toMatchObject({ code: 0 })
      const rights = await inside(
        service,
        'grep',
        '-E',
        '^(CapEff|CapBnd|NoNewPrivs|Seccomp):',
        '/proc/1/status',
      )
      const [none, set, filtered] = ['0000000000000000', '1', '2']
      expect(rights.said?.split(/\s+/)).toEqual(
        [
          ['CapEff:', none],
          ['CapBnd:', none],
          ['NoNewPrivs:', set],
          ['Seccomp:', filtered],
        ].flat(),
      )
    })

    test.each(servicesApart)('%s holds no secret in what the engine tells of it', async (service) => {
      const told = await docker('inspect', idOf(service))
      expect(told).not.toContain(stack.masterKey)
      expect((await inspected(service)).Config.Env.join('\n')).not.toMatch(/(mongodb|nats|esdb):\/\//)
    })

    test('the image of the services has no agent and no git, and the one of the runner has both', async () => {
      const parts = [
        '-c',
        'for name in git bwrap rg; do command -v $name; done; ls node_modules/@anthropic-ai',
      ]
      expect((await inside('command', 'sh', ...parts)).code).not.toBe(0)
      const { code, said } = await inside('runner', 'sh', ...parts)
      expect({ code, said }).toEqual({
        code: 0,
        said: expect.stringMatching(/git\n.*bwrap\n.*rg\nclaude-code-/),
      })
    })

    test.each(['command', 'runner'] as const)(
      'the image of %s can read and write pictures',
      async (service) => {
        const program =
          "require('sharp')({ create: { width: 1, height: 1, channels: 3, background: 'white' } }).png().toBuffer()"
        expect(await inside(service, 'node', '-e', program)).toEqual({ code: 0, said: '' })
      },
    )

    // Calls that are refused in another way, or not at all, where there is no filter; by their numbers on x86-64.
    const refused = {
      keyctl: [250, 0, 0, 0, 0, 0],
      perf_event_open: [298, 0, 0, 0, 0, 0],
      io_uring_setup: [425, 0, 0, 0, 0, 0],
      'socket of the hypervisor': [41, 40, 1, 0, 0, 0],
    }
    test.skipIf(process.arch !== 'x64').each(Object.entries(refused))(
      'the filter of the runner refuses %s (known by its number on x86-64)',
      async (_, call) => {
        const script = `$! = 0; syscall(${call.join(', ')}); print $! + 0`
        // EPERM.
        expect(await inside('runner', 'perl', '-e', script)).toEqual({ code: 0, said: '1' })
      },
    )

    mainJob(() => ({
      signIn: () => stack.signIn('ada'),
      watcher: (person) => person,
      pageAt: (url) => url,
    }))

    test('each ends by itself with 0 when it is told to, the last first', async () => {
      for (const service of servicesApart.toReversed()) {
        await docker('stop', '--time', '14', idOf(service))
        const { State } = await inspected(service)
        expect({ service, code: State.ExitCode, status: State.Status }).toEqual({
          service,
          code: 0,
          status: 'exited',
        })
      }
    })
  },
)
