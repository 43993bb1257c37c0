/**
 * Remote calls to any process that can answer. They change nothing that is recorded, and are answered at once or not at all. Held by
 * `tests/contracts/rpc.spec.ts`.
 */
import type { WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import type { HostSuggestion, ShownRepository } from '#domain/api/projectSettings.schema.ts'
import type { FaultCode } from '#domain/kernel/errors.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { AgentName } from '#domain/agents.ts'

/** All calls, with their requests and answers. Both are small: large data goes into a blob. */
export interface Questions {
  /** The changes of a task against a branch; answered by the runner that has its workspace. */
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
  /** Lines of a file as they were before a task changed it; answered by the runner that has its workspace. */
  readonly lines: {
    readonly asked: {
      readonly taskId: string
      /** Git's object name of the content. */
      readonly blob: string
      /** Line numbers from 1, both included. */
      readonly from: number
      readonly to: number
    }
    readonly answered: { readonly lines: readonly string[]; readonly total: number }
  }
  /** The files that an undo would change; answered by the runner that has the task's workspace. */
  readonly undoPreview: {
    readonly asked: { readonly taskId: string; readonly executionId: string }
    readonly answered:
      | {
          readonly kind: 'preview'
          /** At most 1,000. */
          readonly files: readonly {
            readonly path: string
            readonly change: 'added' | 'modified' | 'deleted'
          }[]
          readonly total: number
          readonly kept: readonly string[]
        }
      | { readonly kind: 'refused'; readonly code: FaultCode; readonly sentence: string }
  }
  /** The turn that wrote each line of a file; answered by the runner that has the task's workspace. */
  readonly origins: {
    readonly asked: { readonly taskId: string; readonly path: string }
    readonly answered: {
      /** `null`: there is no such text file. */
      readonly ranges:
        | readonly {
            readonly from: number
            readonly to: number
            readonly executionId: string | null
            /** The file's path when the lines were written, if it was different. */
            readonly path?: string
            /** The `lineHash` of each line; left out when there are too many lines. */
            readonly hashes?: readonly string[]
          }[]
        | null
      /** Git's object name of the content that the lines are from. */
      readonly blob?: string
      /** All turns and commands of the task, oldest first. */
      readonly turns?: readonly string[]
    }
  }
  /**
   * Removes the workspace of a task unless work would be lost; answered by the runner `runnerId`, which ran the task last. If the task goes on, the
   * workspace is restored from what was saved. `unreachable`: the code host did not say in time which of the work it has.
   */
  readonly removeWorkspace: {
    readonly asked: { readonly taskId: string; readonly runnerId: string }
    readonly answered: { readonly outcome: WorkspaceOutcome }
  }
  /** Asks a runner to prepare for a task that may be created with this id, and whether it does. The caller has checked access to the project. */
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
  /** The hosts that package managers are configured with, on a runner and in a project's repository. The caller has checked access to the project. */
  readonly hosts: {
    readonly asked: { readonly projectId: string; readonly ownerId: string }
    readonly answered: { readonly suggestions: readonly HostSuggestion[] }
  }
  /** Facts about a project's repository; answered by a runner that has fetched it. The caller has checked access to the project. */
  readonly repository: {
    readonly asked: { readonly projectId: string; readonly ownerId: string }
    readonly answered: { readonly repository: ShownRepository }
  }
  /** A seal over the current log, made now if there is none; answered by the process that seals. */
  readonly seal: {
    readonly asked: object
    /** The seal's revision in its stream. */
    readonly answered: { readonly revision: number }
  }
}
export type Question = keyof Questions
export type Asked<Q extends Question> = Questions[Q]['asked']
export type Answered<Q extends Question> = Questions[Q]['answered']

export interface Rpc {
  /**
   * Answers the call until the returned function is called. A handler that returns `undefined` leaves the answer to other processes; so does one that
   * throws, and its fault is reported.
   */
  answer<Q extends Question>(
    question: Q,
    know: (asked: Asked<Q>) => Promise<Answered<Q> | undefined>,
  ): () => void
  /** The first answer of any process; `undefined` when there was none in time. Throws `EngineUnavailable`. */
  ask<Q extends Question>(question: Q, asked: Asked<Q>, withinMs: number): Promise<Answered<Q> | undefined>
  ready(): Promise<void>
  close(): Promise<void>
}
