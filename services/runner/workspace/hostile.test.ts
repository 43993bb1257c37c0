import { findTestBox } from '../sandbox/testBox.ts'
import { describeBoxedGit, describeHostileTree } from '../../../tests/runner/hostileTree.ts'
import { testGit } from './testScene.ts'

const { sandbox, note } = await findTestBox()

describeHostileTree('on the host', () => testGit)
describeHostileTree(`in a box${note}`, sandbox?.gitFor)
describeBoxedGit(`in a box${note}`, sandbox?.gitFor)
