/** kill -9 between any two steps of every command except a whole run, which has a file of its own. */
import { testKillPoints } from '../../server/faults/killPoints.ts'
import { wholeRun } from '../../server/faults/kinds.ts'

await testKillPoints(({ name }) => name !== wholeRun)
