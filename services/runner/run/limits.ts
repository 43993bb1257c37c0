/** What a run may use. */
import type { SandboxLimits } from '../sandbox/port.ts'

export const boxLimits: SandboxLimits = {
  memoryBytes: 8 * 1024 ** 3,
  processes: 1_024,
  fileSizeBytes: 4 * 1024 ** 3,
  wallMs: 2 * 60 * 60_000,
}
