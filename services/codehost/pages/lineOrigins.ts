/** Who wrote the lines that a branch added, by the notes beside its commits: what any other tool can read of them. */
import { agentTraceRef } from '#domain/provenance/agentTrace.ts'
import { TraceRecord, type TraceConversation } from '#domain/provenance/agentTrace.schema.ts'
import type { Bare } from '../git/bare.ts'

export interface LineOrigin {
  readonly by: NonNullable<TraceConversation['contributor']>['type']
  readonly model: string | null
  /** Where the conversation can be looked up: an HTTP address. Anybody who can push has written it. */
  readonly url: string | null
}

/** By path, and by line of the file as it is in the branch. */
export type LineOrigins = ReadonlyMap<string, ReadonlyMap<number, LineOrigin>>

const mostCommits = 100
const mostFiles = 100
const withinMs = 5_000
const largestNote = 8 * 1024 * 1024

export async function lineOriginsOf(
  bare: Bare,
  { base, head, paths }: { readonly base: string; readonly head: string; readonly paths: readonly string[] },
): Promise<LineOrigins> {
  const until = performance.now() + withinMs
  const records = new Map<string, RecordedLines>()
  const noted = await bare.noted(agentTraceRef)
  const commits = noted.size === 0 ? [] : await bare.commits(base, head, mostCommits)
  for (const { sha } of commits) {
    if (!noted.has(sha)) continue
    const note = await bare.note(agentTraceRef, sha, largestNote)
    const read = note === undefined ? undefined : recordedLines(note, sha)
    if (read) records.set(sha, read)
  }
  const origins = new Map<string, ReadonlyMap<number, LineOrigin>>()
  if (records.size === 0) return origins
  for (const path of paths.slice(0, mostFiles)) {
    if (performance.now() > until) break
    const lines = new Map<number, LineOrigin>()
    for (const { line, commit, path: pathThere, lineThere } of await bare.blame(base, head, path)) {
      const origin = records.get(commit)?.get(pathThere)?.(lineThere)
      if (origin) lines.set(line, origin)
    }
    if (lines.size > 0) origins.set(path, lines)
  }
  return origins
}

/** By path: what is recorded of a line. */
type RecordedLines = ReadonlyMap<string, (line: number) => LineOrigin | undefined>

/** Reads a note; `undefined` for one that is no record of this commit. */
function recordedLines(note: string, commit: string): RecordedLines | undefined {
  const { data: record } = TraceRecord.safeParse(parsed(note))
  if (record?.vcs?.type !== 'git' || record.vcs.revision !== commit) return undefined
  return new Map(
    record.files.map(({ path, conversations }) => {
      const ranges = conversations
        .flatMap(({ url, contributor, ranges: ofConversation }) =>
          ofConversation.map(({ start_line: from, end_line: to, contributor: own }) => ({
            from,
            to,
            origin: originOf(own ?? contributor, url),
          })),
        )
        .sort((one, other) => one.from - other.from)
      return [path, (line: number) => rangeAt(ranges, line)?.origin] as const
    }),
  )
}

/** The last range that begins at the line or before, if it goes that far. Sorted by `from`. */
function rangeAt<Range extends { readonly from: number; readonly to: number }>(
  ranges: readonly Range[],
  line: number,
): Range | undefined {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.from ?? Infinity) <= line) low = middle + 1
    else high = middle
  }
  const range = ranges[low - 1]
  return range && range.to >= line ? range : undefined
}

function originOf(contributor: TraceConversation['contributor'], url: string | undefined): LineOrigin {
  const address = url !== undefined && URL.canParse(url) ? new URL(url) : null
  return {
    by: contributor?.type ?? 'unknown',
    model: contributor?.model_id ?? null,
    url: address && /^https?:$/.test(address.protocol) ? address.href : null,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
