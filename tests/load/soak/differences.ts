/** What a viewer shows of a task, compared with what the log says. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

const Documents = z.record(z.string(), z.record(z.string(), z.unknown()))

/** A task as the log alone gives it. Pieces of the terminal are pairs of revision and text. */
export const Expected = z.object({
  task: z.record(z.string(), z.unknown()),
  chat: Documents,
  logs: Documents,
  terminal: z.array(z.tuple([z.number(), z.string()])),
})
export type Expected = z.infer<typeof Expected>

interface Folded {
  readonly documents: Readonly<Record<string, object>>
  /** The position before which there are documents that the viewer has not read; `null` when it has all. */
  readonly before: string | null
}

export interface Shown {
  readonly taskId: string
  readonly isLive: boolean
  readonly task: object | null
  readonly chat: Folded
  readonly logs: Folded
  readonly terminal: {
    readonly from: number | null
    readonly pieces: number
    readonly isWhole: boolean
    readonly digest: string
  }
}

/** Differences in a few words each; none when the viewer shows what the log says. */
export function differences(shown: Shown, expected: Expected): readonly string[] {
  if (!shown.isLive) return ['it is not connected']
  if (shown.task === null) return ['it has no task']
  return [
    ...differentFields('task', shown.task, expected.task),
    ...differentDocuments('chat', shown.chat, expected.chat),
    ...differentDocuments('log', shown.logs, expected.logs),
    ...differentOutput(shown.terminal, expected.terminal),
  ]
}

/** Compares the fields that the log gives; addresses of images are signed by the server. */
function differentFields(what: string, shown: object, expected: object): readonly string[] {
  const plain = z.record(z.string(), z.unknown()).parse(JSON.parse(JSON.stringify(shown)))
  return Object.entries(expected).flatMap(([name, value]) =>
    name === 'images' || isDeepStrictEqual(plain[name], value)
      ? []
      : [`${what}.${name} is ${brief(plain[name])} and not ${brief(value)}`],
  )
}

function differentDocuments(
  what: string,
  { documents, before }: Folded,
  expected: z.infer<typeof Documents>,
) {
  const missing = Object.keys(expected).filter((id) => documents[id] === undefined)
  return [
    ...(before === null && missing.length > 0 ? [`${what} lacks ${missing.length}: ${missing[0]}`] : []),
    ...Object.entries(documents).flatMap(([id, document]) => {
      const of = expected[id]
      return of === undefined ? [`${what} has ${id} too`] : differentFields(`${what} ${id}`, document, of)
    }),
  ]
}

function differentOutput(
  { from, pieces, isWhole, digest }: Shown['terminal'],
  expected: Expected['terminal'],
): readonly string[] {
  const since = expected.filter(([version]) => from !== null && version >= from)
  if (isWhole && since.length < expected.length) return [`terminal begins at ${from}`]
  const hash = createHash('sha256')
  for (const [version, text] of since) hash.update(`${version}:${text}\n`)
  return hash.digest('hex') === digest
    ? []
    : [`terminal since ${from} has ${pieces} pieces and not ${since.length}, or other text`]
}

const brief = (value: unknown) => String(JSON.stringify(value)).slice(0, 160)
