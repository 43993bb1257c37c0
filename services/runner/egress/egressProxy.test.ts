import { findTestBox } from '../sandbox/testBox.ts'
import { describeWayOut } from './egressProxyGuarantees.ts'

describeWayOut(await findTestBox())
