/**
 * `npx tsx tests/load/scale.ts`: measures what a turn, an event, a viewer and an agent cost, and writes the tables of `docs/scale.md` from it. Takes
 * about five minutes, and needs a build and a sandbox. With `--tables` it measures nothing and only writes the tables again.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { costsFile, readCosts, scaleDocument, withScaleTables } from '../report/scalePage.ts'
import { thisMachine } from './machine.ts'
import { costsApart } from './scale/apart.ts'
import type { Costs } from './scale/costs.ts'
import { hearingCosts } from './scale/hearing.ts'
import { costsOnDisk } from './scale/onDisk.ts'
import { openUndo } from './undo.ts'

if (!process.argv.includes('--tables'))
  await writeFile(costsFile, `${JSON.stringify(await measured(), null, 2)}\n`)
await writeFile(scaleDocument, withScaleTables(await readFile(scaleDocument, 'utf8'), await readCosts()))
process.exit()

async function measured(): Promise<Costs> {
  const undo = openUndo()
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-scale-'))
  undo.add(() => rm(folder, { recursive: true, force: true }))
  try {
    const { cores, processor, node } = thisMachine()
    const apart = await costsApart(undo.add)
    await undo.downTo(1)
    const disk = await costsOnDisk(join(folder, 'disk'))
    const hearing = await hearingCosts()
    return {
      machine: `${cores} cores (${processor}), Node ${node}`,
      day: new Date().toISOString().slice(0, 10),
      ...apart,
      turn: { ...apart.turn, ...disk.turn },
      event: { ...apart.event, ...disk.event, hearingProcessor: hearing.event },
      heartbeatProcessor: hearing.heartbeat,
    }
  } finally {
    await undo.downTo(0)
  }
}
