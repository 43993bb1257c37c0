/** Compares the blobs with the log: each blob that a stream refers to must exist and match its hash, unless the stream was deleted or erased. */
import { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { scopeOfStream } from '#domain/kernel/streams.ts'
import type { Blobs } from '#platform/ports/blobs.ts'

export interface BlobFinding {
  readonly wrong: 'blob_missing' | 'blob_changed'
  readonly stream: string
  readonly revision: number
  readonly sentence: string
}

export interface BlobReport {
  readonly findings: readonly BlobFinding[]
  readonly whole: number
  /** The number of missing or changed blobs that are no fault, because their stream has ended or its key was destroyed. */
  readonly erased: number
}

export interface BlobChecks {
  add(event: Pick<StoredEvent, 'stream' | 'revision' | 'type' | 'data'>): Promise<void>
  /** Ends the check. `erasedScopes` are the scopes whose keys were destroyed. */
  end(erasedScopes: ReadonlySet<string>): BlobReport
}

/** Events that end a stream: the blobs that it refers to are deleted. */
const ends = new Set(['TaskDeleted', 'ImageDiscarded'])
const sentences = {
  blob_missing: 'is not there: it was removed',
  blob_changed: 'is not what its name says: it was changed',
}

export function blobChecks(blobs: Pick<Blobs, 'check'>): BlobChecks {
  const whole = new Set<string>()
  const wrongs = new Map<string, Omit<BlobFinding, 'sentence'> & { readonly hash: string }>()
  const ended = new Set<string>()
  return {
    async add({ stream, revision, type, data }) {
      if (ends.has(type)) ended.add(stream)
      for (const { hash } of blobRefsIn(data)) {
        const id = `${stream} ${hash}`
        if (whole.has(hash) || wrongs.has(id)) continue
        const state = await blobs.check(hash)
        if (state === 'whole') whole.add(hash)
        else
          wrongs.set(id, {
            wrong: state === 'missing' ? 'blob_missing' : 'blob_changed',
            stream,
            revision,
            hash,
          })
      }
    },
    end(erasedScopes) {
      const isOver = (stream: string) => ended.has(stream) || erasedScopes.has(scopeOfStream(stream))
      const living = [...wrongs.values()].filter(({ stream }) => !isOver(stream))
      return {
        findings: living.map(({ hash, ...finding }) => ({
          ...finding,
          sentence: `The blob ${hash} of ${finding.stream} @ ${finding.revision} ${sentences[finding.wrong]}.`,
        })),
        whole: whole.size,
        erased: wrongs.size - living.length,
      }
    },
  }
}

function* blobRefsIn(data: unknown): Generator<BlobRef> {
  if (typeof data !== 'object' || data === null) return
  const ref = BlobRef.strict().safeParse(data)
  if (ref.success) yield ref.data
  else for (const member of Object.values(data)) yield* blobRefsIn(member)
}
