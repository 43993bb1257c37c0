/** Checks that involve several variables. Each fault is a sentence that begins with a variable's name. */
import { serviceNames, withCommand, type ServiceName, type Variables } from './variables.ts'

/** The services to run: all of them, unless some are named. The local code host runs only if GitHub is not configured. */
export function servicesOf(
  listed: string | undefined,
  codeHost: { readonly kind: 'local' | 'github' },
  faults: string[],
): ReadonlySet<ServiceName> {
  const names = (listed ?? serviceNames.join(',')).split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !serviceNames.some((known) => known === name))
  if (unknown.length > 0) {
    faults.push(`SERVICES: ${unknown.join(', ')}: there are ${serviceNames.join(', ')}.`)
    return new Set(serviceNames)
  }
  const isNamed = (name: ServiceName) =>
    names.includes(name) || (withCommand.includes(name) && names.includes('command'))
  const services = new Set(serviceNames.filter(isNamed))
  // A process that runs all other services is the whole product, and so needs the local code host, even if its name is not listed.
  if (codeHost.kind === 'local' && runsAll(services)) services.add('codehost')
  if (codeHost.kind === 'github') services.delete('codehost')
  if (services.size === 0)
    faults.push('SERVICES: nothing is left to run: the local code host is off with GitHub.')
  return services
}

function runsAll(services: ReadonlySet<ServiceName>): boolean {
  return serviceNames.every((name) => name === 'codehost' || services.has(name))
}

/** Faults about missing variables that are required when services run separately or processes share engines. */
export function sharingFaults(services: ReadonlySet<ServiceName>, values: Variables): string[] {
  const faults: string[] = []
  if (values.MONGODB_URL !== undefined && values.MASTER_KEY === undefined)
    faults.push('MASTER_KEY: is required with MONGODB_URL, because the keys there are sealed with it.')
  if (runsAll(services) || services.size === 0) return faults
  for (const name of ['EVENTSTORE_URL', 'MONGODB_URL', 'NATS_URL'] as const) {
    if (values[name] === undefined) faults.push(`${name}: is required when SERVICES run separately.`)
  }
  if (!services.has('gateway')) return faults
  for (const [service, name] of [
    ['command', 'COMMAND_URL'],
    ['query', 'QUERY_URL'],
  ] as const) {
    if (!services.has(service) && values[name] === undefined)
      faults.push(`${name}: is required by a gateway without the ${service} service.`)
  }
  return faults
}

/** Faults because the operator has not configured who may sign in, which is required as soon as other machines can reach the product. */
export function entryFaults(services: ReadonlySet<ServiceName>, values: Variables): string[] {
  const isAsked = services.has('gateway') || services.has('runner')
  const isSaid =
    values.ALLOWED_USERS !== undefined ||
    (values.ALLOWED_ORGANIZATIONS ?? []).length > 0 ||
    (values.ADMINS ?? []).length > 0
  const reached = reachedBy(values)
  if (!isAsked || isSaid || reached === undefined) return []
  return [
    `ALLOWED_USERS: is required (or ALLOWED_ORGANIZATIONS or ADMINS) because ${reached}. List who may sign in, or set ALLOWED_USERS=* to allow everyone with an account on the code host.`,
  ]
}

/** The setting by which other machines can reach the product; `undefined` when they cannot. */
export function reachedBy({ HOST, PUBLIC_URL, TRUST_PROXY }: Variables): string | undefined {
  if (HOST !== undefined && !isLoopback(HOST)) return `HOST is ${HOST}`
  if (PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname))
    return `PUBLIC_URL is ${PUBLIC_URL}`
  return TRUST_PROXY > 0 ? 'TRUST_PROXY says that a proxy is in front' : undefined
}

export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

/** Faults about the port of the local code host. The local code host has no passwords, so an operator must open it to other machines explicitly. */
export function portFaults(services: ReadonlySet<ServiceName>, values: Variables): string[] {
  const faults: string[] = []
  if (values.PORT !== undefined && values.PORT === values.CODEHOST_PORT)
    faults.push('CODEHOST_PORT: is the same as PORT.')
  const isOpen = values.HOST !== undefined && !/^(localhost|::1|127(\.\d{1,3}){3})$/.test(values.HOST)
  if (isOpen && services.has('codehost') && values.CODEHOST_HOST === undefined)
    faults.push(
      'CODEHOST_HOST: is required because HOST is not a loopback address and the local code host asks for no passwords. 127.0.0.1 keeps it on this machine; any other address opens it to everyone who can reach that.',
    )
  return faults
}

/** Faults about the host name of previews. Only with https can cookies be kept from the pages of sibling hosts. */
export function previewFaults({ PREVIEW_HOST: name, PUBLIC_URL }: Variables): string[] {
  if (name === undefined) return []
  const address = PUBLIC_URL === undefined ? undefined : new URL(PUBLIC_URL)
  if (address?.protocol !== 'https:') return ['PREVIEW_HOST: needs a PUBLIC_URL that begins with https://.']
  return address.hostname === name || address.hostname.endsWith(`.${name}`)
    ? ['PREVIEW_HOST: is the host of PUBLIC_URL, or above it; choose a name for previews alone.']
    : []
}

export function priceFaults(values: Variables): string[] {
  return (['RUN_DOLLARS', 'DAY_DOLLARS'] as const).flatMap((name) =>
    values[name] > 0 && values.MODEL_PRICES === undefined ? [`${name}: needs MODEL_PRICES.`] : [],
  )
}
