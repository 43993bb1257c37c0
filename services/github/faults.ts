/** Kinds of faults at the code host. */
import { Fault } from '#domain/kernel/errors.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'

/** Faults after which nothing can be read with an access: it was lost, its person may not use this server, or the App's key is refused. */
export const refusals = ['github_not_connected', 'not_allowed', 'sign_in_required', 'app_key_refused']

export const isFault = (fault: unknown, kinds: readonly CodeHostFault['kind'][]): boolean =>
  fault instanceof CodeHostFault && kinds.includes(fault.kind)

/** Whether the code host no longer accepts the access of a person or an installation. */
export const isRefusal = (fault: unknown): boolean =>
  isFault(fault, ['unauthorized']) || (fault instanceof Fault && fault.code === 'github_not_connected')

/** Whether the code host cannot answer for now: it is unavailable, or a rate limit is used up. */
export const isHostUnavailable = (fault: unknown): boolean =>
  (fault instanceof CodeHostFault && fault.isPassing) ||
  (fault instanceof Fault && fault.code === 'code_host_unavailable')

/**
 * Whether a repetition may soon succeed: an engine (such as the database) or the code host is unavailable, or somebody else wrote at the same time.
 */
export const isTransient = (fault: unknown): boolean =>
  fault instanceof EngineUnavailable ||
  (fault instanceof Fault && fault.code === 'conflict') ||
  (fault instanceof CodeHostFault && fault.isPassing)
