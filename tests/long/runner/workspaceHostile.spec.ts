import { findTestBox } from '../../../services/runner/sandbox/testBox.ts'
import { describeBoxedGit, describeHostileTree } from '../../runner/hostileTree.ts'
import { testGit } from '../../../services/runner/workspace/testScene.ts'

const { sandbox, note } = await findTestBox()

describeHostileTree('on the host', () => testGit)
describeHostileTree(`in a box${note}`, sandbox?.gitFor)
describeBoxedGit(`in a box${note}`, sandbox?.gitFor)
