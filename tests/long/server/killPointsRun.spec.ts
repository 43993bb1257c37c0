/** kill -9 between any two steps of creating and running a task. */
import { testKillPoints } from '../../server/faults/killPoints.ts'
import { wholeRun } from '../../server/faults/kinds.ts'

await testKillPoints(({ name }) => name === wholeRun)
