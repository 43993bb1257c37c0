/** The contract of every sandbox, however it is made. */
import { describe } from 'vitest'
import type { Sandbox } from '../../services/runner/sandbox/port.ts'
import { describeEnd, describeFreeze } from './sandboxEnd.ts'
import { describeHiddenMemory, describeLimits } from './sandboxLimits.ts'
import { describePrograms } from './sandboxPrograms.ts'
import { sandboxStage } from './sandboxStage.ts'
import { describeInside, describeKernel, describeReach, describeStreams } from './sandboxView.ts'
import type { TestEngine } from './testSandbox.ts'

/** `engine` is given for a sandbox that is a container, whose system is that of an image and not of the host. */
export function describeSandbox(title: string, sandbox: Sandbox | undefined, engine?: TestEngine): void {
  describe.skipIf(!sandbox)(`a sandbox ${title}`, () => {
    const at = sandboxStage(sandbox, engine)
    describeInside(at)
    describeReach(at)
    describeKernel(at)
    describeStreams(at)
    describeEnd(at)
    describeFreeze(at)
    describePrograms(at)
    describeLimits(at)
    describeHiddenMemory(at)
  })
}
