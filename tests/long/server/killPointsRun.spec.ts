/** kill -9 between any two steps of a task that is made and run. */
import { testKillPoints } from '../../server/faults/killPoints.ts'
import { wholeRun } from '../../server/faults/kinds.ts'

await testKillPoints(({ name }) => name === wholeRun)
