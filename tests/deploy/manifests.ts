/** The manifests of `deploy/kubernetes`, read as far as tests ask of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseYaml } from '@redocly/openapi-core'
import { z } from 'zod'

const folder = fileURLToPath(new URL('../../deploy/kubernetes/', import.meta.url))

const Labels = z.record(z.string(), z.string())
const Selector = z.object({
  matchLabels: Labels.default({}),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) }))
    .default([]),
})
type Selector = z.output<typeof Selector>

const Probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) })
const Container = z.looseObject({
  name: z.string(),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })).default([]),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
  resources: z.object({ requests: Labels, limits: Labels }),
  securityContext: z.record(z.string(), z.unknown()),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
})
const PodSpec = z.looseObject({
  securityContext: z.record(z.string(), z.unknown()),
  containers: z.tuple([Container]),
  volumes: z
    .array(
      z.looseObject({ name: z.string(), secret: z.object({ secretName: z.string() }).loose().optional() }),
    )
    .default([]),
})
const Workload = z.looseObject({
  kind: z.enum(['Deployment', 'StatefulSet']),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    selector: Selector,
    template: z.looseObject({
      metadata: z.object({ labels: Labels, annotations: Labels }),
      spec: PodSpec,
    }),
    volumeClaimTemplates: z.array(z.looseObject({ metadata: z.object({ name: z.string() }) })).default([]),
  }),
})
export type Workload = z.output<typeof Workload>

const Peer = z.object({
  podSelector: Selector.optional(),
  namespaceSelector: Selector.optional(),
  ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()) }).optional(),
})
const Ports = z.array(z.object({ protocol: z.enum(['TCP', 'UDP']), port: z.int() }))
const Policy = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.object({
    podSelector: Selector,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(z.object({ from: z.array(Peer).min(1), ports: Ports.min(1) })).default([]),
    egress: z.array(z.object({ to: z.array(Peer).min(1), ports: Ports.min(1) })).default([]),
  }),
})

const AnyManifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
})
export type AnyManifest = z.output<typeof AnyManifest>

export const manifests: readonly AnyManifest[] = readdirSync(folder).flatMap((name) =>
  readFileSync(`${folder}${name}`, 'utf8')
    .split(/^---$/m)
    .map((text) => AnyManifest.parse(parseYaml(text))),
)

export const ofKind = (kind: string): readonly AnyManifest[] => manifests.filter((one) => one.kind === kind)

/** The only manifest of a kind, or the one with this name. */
export function oneOf(kind: string, name?: string): AnyManifest {
  const [found, another] = ofKind(kind).filter(({ metadata }) => name === undefined || metadata.name === name)
  if (found === undefined || another !== undefined) throw new Error(`There is not one ${kind} ${name ?? ''}.`)
  return found
}

export const workloads: readonly Workload[] = manifests
  .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
  .map((one) => Workload.parse(one))

/** The variables of a workload's process: those of the ConfigMap, and its own. */
export function variablesOf({ spec }: Workload): Record<string, string> {
  const [{ env, envFrom }] = spec.template.spec.containers
  const shared = envFrom.flatMap(({ configMapRef }) =>
    Object.entries(Labels.parse(oneOf('ConfigMap', configMapRef.name)['data'])),
  )
  return Object.fromEntries([...shared, ...env.map(({ name, value }) => [name, value] as const)])
}

export function selects(
  { matchLabels, matchExpressions }: Selector,
  labels: Readonly<Record<string, string>>,
) {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  )
}

const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map((one) => Policy.parse(one).spec)
const labelsOf = ({ spec }: Workload) => spec.template.metadata.labels

const pods = workloads.map((workload) => ({ name: workload.metadata.name, labels: labelsOf(workload) }))

/** Whether nothing may enter and nothing may leave, unless another policy says so. */
export const isClosedByDefault = policies.some(
  ({ podSelector, policyTypes, ingress, egress }) =>
    Object.keys(podSelector.matchLabels).length === 0 &&
    policyTypes.length === 2 &&
    ingress.length + egress.length === 0,
)

/** The names of what a peer means: our workloads, `namespace/<name>` or addresses. */
function named({ podSelector, namespaceSelector, ipBlock }: z.output<typeof Peer>): readonly string[] {
  if (ipBlock !== undefined) return [`addresses ${ipBlock.cidr}`]
  if (namespaceSelector !== undefined)
    return [`namespace ${namespaceSelector.matchLabels['kubernetes.io/metadata.name']}`]
  if (podSelector === undefined) throw new Error('A peer without a selector means everybody.')
  return pods.filter(({ labels }) => selects(podSelector, labels)).map(({ name }) => name)
}

type Direction = 'ingress' | 'egress'

/** What the policies allow in a direction, as `<from> -> <to> <port>`. */
function allowed(direction: Direction): ReadonlySet<string> {
  const edges = policies.flatMap(({ podSelector, ingress, egress }) => {
    const rules =
      direction === 'ingress'
        ? ingress.map(({ from, ports }) => ({ peers: from, ports }))
        : egress.map(({ to, ports }) => ({ peers: to, ports }))
    const chosen = pods.filter(({ labels }) => selects(podSelector, labels))
    return chosen.flatMap(({ name }) =>
      rules.flatMap(({ peers, ports }) =>
        peers.flatMap(named).flatMap((peer) =>
          ports.map(({ port, protocol }) => {
            const [from, to] = direction === 'ingress' ? [peer, name] : [name, peer]
            return `${from} -> ${to} ${protocol} ${port}`
          }),
        ),
      ),
    )
  })
  return new Set(edges)
}

/** The connections that can be made, as `<from> -> <to> TCP <port>`. Between our own pods, both sides must allow one. */
export function connections(): readonly string[] {
  const [incoming, outgoing] = [allowed('ingress'), allowed('egress')]
  const isOurs = (edge: string) => {
    const [from = '', to = ''] = edge.split(/ -> | (?:TCP|UDP) /)
    return [from, to].every((end) => pods.some(({ name }) => name === end))
  }
  const all = [...new Set([...incoming, ...outgoing])]
  return all.filter((edge) => !isOurs(edge) || (incoming.has(edge) && outgoing.has(edge))).toSorted()
}
