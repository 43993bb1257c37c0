/**
 * Records in a project's history what becomes of its environment. Each setup with a recorded beginning gets a recorded end: if this process is
 * killed, at the next start.
 */
import { randomUUID } from 'node:crypto'
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
  const close = await noteUnderWay(root, { projectId, hasEarlier })
  const tell = (event: ProjectEnvironmentEvent) => recordEnvironment(deps, projectId, event)
  return {
    position: await tell(
      ProjectEnvironmentStarted.of({ trigger }, changed ? { changed: [...changed] } : null),
    ),
    async prepared(data, content) {
      await tell(ProjectEnvironmentPrepared.of(data, content))
    },
    async failed(code, content, usable = known) {
      const usesEarlier = await hasLayer(root, projectId, usable, 'setup')
      await tell(ProjectEnvironmentFailed.of({ code, usesEarlier }, content))
    },
    close,
  }
}

/** Removes the unfinished files of a killed process, and records the end of its setups. */
export async function recordCutShort(deps: RecordDeps): Promise<void> {
  const content = { reason: 'The server stopped before the setup came to its end.', log: '' }
  for (const { projectId, hasEarlier } of await removeHalfMade(deps))
    await recordEnvironment(
      deps,
      projectId,
      ProjectEnvironmentFailed.of({ code: 'interrupted', usesEarlier: hasEarlier }, content),
    )
}

const actor = { kind: 'system', service: 'runner' } as const

/** Returns the position in the log; `null` after a fault, which is only logged, because no run fails because of it. */
async function recordEnvironment(
  { commands, logger }: RecordDeps,
  projectId: string,
  event: ProjectEnvironmentEvent,
): Promise<string | null> {
  try {
    const cause = { actor, commandId: randomUUID() }
    const command = { type: 'RecordEnvironment', event } as const
    return (await commands.execute(projectDecider, projectStream(projectId), command, cause)).position
  } catch (fault) {
    logger.warn({ err: fault, projectId }, 'failed to record what became of an environment')
    return null
  }
}
