import { findTestSandbox } from '../../runner/testSandbox.ts'
import { describeSandboxedGit, describeHostileTree } from '../../runner/hostileTree.ts'
import { testGit } from '../../runner/workspaceScene.ts'

const { sandbox, note } = await findTestSandbox()

describeHostileTree('on the host', () => testGit)
describeHostileTree(`in a sandbox${note}`, sandbox?.gitFor)
describeSandboxedGit(`in a sandbox${note}`, sandbox?.gitFor)
