/** A stand-in for an OpenTelemetry collector at the wire: OTLP over HTTP as JSON, checked on arrival and stored. */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import { within } from '../product/live.ts'

const AnyValue = z
  .object({
    stringValue: z.string(),
    intValue: z.coerce.number(),
    doubleValue: z.number(),
    boolValue: z.boolean(),
  })
  .partial()
  .refine((value) => Object.keys(value).length === 1)
const Attributes = z.array(z.object({ key: z.string(), value: AnyValue }))
const Nanoseconds = z.string().regex(/^\d{19}$/)
const Exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(
        z.object({
          scope: z.object({ name: z.string(), version: z.string().optional() }),
          spans: z.array(
            z.object({
              traceId: z.string().regex(/^[0-9a-f]{32}$/),
              spanId: z.string().regex(/^[0-9a-f]{16}$/),
              parentSpanId: z
                .string()
                .regex(/^[0-9a-f]{16}$/)
                .optional(),
              name: z.string(),
              kind: z.int().min(1).max(5),
              startTimeUnixNano: Nanoseconds,
              endTimeUnixNano: Nanoseconds,
              attributes: Attributes,
              status: z.object({ code: z.int().min(0).max(2) }),
            }),
          ),
        }),
      ),
    }),
  ),
})

/** A span as it was received. */
export interface CollectedSpan {
  /** The sender, from `service.name`. */
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** The kind as a number of OTLP: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  /** The instrumentation scope, as `name` or `name@version`. */
  readonly scope: string
  readonly begun: bigint
  readonly ended: bigint
  readonly ok: boolean
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>
}

export interface OtlpCollector {
  /** The address for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string
  readonly spans: readonly CollectedSpan[]
  /** Faults of what was sent, compared with the OTLP format. */
  readonly faults: readonly string[]
  /** Everything that was received, unchanged. */
  readonly raw: readonly string[]
  /** The spans once they match; throws with their names after 20 s. */
  until(what: string, like: (spans: readonly CollectedSpan[]) => boolean): Promise<readonly CollectedSpan[]>
  /** From now on answers with this status and accepts nothing. */
  refuse(status: number): void
  close(): Promise<void>
}

const waitMs = 20_000

/** Starts the collector on a free port of 127.0.0.1. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const faults: string[] = []
  const raw: string[] = []
  const listeners = new Set<() => void>()
  let refusal: number | undefined
  const server = createServer((request, response) => {
    void (async () => {
      const body = (await buffer(request)).toString('utf8')
      raw.push(body)
      if (refusal !== undefined) return response.writeHead(refusal).end()
      if (request.method !== 'POST' || request.url !== '/v1/traces')
        faults.push(`${request.method} ${request.url}`)
      const exported = Exported.safeParse(JSON.parse(body))
      if (exported.success) spans.push(...collected(exported.data))
      else faults.push(exported.error.message)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      for (const listener of listeners) listener()
    })().catch((fault: unknown) => {
      faults.push(String(fault))
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    faults,
    raw,
    until(what, like) {
      let listener = () => {}
      const seen = new Promise<readonly CollectedSpan[]>((resolve) => {
        listener = () => like(spans) && resolve(spans)
        listeners.add(listener)
        listener()
      })
      const told = () => `Not collected: ${what}. Collected: ${spans.map(({ name }) => name).join(', ')}`
      return within(waitMs, told, seen).finally(() => listeners.delete(listener))
    },
    refuse: (status) => void (refusal = status),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function collected({ resourceSpans }: z.infer<typeof Exported>): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({
        service,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: span.kind,
        scope: scope.version === undefined ? scope.name : `${scope.name}@${scope.version}`,
        begun: BigInt(span.startTimeUnixNano),
        ended: BigInt(span.endTimeUnixNano),
        ok: span.status.code !== 2,
        attributes: valuesOf(span.attributes),
      })),
    )
  })
}

function valuesOf(attributes: z.infer<typeof Attributes>): CollectedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue,
    ]),
  )
}
