/** For tests: what every sandbox promises, whoever makes it. */
import { describe } from 'vitest'
import type { Sandbox } from '../../services/runner/sandbox/port.ts'
import { describeEnd, describeFreeze } from './sandboxEnd.ts'
import { describeHiddenMemory, describeLimits } from './sandboxLimits.ts'
import { sandboxStage } from './sandboxStage.ts'
import { describeInside, describeKernel, describeReach, describeStreams } from './sandboxView.ts'
import type { TestEngine } from './testSandbox.ts'

/** `engine`: where the sandbox is a container, whose system is an image's and not the host's. */
export function describeSandbox(title: string, sandbox: Sandbox | undefined, engine?: TestEngine): void {
  describe.skipIf(!sandbox)(`a sandbox ${title}`, () => {
    const at = sandboxStage(sandbox, engine)
    describeInside(at)
    describeReach(at)
    describeKernel(at)
    describeStreams(at)
    describeEnd(at)
    describeFreeze(at)
    describeLimits(at)
    describeHiddenMemory(at)
  })
}
