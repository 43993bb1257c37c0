import { findTestSandbox } from '../../../tests/runner/testSandbox.ts'
import { describeEgress } from '../../../tests/runner/egress.contract.ts'

describeEgress(await findTestSandbox())
