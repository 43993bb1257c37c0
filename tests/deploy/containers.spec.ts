/** What the Dockerfile and docker-compose.yml say, read without a container engine. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const textOf = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8')

test('the images have the packages with which sharp decodes pictures, which are optional', () => {
  const Lock = z.object({
    packages: z.record(z.string(), z.looseObject({ optional: z.boolean().optional() })),
  })
  const { packages } = Lock.parse(JSON.parse(textOf('package-lock.json')))
  expect(packages['node_modules/@img/sharp-linux-x64']?.optional).toBe(true)
  expect(textOf('Dockerfile')).not.toMatch(/npm ci.*(--omit[= ]optional|--no-optional)/)
})

const Compose = z.looseObject({
  services: z.record(
    z.string(),
    z.looseObject({
      environment: z.record(z.string(), z.unknown()).default({}),
      build: z.looseObject({ args: z.record(z.string(), z.string()) }).optional(),
      stop_grace_period: z.string().optional(),
      healthcheck: z.looseObject({ test: z.array(z.string()) }),
      depends_on: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
})
const { services } = Compose.parse(parseYaml(textOf('docker-compose.yml')))

test('the command service, which tries keys, and the runner reach models at the same addresses', () => {
  const addresses = (service: string) =>
    Object.entries(services[service]?.environment ?? {}).filter(([name]) => name.endsWith('_BASE_URL'))
  expect(addresses('runner')).not.toEqual([])
  expect(addresses('command')).toEqual(addresses('runner'))
})

test('the gateway starts while read models are rebuilt: what it waits for need only be alive', () => {
  const checkOf = (name: string) => services[name]?.healthcheck.test.join(' ')
  const ours = Object.keys(services['gateway']?.depends_on ?? {}).filter((name) =>
    ['command', 'query'].includes(name),
  )
  expect(ours.toSorted()).toEqual(['command', 'query'])
  for (const name of ours) expect(checkOf(name)).toContain('/healthz')
  expect(checkOf('gateway')).toContain('/readyz')
})

test('a runner is given the time that its runs may take to end, and a moment more', () => {
  const { environment, stop_grace_period } = services['runner'] ?? {}
  expect(environment?.['DRAIN_SECONDS']).toMatch(/^\$\{DRAIN_SECONDS:-\}$/)
  // A duration may have several parts, which Compose adds up.
  expect(stop_grace_period).toMatch(/^\$\{DRAIN_SECONDS:-0\}s15s$/)
})

test('what an operator can choose in the Dockerfile, Compose builds with', () => {
  const choices = [...textOf('Dockerfile').matchAll(/^ARG (\w+)=/gm)].map(([, name = '']) => name)
  expect(Object.keys(services['runner']?.build?.args ?? {}).toSorted()).toEqual(choices.toSorted())
})

test('without openssl no secret is made, rather than an empty one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const tool of ['cat', 'chmod', 'dirname', 'mkdir', 'mv']) {
    const path = execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim()
    symlinkSync(path, join(folder, tool))
  }
  const script = join(import.meta.dirname, '../../scripts/containersSecrets.sh')
  const made = join(folder, 'secrets')
  const { status, stderr } = spawnSync('/bin/sh', [script, made], { env: { PATH: folder }, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('openssl') })
  expect(existsSync(made)).toBe(false)
})
