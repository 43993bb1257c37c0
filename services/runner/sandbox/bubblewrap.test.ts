import { describeBox } from './boxGuarantees.ts'
import { findTestBox } from './testBox.ts'

const { sandbox, note } = await findTestBox()

describeBox(`by bubblewrap${note}`, sandbox)
