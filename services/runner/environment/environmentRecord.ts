/**
 * Records in a project's history what becomes of its environment. Each setup with a recorded beginning gets a recorded end: if this process is
 * killed or cannot record it, at the next start.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import {
  ProjectEnvironmentFailed,
  ProjectEnvironmentPrepared,
  ProjectEnvironmentStarted,
  type ProjectEnvironmentEvent,
} from '#domain/project/environmentEvents.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Logger } from '#platform/log.ts'
import { recordingPatienceMs } from '../execution/recording/terminalWriter.ts'
import type { EnvironmentKey } from './environmentKey.ts'
import { hasLayer, noteUnderWay, removeHalfMade } from './layers.ts'

export interface RecordDeps {
  readonly root: string
  /** The `PATH` for programs. */
  readonly path: string
  readonly commands: Pick<Commands, 'execute'>
  readonly logger: Pick<Logger, 'warn'>
}

type Started = ReturnType<typeof ProjectEnvironmentStarted.of>
type Prepared = ReturnType<typeof ProjectEnvironmentPrepared.of>
type Failed = ReturnType<typeof ProjectEnvironmentFailed.of>

/** The record of one setup. */
export interface EnvironmentRecord {
  /** The position in the log at which the record began; `null` when the beginning could not be recorded. */
  readonly position: string | null
  prepared(data: Prepared['data'], content: Prepared['content']): Promise<void>
  /** `usable` are the keys of environments that tasks may use instead; by default those that were known at the beginning. */
  failed(
    code: Failed['data']['code'],
    content: Failed['content'],
    usable?: readonly EnvironmentKey[],
  ): Promise<void>
  /** Called when nothing more will be recorded. */
  close(): Promise<void>
}

/** Stands for the record of a setup that the project's history does not show, such as one on another branch. */
export const noRecord: EnvironmentRecord = {
  position: null,
  prepared: async () => undefined,
  failed: async () => undefined,
  close: async () => undefined,
}

export async function beginRecord(
  deps: RecordDeps,
  {
    projectId,
    trigger,
    changed,
    usable: known,
  }: {
    readonly projectId: string
    readonly trigger: Started['data']['trigger']
    /** Some of the lock files that changed, if they are the reason for the setup. */
    readonly changed?: readonly string[] | undefined
    readonly usable: readonly EnvironmentKey[]
  },
): Promise<EnvironmentRecord> {
  const { root } = deps
  const hasEarlier = await hasLayer(root, projectId, known, 'setup')
  const removeNote = await noteUnderWay(root, { projectId, hasEarlier })
  let isEndLost = false
  const end = async (event: ProjectEnvironmentEvent): Promise<void> => {
    isEndLost = (await recordEnvironment(deps, projectId, event, recordingPatienceMs)).isLost
  }
  const begun = ProjectEnvironmentStarted.of({ trigger }, changed ? { changed: [...changed] } : null)
  return {
    position: (await recordEnvironment(deps, projectId, begun)).position,
    prepared: (data, content) => end(ProjectEnvironmentPrepared.of(data, content)),
    async failed(code, content, usable = known) {
      const usesEarlier = await hasLayer(root, projectId, usable, 'setup')
      await end(ProjectEnvironmentFailed.of({ code, usesEarlier }, content))
    },
    async close() {
      // The next start records the end of a setup that still has its note.
      if (!isEndLost) await removeNote()
    },
  }
}

/** Removes the unfinished files of a killed process, and records the end of its setups. */
export async function recordCutShort(deps: RecordDeps): Promise<void> {
  const content = { reason: 'The server stopped before the setup came to its end.', log: '' }
  await removeHalfMade(deps, async ({ projectId, hasEarlier }) => {
    const event = ProjectEnvironmentFailed.of({ code: 'interrupted', usesEarlier: hasEarlier }, content)
    return !(await recordEnvironment(deps, projectId, event)).isLost
  })
}

const actor = { kind: 'system', service: 'runner' } as const

/**
 * Faults are only logged, because no run fails because of them. After a fault, `position` is `null`, and `isLost` says whether the project lacks the
 * event: one that was deleted needs it no more.
 */
async function recordEnvironment(
  { commands, logger }: RecordDeps,
  projectId: string,
  event: ProjectEnvironmentEvent,
  patienceMs?: number,
): Promise<{ readonly position: string | null; readonly isLost: boolean }> {
  try {
    const cause = { actor, commandId: randomUUID(), ...(patienceMs !== undefined && { patienceMs }) }
    const command = { type: 'RecordEnvironment', event } as const
    const { position } = await commands.execute(projectDecider, projectStream(projectId), command, cause)
    return { position, isLost: false }
  } catch (fault) {
    logger.warn({ err: fault, projectId }, 'failed to record what became of an environment')
    return { position: null, isLost: !(fault instanceof Fault && fault.code === 'not_found') }
  }
}
