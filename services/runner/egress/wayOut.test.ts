import { findTestBox } from '../sandbox/testBox.ts'
import { describeWayOut } from './wayOutGuarantees.ts'

describeWayOut(await findTestBox())
