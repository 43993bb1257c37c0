/**
 * Questions from one process to whichever other one knows: they change nothing that is recorded, and are answered at once or not at all. Held by
 * `tests/contracts/rpc.spec.ts`.
 */
import type { HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { AgentName } from '#domain/agents.ts'

/** All that may be asked, and what is answered. Both are small: what is large is named by a blob. */
export interface Questions {
  /** What a task changed against a branch, asked of the runner that has its workspace. */
  readonly changes: {
    readonly asked: { readonly taskId: string; readonly baseBranch: string }
    readonly answered:
      | {
          readonly kind: 'changes'
          readonly currentBranch: string
          readonly ahead: number
          readonly behind: number
          readonly truncated: boolean
          readonly files: number
          /** The changed files, sealed under the task's key; `null` when there are none. Who asked removes them. */
          readonly blob: BlobRef | null
        }
      | { readonly kind: 'base_not_found' }
  }
  /** Lines of a file as it was before a task changed it, asked of the runner that has its workspace. */
  readonly lines: {
    readonly asked: {
      readonly taskId: string
      /** Git's name of the content. */
      readonly blob: string
      /** Counted from 1, both included. */
      readonly from: number
      readonly to: number
    }
    readonly answered: { readonly lines: readonly string[]; readonly total: number }
  }
  /** Whether a runner makes things ready for a task that may come, with this id. Who asks has checked whose project it is. */
  readonly prepare: {
    readonly asked: {
      readonly taskId: string
      readonly ownerId: string
      readonly projectId: string
      readonly branch: string
      readonly agent: AgentName
      readonly model: string | null
    }
    readonly answered: { readonly kind: 'begun' | 'left' }
  }
  /** Which hosts package managers are configured with, at a runner and in a project's repository. Who asks has checked whose project it is. */
  readonly hosts: {
    readonly asked: { readonly projectId: string; readonly ownerId: string }
    readonly answered: { readonly suggestions: readonly HostSuggestion[] }
  }
}
export type Question = keyof Questions
export type Asked<Q extends Question> = Questions[Q]['asked']
export type Answered<Q extends Question> = Questions[Q]['answered']

export interface Rpc {
  /**
   * Answers the question until the returned function is called. Who does not know answers `undefined`, which leaves it to the
   * others; one that throws is as silent, and its fault is reported.
   */
  answer<Q extends Question>(
    question: Q,
    know: (asked: Asked<Q>) => Promise<Answered<Q> | undefined>,
  ): () => void
  /** The first answer of any process; `undefined` when nobody knew within the time. Throws `EngineUnavailable`. */
  ask<Q extends Question>(question: Q, asked: Asked<Q>, withinMs: number): Promise<Answered<Q> | undefined>
  ready(): Promise<void>
  close(): Promise<void>
}
