/** What docker-compose.yml promises, as Compose itself reads it. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { note } from '../../report/notes.ts'
import { cleanEnvironment } from '../../product/server.ts'
import { compose } from '../../servers/compose.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

const found = await compose()
const missing = 'missing' in found ? found.missing : undefined
if (missing !== undefined && process.env['REQUIRE_CONTAINERS'] === '1')
  throw new Error(`REQUIRE_CONTAINERS=1 and there is ${missing}.`)

const Mount = z.looseObject({ type: z.string(), source: z.string().optional(), target: z.string() })
const Service = z.looseObject({
  image: z.string(),
  build: z.looseObject({ target: z.string() }).optional(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  healthcheck: z.looseObject({ test: z.array(z.string()) }).optional(),
  networks: z.record(z.string(), z.unknown()),
  volumes: z.array(Mount).default([]),
  ports: z.array(z.looseObject({ target: z.number(), host_ip: z.string().optional() })).default([]),
  secrets: z.array(z.looseObject({ source: z.string(), target: z.string() })).default([]),
  configs: z.array(z.looseObject({ source: z.string(), target: z.string() })).default([]),
  depends_on: z.record(z.string(), z.looseObject({ condition: z.string() })).default({}),
  mem_limit: z.string().optional(),
  pids_limit: z.number().optional(),
  container_name: z.string().optional(),
  privileged: z.boolean().default(false),
  network_mode: z.string().optional(),
  pid: z.string().optional(),
  user: z.string().optional(),
})
const ComposeFile = z.object({
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), z.looseObject({ internal: z.boolean().default(false) })),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.looseObject({ file: z.string() })),
  configs: z.record(z.string(), z.looseObject({ file: z.string() })).default({}),
})
type ComposeFile = z.infer<typeof ComposeFile>
type Service = z.infer<typeof Service>

const ours = ['command', 'gateway', 'query', 'runner']
const engines = ['eventstore', 'mongo', 'nats']
const all = [...ours, ...engines]

describe.skipIf(missing !== undefined)(
  `docker-compose.yml${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let folder = ''
    let file: ComposeFile
    let whole: ComposeFile
    const config = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
      if ('missing' in found) throw new Error(found.missing)
      const [program, ...before] = found
      const line = [...before, '--file', join(root, 'docker-compose.yml'), 'config', ...args]
      return run(program, line, { cwd: folder, env: { ...cleanEnvironment(folder), ...env } })
    }
    /** What there is to say of each of these services, by its name. */
    const ofEach = <T>(names: readonly string[], say: (service: Service, name: string) => T) =>
      Object.fromEntries(
        Object.entries(file.services)
          .filter(([name]) => names.includes(name))
          .map(([name, service]) => [name, say(service, name)] as const),
      )
    const forEach = <T>(names: readonly string[], value: T, another: Readonly<Record<string, T>> = {}) => ({
      ...Object.fromEntries(names.map((name) => [name, value] as const)),
      ...another,
    })

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'flightdeck-compose-'))
      const { stdout } = await config({ GITHUB_CLIENT_ID: 'an id' }, '--format', 'json')
      whole = ComposeFile.parse(JSON.parse(stdout))
      file = whole
      if (!('missing' in found)) {
        const [program, ...before] = found
        const version = await run(program, [...before, 'version', '--short'])
        note('docker-compose.yml', `docker compose ${version.stdout.trim()}`)
      }
    })
    afterAll(() => rm(folder, { recursive: true, force: true }))

    test('is valid, and has the four services and the three engines', () => {
      expect(Object.keys(file.services).sort()).toEqual(all.toSorted())
      expect(ofEach(ours, ({ environment }, name) => environment['SERVICES'] === name)).toEqual(
        forEach(ours, true),
      )
    })

    test('needs no GitHub App to start: without one our services are on GitHub, and name no secret of one', async () => {
      file = ComposeFile.parse(JSON.parse((await config({}, '--format', 'json')).stdout))
      const said = ({ environment }: Service) => [
        environment['CODE_HOST'],
        environment['GITHUB_CLIENT_ID'],
        environment['GITHUB_CLIENT_SECRET_FILE'],
      ]
      const bare = ofEach(ours, said)
      file = whole
      expect(bare).toEqual(forEach(ours, ['github', '', '']))
      const named = ['github', 'an id', '/run/secrets/github_client_secret']
      expect(ofEach(ours, said)).toEqual(forEach(ours, named))
    })

    test('holds no service by a name or a port of the machine, so that each can be scaled', () => {
      expect(ofEach(ours, (service) => service.container_name)).toEqual(forEach(ours, undefined))
      expect(file.services['gateway']?.ports).toMatchObject([
        { target: 8080, published: '8080-8089', host_ip: '127.0.0.1' },
      ])
      // A volume with a name would be one for all runners.
      expect(file.services['runner']?.volumes).toMatchObject([{ type: 'volume', target: '/data' }])
      expect(file.services['runner']?.volumes[0]?.source).toBeUndefined()
    })

    test('publishes the gateway and nothing else, and keeps the engines on a network without a way out', () => {
      expect(ofEach(all, (service) => service.ports.length)).toEqual(forEach(all, 0, { gateway: 1 }))
      expect(ofEach(engines, ({ networks }) => Object.keys(networks))).toEqual(forEach(engines, ['engines']))
      expect(file.networks['engines']?.internal).toBe(true)
    })

    test('gives nobody the socket of the engine, a folder of the machine, or more rights than a program needs', () => {
      const rights = ({ volumes, privileged, network_mode, pid, cap_drop, ...service }: Service) => ({
        folders: volumes.filter(({ type }) => type !== 'volume'),
        more: /docker\.sock|cap_add|"devices"/.test(JSON.stringify(service)),
        shared: [network_mode, pid].filter((one) => one !== undefined),
        privileged,
        cap_drop,
        canGain: !service.security_opt.includes('no-new-privileges:true'),
        isBounded: Number(service.mem_limit) > 0 && Number(service.pids_limit) > 0,
      })
      const expected = {
        folders: [],
        more: false,
        shared: [],
        privileged: false,
        cap_drop: ['ALL'],
        canGain: false,
        isBounded: true,
      }
      expect(ofEach(all, rights)).toEqual(forEach(all, expected))
    })

    test('lets our services write to nothing but /tmp, the runner to its data, and whoever seals to the seals', () => {
      expect(ofEach(ours, (service) => service.read_only)).toEqual(forEach(ours, true))
      expect(ofEach(ours, ({ volumes }) => volumes.map(({ target }) => target))).toEqual(
        forEach<string[]>(ours, [], { runner: ['/data'], command: ['/seals'] }),
      )
      const { environment, volumes } = file.services['command'] ?? {}
      expect(environment?.['SEALS_FILE']).toMatch(/^\/seals\//)
      // A volume with a name is one for all command processes, and outlives their containers.
      expect(volumes?.[0]?.source).toBe('seals')
    })

    test('lifts the filter of system calls from nobody, and lets only the runner make sandboxes', () => {
      const lifted = ({ security_opt }: Service) =>
        security_opt.filter((option) => !option.startsWith('no-new-privileges'))
      const runner = ['seccomp:deploy/runner.seccomp.json', 'apparmor:unconfined', 'systempaths=unconfined']
      expect(ofEach(all, lifted)).toEqual(forEach<string[]>(all, [], { runner }))
    })

    test('has no secret in an environment: each is a file, and the variable names it', () => {
      const bare = ({ environment, secrets }: Service) => {
        const targets = ['', ...secrets.map(({ target }) => target)]
        return Object.entries(environment).filter(([variable, value]) => {
          if (/:\/\/[^/]*@/.test(value ?? '')) return true
          // A switch, and no password.
          if (variable === 'PASSWORD_SIGN_IN') return false
          if (!/SECRET|PASSWORD|KEY|TOKEN(?!S)|^(EVENTSTORE|MONGODB|NATS)_URL/.test(variable)) return false
          return !variable.endsWith('_FILE') || !targets.includes(value ?? '')
        })
      }
      expect(ofEach(all, bare)).toEqual(forEach(all, []))
      const needed = ['MASTER_KEY', 'EVENTSTORE_URL', 'MONGODB_URL', 'NATS_URL', 'GITHUB_CLIENT_SECRET']
      const given = ({ environment }: Service) => needed.filter((variable) => environment[`${variable}_FILE`])
      expect(ofEach(ours, given)).toEqual(forEach(ours, needed))
    })

    test("finding low: keeps the password of MongoDB's root in its own container, and makes our services a user of less", async () => {
      const holders = Object.entries(file.services).filter(([, { secrets }]) =>
        secrets.some(({ source }) => source === 'mongodb_root_password'),
      )
      expect(holders.map(([name]) => name)).toEqual(['mongo'])
      const mongo = file.services['mongo']
      expect(mongo?.environment).toMatchObject({
        MONGO_INITDB_ROOT_USERNAME: 'root',
        MONGO_INITDB_ROOT_PASSWORD_FILE: '/run/secrets/mongodb_root_password',
      })
      expect(mongo?.configs).toMatchObject([
        { source: 'mongodb_user', target: '/docker-entrypoint-initdb.d/user.js' },
      ])
      const script = await readFile(file.configs['mongodb_user']?.file ?? '', 'utf8')
      const made: unknown[] = []
      runInNewContext(script, {
        require: () => ({ readFileSync: (path: string) => `what ${path} holds\n` }),
        db: {
          getSiblingDB: (name: string) => ({ createUser: (user: object) => made.push({ name, ...user }) }),
        },
      })
      expect(made).toEqual([
        {
          name: 'admin',
          user: 'flightdeck',
          pwd: 'what /run/secrets/mongodb_password holds',
          roles: [{ role: 'readWrite', db: 'flightdeck' }],
        },
      ])
    })

    test('gives the key of the model to the runner alone, and only where there is one', async () => {
      const variable = 'ANTHROPIC_API_KEY_FILE'
      expect(file.services['runner']?.environment[variable]).toBe('')
      const key = join(folder, 'key')
      await writeFile(key, 'a key')
      const env = { GITHUB_CLIENT_ID: 'an id', ANTHROPIC_API_KEY_PATH: key }
      const { stdout } = await config(env, '--format', 'json')
      const keyed = ComposeFile.parse(JSON.parse(stdout))
      expect(keyed.services['runner']?.environment[variable]).toBe('/run/secrets/anthropic_api_key')
      expect(keyed.secrets['anthropic_api_key']?.file).toBe(key)
      expect(stdout).not.toContain('a key')
      const holders = Object.entries(keyed.services).filter(([, { secrets }]) =>
        secrets.some(({ source }) => source === 'anthropic_api_key'),
      )
      expect(holders.map(([name]) => name)).toEqual(['runner'])
    })

    test('tells each of ours where the model is, since keys are tried there too', async () => {
      const address = 'https://models.example.com'
      const { stdout } = await config({ ANTHROPIC_BASE_URL: address }, '--format', 'json')
      const { services } = ComposeFile.parse(JSON.parse(stdout))
      for (const name of ours) expect(services[name]?.environment['ANTHROPIC_BASE_URL']).toBe(address)
    })

    test('gives the secret of the webhooks to the gateway alone, and only where there is one', async () => {
      const variable = 'GITHUB_WEBHOOK_SECRET_FILE'
      expect(file.services['gateway']?.environment[variable]).toBe('')
      const path = join(folder, 'webhooks')
      await writeFile(path, 'a secret')
      const env = { GITHUB_CLIENT_ID: 'an id', GITHUB_WEBHOOK_SECRET_PATH: path }
      const { services, secrets } = ComposeFile.parse(
        JSON.parse((await config(env, '--format', 'json')).stdout),
      )
      expect(services['gateway']?.environment[variable]).toBe('/run/secrets/github_webhook_secret')
      expect(secrets['github_webhook_secret']?.file).toBe(path)
      const holders = Object.entries(services).filter(([, { secrets: given }]) =>
        given.some(({ source }) => source === 'github_webhook_secret'),
      )
      expect(holders.map(([name]) => name)).toEqual(['gateway'])
    })

    test('asks each how it is, and starts our services when their engines are well', () => {
      const isAsked = ({ healthcheck }: Service) => healthcheck !== undefined && healthcheck.test.length > 1
      expect(ofEach(all, isAsked)).toEqual(forEach(all, true))
      const awaited = ({ depends_on }: Service) =>
        Object.entries(depends_on)
          .map(([name, { condition }]) => `${name} ${condition}`)
          .sort()
      const well = (names: readonly string[]) => names.map((name) => `${name} service_healthy`).sort()
      const gateway = well([...engines, 'command', 'query'])
      expect(ofEach(ours, awaited)).toEqual(forEach(ours, well(engines), { gateway }))
    })

    test('builds our services from the one Dockerfile, and leaves them the user that it names', () => {
      const built = ({ build, user }: Service) => ({ target: build?.target, user })
      const service = { target: 'service', user: undefined }
      const runner = { target: 'runner', user: undefined }
      expect(ofEach(ours, built)).toEqual(forEach(ours, service, { runner }))
    })
  },
)
