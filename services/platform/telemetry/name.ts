/** What a process is called in logs and traces: `flightdeck`, or apart `flightdeck-command` and so on. */
import type { ServiceName } from '#platform/config/config.ts'

const apart = ['gateway', 'command', 'query', 'runner', 'codehost'] as const

export function processName(services: ReadonlySet<ServiceName>): string {
  const here = apart.filter((name) => services.has(name))
  const isWhole = apart.every((name) => name === 'codehost' || services.has(name))
  return ['flightdeck', ...(isWhole ? [] : here)].join('-')
}
