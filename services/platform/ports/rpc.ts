/**
 * Remote calls to whichever process can answer: they change nothing that is recorded, and are answered at once or not at all. Held by
 * `tests/contracts/rpc.spec.ts`.
 */
import type { WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import type { HostSuggestion, ShownRepository } from '#domain/api/projectSettings.schema.ts'
import type { FaultCode } from '#domain/kernel/errors.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { AgentName } from '#domain/agents.ts'

/** All calls, with their requests and answers. Both are small: anything large is in a blob that they name. */
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
          /** The changed files, sealed under the task's key; `null` when there are none. The caller removes them. */
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
  /** Which files an undo would change, asked of the runner that has the task's workspace. */
  readonly undoPreview: {
    readonly asked: { readonly taskId: string; readonly executionId: string }
    readonly answered:
      | {
          readonly kind: 'preview'
          /** At most 1,000 of them. */
          readonly files: readonly {
            readonly path: string
            readonly change: 'added' | 'modified' | 'deleted'
          }[]
          readonly total: number
          readonly kept: readonly string[]
        }
      | { readonly kind: 'refused'; readonly code: FaultCode; readonly sentence: string }
  }
  /** Which turn wrote each line of a file, asked of the runner that has the task's workspace. */
  readonly origins: {
    readonly asked: { readonly taskId: string; readonly path: string }
    readonly answered: {
      /** `null`: there is no such text file. */
      readonly ranges:
        | readonly {
            readonly from: number
            readonly to: number
            readonly executionId: string | null
            /** The file's path when the lines were written, where that was another one. */
            readonly path?: string
            /** The `lineHash` of each line; left out where there are too many lines. */
            readonly hashes?: readonly string[]
          }[]
        | null
      /** Git's name of the content whose lines these are. */
      readonly blob?: string
      /** All turns and commands of the task, oldest first. */
      readonly turns?: readonly string[]
    }
  }
  /**
   * The workspace of a task is to be removed unless work would be lost, asked of the runner `runnerId`, which ran the task last. What it had
   * is made again from what was saved when the task goes on. `unreachable`: the code host did not say in time what it has of the work.
   */
  readonly removeWorkspace: {
    readonly asked: { readonly taskId: string; readonly runnerId: string }
    readonly answered: { readonly outcome: WorkspaceOutcome }
  }
  /** Whether a runner prepares for a task that may be created with this id. The caller has checked whose project it is. */
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
  /** The hosts that package managers are configured with, on a runner and in a project's repository. The caller has checked whose project it is. */
  readonly hosts: {
    readonly asked: { readonly projectId: string; readonly ownerId: string }
    readonly answered: { readonly suggestions: readonly HostSuggestion[] }
  }
  /** What a project's repository is, asked of a runner that has fetched it. The caller has checked whose project it is. */
  readonly repository: {
    readonly asked: { readonly projectId: string; readonly ownerId: string }
    readonly answered: { readonly repository: ShownRepository }
  }
  /** A seal over the log as it is when this is asked, made now where there is none; asked of whoever seals. */
  readonly seal: {
    readonly asked: object
    /** Of that seal in its stream. */
    readonly answered: { readonly revision: number }
  }
}
export type Question = keyof Questions
export type Asked<Q extends Question> = Questions[Q]['asked']
export type Answered<Q extends Question> = Questions[Q]['answered']

export interface Rpc {
  /**
   * Answers the call until the returned function is called. `undefined` leaves the answer to other processes; so does a handler that
   * throws, and its fault is reported.
   */
  answer<Q extends Question>(
    question: Q,
    know: (asked: Asked<Q>) => Promise<Answered<Q> | undefined>,
  ): () => void
  /** The first answer of any process; `undefined` when there was none within the time. Throws `EngineUnavailable`. */
  ask<Q extends Question>(question: Q, asked: Asked<Q>, withinMs: number): Promise<Answered<Q> | undefined>
  ready(): Promise<void>
  close(): Promise<void>
}
