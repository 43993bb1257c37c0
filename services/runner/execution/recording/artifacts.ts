/** Keeps the files that an agent left for people at the end of its turn. */
import { createHash, randomUUID } from 'node:crypto'
import { artifactFolder, artifactLimits } from '#domain/api/artifacts.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { ArtifactKept } from '#domain/task/artifactEvents.ts'
import { code } from '#domain/task/codeHost/pullRequestProposal.ts'
import { MessagePosted } from '#domain/task/events.ts'
import type { LiveTask } from '#domain/task/state.ts'
import type { RecordingDeps } from '../../deps.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import { artifactFiles, type RefusedFile } from '../../workspace/artifactFiles.ts'
import { namedOf } from '../../workspace/names.ts'
import { checkedArtifact } from './artifactType.ts'
import type { Reporter } from './reporter.ts'

interface FinishedTurn {
  readonly task: Pick<LiveTask, 'taskId' | 'artifacts'>
  readonly treeDir: string
  readonly executionId: string
  /** When the turn began, in milliseconds since 1970. */
  readonly begunAt: number
  readonly redaction: Redaction
  readonly report: Reporter['report']
}

/** File systems round the times of files, by at most this many milliseconds. */
const timeStepMs = 1_000
/** How many refused files are named for each reason. */
const mostNamed = 5

/** Records the files that are new or changed since the turn began. Files that are not kept are named in a chat message. */
export async function keepArtifacts(
  deps: Pick<RecordingDeps, 'checkImage'> & { readonly blobs: Pick<RecordingDeps['blobs'], 'put'> },
  { task, treeDir, executionId, begunAt, redaction, report }: FinishedTurn,
): Promise<void> {
  const { paths, refused: found, read } = await artifactFiles(treeDir, begunAt - timeStepMs)
  const refused = [...found]
  const scope = scopeOfStream(taskStream(task.taskId))
  let { count, bytes: bytesOfTask } = task.artifacts
  /** The number of new files that were checked so far. It is limited, because checking a large file takes long. */
  let checkedCount = 0
  const fullFor = (size: number): string | undefined => {
    if (count >= artifactLimits.perTask) return `a task keeps at most ${artifactLimits.perTask} files`
    return bytesOfTask + size > artifactLimits.bytesOfTask ? 'a task keeps at most 100 MB' : undefined
  }
  /** Keeps the file at `path`, or returns the reason why it is not kept. */
  const keep = async (path: string): Promise<string | undefined> => {
    const full =
      checkedCount === artifactLimits.perTurn
        ? `a turn leaves at most ${artifactLimits.perTurn} files`
        : fullFor(0)
    if (full !== undefined) return full
    const content = await read(path)
    if (content === null) return 'it changed while it was read'
    const digest = createHash('sha256').update(content).digest('hex')
    // A name may contain a secret as well.
    const name = await redaction.text(path)
    if (task.artifacts.digests.get(name) === digest) return undefined
    checkedCount += 1
    const checked = await checkedArtifact(path, content, { ...deps, redaction })
    const because = 'because' in checked ? checked.because : fullFor(checked.bytes.length)
    if ('because' in checked || because !== undefined) return because
    const blob = await deps.blobs.put(scope, checked.bytes)
    const data = { executionId, artifactId: randomUUID(), mediaType: checked.mediaType, blob }
    await report(ArtifactKept.of(data, { name, digest }))
    count += 1
    bytesOfTask += blob.size
    return undefined
  }
  for (const path of paths) {
    const because = await keep(path)
    if (because !== undefined) refused.push({ path, because })
  }
  if (refused.length === 0) return
  // Names are redacted before they are cut, since a part of a secret would not be recognized.
  const named = refused.map(async ({ path, because }) => ({ path: await redaction.text(path), because }))
  const message = refusalOf(await Promise.all(named))
  const data = { messageId: randomUUID(), messageType: 'system', agent: null, executionId } as const
  await report(MessagePosted.of(data, { message }))
}

/** Says which files are not kept and why, in Markdown: one line for each reason. */
function refusalOf(refused: readonly RefusedFile[]): string {
  const byReason = new Map<string, string[]>()
  for (const { path, because } of refused)
    byReason.set(because, [...(byReason.get(because) ?? []), code(path.slice(0, artifactLimits.nameLength))])
  const lines = [...byReason].map(([because, names]) => `- ${namedOf(names, mostNamed)}, because ${because}`)
  return [`Not kept of ${code(artifactFolder)}:`, '', ...lines].join('\n')
}
