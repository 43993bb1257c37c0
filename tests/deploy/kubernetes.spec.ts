/** The manifests of `deploy/kubernetes`: valid by Kubernetes' own description, and in step with the code that they start. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agentVariables } from '#platform/config/agents.ts'
import { readConfig, type Config } from '#platform/config/config.ts'
import { inFiles, namedServices, variables } from '#platform/config/variables.ts'
import { health } from '#platform/http/health.ts'
import { listen } from '#platform/http/listen.ts'
import { openMetrics } from '#platform/telemetry/metrics.ts'
import { kubernetesFaults } from './kubernetesSchemas.ts'
import {
  connections,
  isClosedByDefault,
  manifests,
  ofKind,
  oneOf,
  selects,
  variablesOf,
  workloads,
  type Workload,
} from './manifests.ts'

const services = ['command', 'gateway', 'query', 'runner']
const byName = new Map(workloads.map((workload) => [workload.metadata.name, workload]))
const containerOf = ({ spec }: Workload) => spec.template.spec.containers[0]

/** What stands in the files of the two Secrets. */
const secrets: Readonly<Record<string, string>> = {
  master_key: Buffer.alloc(32, 1).toString('base64'),
  eventstore_url: 'esdb://eventstore:2113?tls=false',
  mongodb_url: 'mongodb://mongo:27017/flightdeck',
  nats_url: 'nats://nats:4222',
  anthropic_api_key: 'sk-ant-a-key',
}

let folder = ''
const configs = new Map<string, Config>()
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flightdeck-kubernetes-'))
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, name), value)
  for (const [name, workload] of byName) {
    const env = Object.entries(variablesOf(workload)).map(([variable, value]) => {
      const secret = secretIn(value)
      return [variable, secret === undefined ? value : join(folder, secret)] as const
    })
    // The image says where to listen.
    configs.set(name, readConfig({ HOST: '0.0.0.0', PORT: '8080', ...Object.fromEntries(env) }))
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const secretIn = (path: string) => /^\/(?:secrets|model)\/([a-z_]+)$/.exec(path)?.[1]
function configOf(name: string): Config {
  const config = configs.get(name)
  if (config === undefined) throw new Error(`There is no ${name}.`)
  return config
}

describe('the schemas of Kubernetes', () => {
  const faultsOf = kubernetesFaults()

  test.each(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    'accept %s',
    (_, manifest) => expect(faultsOf(manifest)).toEqual([]),
  )

  test('refuse what the cluster would refuse', () => {
    const policy = oneOf('NetworkPolicy', 'nobody')
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' }
    expect(faultsOf({ ...policy, spek: {} })).toEqual([expect.stringContaining('"spek"')])
    expect(faultsOf({ ...budget, spec: { minAvailable: true } })).not.toEqual([])
    const bare = { apiVersion: 'apps/v1', kind: 'Deployment', spec: {} }
    expect(faultsOf(bare).join()).toMatch(/selector.*template/)
    expect(faultsOf({ apiVersion: 'extensions/v1beta1', kind: 'Ingress' })).toHaveLength(1)
  })
})

describe('the manifests', () => {
  test('are all in one namespace, with a workload, a Service and a budget for disruptions of each service', () => {
    const elsewhere = manifests.filter(
      ({ kind, metadata }) => metadata.namespace !== (kind === 'Namespace' ? undefined : 'flightdeck'),
    )
    expect(elsewhere).toEqual([])
    expect([...byName.keys()].toSorted()).toEqual(services)
    for (const kind of ['Service', 'PodDisruptionBudget'])
      expect(
        ofKind(kind)
          .map(({ metadata }) => metadata.name)
          .toSorted(),
      ).toEqual(services)
  })

  test('select the pods that they mean', () => {
    const Selecting = z.looseObject({ spec: z.looseObject({ selector: z.record(z.string(), z.string()) }) })
    const Budget = z.looseObject({
      spec: z.looseObject({ selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }),
    })
    for (const [name, { spec }] of byName) {
      const { labels } = spec.template.metadata
      const chosen = [
        spec.selector.matchLabels,
        Selecting.parse(oneOf('Service', name)).spec.selector,
        Budget.parse(oneOf('PodDisruptionBudget', name)).spec.selector.matchLabels,
      ]
      for (const matchLabels of chosen)
        expect(selects({ matchLabels, matchExpressions: [] }, labels)).toBe(true)
      expect(new Set(chosen.map((labels) => labels['app.kubernetes.io/component']))).toEqual(new Set([name]))
    }
  })

  test('name only variables that the product reads', () => {
    const known = new Set([
      ...Object.keys(variables),
      ...Object.keys(agentVariables),
      ...inFiles.map((name) => `${name}_FILE`),
    ])
    const unknown = workloads.flatMap((workload) =>
      Object.keys(variablesOf(workload)).filter((name) => !known.has(name)),
    )
    expect(unknown).toEqual([])
  })

  test('are taken by the configuration, each as the service of its name', () => {
    for (const name of services) expect(namedServices(configOf(name).services)).toEqual([name])
    expect(configOf('runner').agents.claude.apiKey).toBe(secrets['anthropic_api_key'])
  })

  test('have no secret in a variable, and mount the folder of each file', () => {
    expect(ofKind('Secret')).toEqual([])
    for (const workload of workloads) {
      const mounts = containerOf(workload).volumeMounts
      const { volumes } = workload.spec.template.spec
      for (const [name, value] of Object.entries(variablesOf(workload))) {
        expect(inFiles).not.toContain(name)
        if (!name.endsWith('_FILE') || name === 'SEALS_FILE') continue
        const mount = mounts.find(({ mountPath }) => mountPath === dirname(value))
        expect(volumes.find((volume) => volume.name === mount?.name)?.secret).toBeDefined()
      }
    }
  })

  test('give a disk to what is written, and only the runner the key of the model', () => {
    const pathsOf = (name: string) => {
      const workload = byName.get(name)
      return workload === undefined
        ? []
        : containerOf(workload).volumeMounts.map(({ mountPath }) => mountPath)
    }
    // The root of a disk belongs to root, so a runner could not close it to others.
    expect(pathsOf('runner')).toContain(dirname(configOf('runner').dataDir))
    expect(pathsOf('command')).toContain(dirname(configOf('command').seals.file))
    expect(services.filter((name) => pathsOf(name).includes('/model'))).toEqual(['runner'])
    expect(services.filter((name) => !pathsOf(name).includes('/tmp'))).toEqual([])
    const claims = byName.get('runner')?.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name)
    expect(claims).toEqual(['data'])
  })

  test('ask each process how it is where it answers', async () => {
    for (const workload of workloads) {
      const { ports, startupProbe, livenessProbe, readinessProbe } = containerOf(workload)
      const { port, metricsPort } = configOf(workload.metadata.name)
      expect(ports).toEqual([
        { name: 'http', containerPort: port },
        { name: 'metrics', containerPort: metricsPort },
      ])
      expect(workload.spec.template.metadata.annotations['prometheus.io/port']).toBe(String(metricsPort))
      const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)
      expect(new Set(probes.map((probe) => probe.port))).toEqual(new Set(['http']))
      const ready = workload.metadata.name === 'runner' ? '/readyz' : '/healthz'
      expect(probes.map(({ path }) => path)).toEqual(['/healthz', '/healthz', ready])
    }
    const statuses = await Promise.all(['/healthz', '/readyz', '/elsewhere'].map(statusAt))
    expect(statuses).toEqual([200, 200, 404])
  })

  test('bound the memory and the processor of each process', () => {
    for (const workload of workloads) {
      const { requests, limits } = containerOf(workload).resources
      for (const bound of [requests, limits])
        expect(Object.keys(bound).toSorted()).toEqual(['cpu', 'ephemeral-storage', 'memory'])
    }
  })
})

/** The status of the product's health checks at a path, in a process without parts. */
async function statusAt(path: string): Promise<number> {
  const server = createServer(new Koa().use(health(new Map())).callback())
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  try {
    return (await fetch(`http://127.0.0.1:${port}${path}`)).status
  } finally {
    server.close()
  }
}

describe('the rights of the pods', () => {
  const confined = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  }
  const user = { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 }

  test('are those of the level restricted', () => {
    for (const name of ['command', 'gateway', 'query']) {
      const pod = byName.get(name)?.spec.template.spec
      expect(pod?.securityContext).toEqual({ ...user, seccompProfile: { type: 'RuntimeDefault' } })
      expect(pod?.containers[0].securityContext).toEqual(confined)
    }
  })

  test('let only the runner make sandboxes, in a user namespace of its own', () => {
    const pod = byName.get('runner')?.spec.template.spec
    expect(pod?.securityContext).toMatchObject(user)
    expect(pod?.['hostUsers']).toBe(false)
    expect(pod?.containers[0].securityContext).toEqual({
      ...confined,
      procMount: 'Unmasked',
      appArmorProfile: { type: 'Unconfined' },
      seccompProfile: { type: 'Localhost', localhostProfile: 'flightdeck/runner.seccomp.json' },
    })
    expect(existsSync(fileURLToPath(new URL('../../deploy/runner.seccomp.json', import.meta.url)))).toBe(true)
  })

  test('hold no token of the cluster, no folder of a node, and no variables of other Services', () => {
    for (const { spec } of workloads) {
      const pod = spec.template.spec
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false })
      expect(JSON.stringify(pod)).not.toMatch(/hostPath|hostNetwork|hostPID|hostIPC|"privileged"/)
    }
  })
})

describe('the network', () => {
  test('is closed, but for the connections that the code makes', () => {
    expect(isClosedByDefault).toBe(true)
    const { upstreams, port } = configOf('gateway')
    const called = Object.values(upstreams).map((url) => new URL(url ?? ''))
    expect(called.map(({ hostname }) => hostname).toSorted()).toEqual(['command', 'query'])
    const expected = [
      `namespace traefik -> gateway TCP ${port}`,
      ...called.map((url) => `gateway -> ${url.hostname} TCP ${url.port}`),
      ...services.flatMap((name) => {
        const { engines, metricsPort } = configOf(name)
        const enginePorts = [engines.eventStore, engines.mongo, engines.nats].map((url) => portOf(url ?? ''))
        return [
          ...enginePorts.map((enginePort) => `${name} -> namespace engines TCP ${enginePort}`),
          ...['TCP', 'UDP'].map((protocol) => `${name} -> namespace kube-system ${protocol} 53`),
          ...['0.0.0.0/0', '::/0'].flatMap((all) =>
            [443, 80].map((web) => `${name} -> addresses ${all} TCP ${web}`),
          ),
          `namespace monitoring -> ${name} TCP ${metricsPort}`,
        ]
      }),
    ]
    expect(connections()).toEqual(expected.toSorted())
  })

  test('leads people to the gateway, and keeps each at one of them', () => {
    const Ingress = z.looseObject({
      metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        rules: z.tuple([
          z.looseObject({
            host: z.string(),
            http: z.object({
              paths: z.tuple([
                z.looseObject({
                  backend: z.object({
                    service: z.object({ name: z.string(), port: z.object({ name: z.string() }) }),
                  }),
                }),
              ]),
            }),
          }),
        ]),
      }),
    })
    const { metadata, spec } = Ingress.parse(oneOf('Ingress'))
    const [{ host, http }] = spec.rules
    expect(http.paths[0].backend.service).toEqual({ name: 'gateway', port: { name: 'http' } })
    expect(`https://${host}`).toBe(configOf('gateway').publicUrl)
    expect(configOf('gateway').proxies).toBe(1)
    const Annotated = z.looseObject({
      metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }),
    })
    const ofService = Annotated.parse(oneOf('Service', 'gateway')).metadata.annotations
    const traefik = 'traefik.ingress.kubernetes.io/service.sticky.cookie'
    expect(ofService[traefik]).toBe('true')
    expect(metadata.annotations['nginx.ingress.kubernetes.io/affinity']).toBe('cookie')
    expect(metadata.annotations['nginx.ingress.kubernetes.io/session-cookie-name']).toBe(
      ofService[`${traefik}.name`],
    )
  })
})

const standardPorts: Readonly<Record<string, number>> = { 'mongodb:': 27_017, 'nats:': 4_222, 'esdb:': 2_113 }
function portOf(address: string): number {
  const { port, protocol } = new URL(address)
  return port === '' ? (standardPorts[protocol] ?? 0) : Number(port)
}

test('a runner is given the time that its runs may take to end, all others a few seconds', () => {
  const graceOf = (name: string) => byName.get(name)?.spec.template.spec['terminationGracePeriodSeconds']
  expect(graceOf('runner')).toBe(configOf('runner').drainMs / 1_000 + 15)
  for (const name of ['command', 'gateway', 'query']) expect(graceOf(name)).toBe(20)
})

test('the pool of runners is scaled by the number of turns that wait or run, which /metrics says', async () => {
  const Scaled = z.looseObject({
    spec: z.looseObject({
      scaleTargetRef: z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
      triggers: z.tuple([
        z.looseObject({ metadata: z.looseObject({ query: z.string(), threshold: z.string() }) }),
      ]),
    }),
  })
  const { scaleTargetRef, triggers } = Scaled.parse(oneOf('ScaledObject')).spec
  expect(scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'runner' })
  const { query, threshold } = triggers[0].metadata
  expect(Number(threshold)).toBe(configOf('runner').runs.atOnce)
  const metrics = openMetrics()
  metrics.emit({ kind: 'dispatcher', pending: async () => new Map([['execution', 11]]) })
  const asked = /^max\((.*)\)$/.exec(query)?.[1] ?? ''
  expect((await metrics.text()).split('\n')).toContain(`${asked} 11`)
})
