/** The resident memory of the whole product when nothing happens. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startProduct } from '../../product.ts'
import { startBareKoa } from '../floors/koa.ts'
import { residentMegabytes } from '../processes.ts'
import type { Row } from '../row.ts'

const idleMs = 10_000

export const idleMemory: Row = {
  name: 'memory',
  async measure(scene) {
    const product = await startProduct({ dataDir: join(scene.folder, 'data') })
    scene.atEnd(() => product.stop())
    const koa = await startBareKoa(scene)
    await pause(idleMs)
    const processes = await product.processes()
    const memory = await Promise.all(processes.map(({ pid }) => residentMegabytes(pid)))
    return [
      {
        name: `resident memory of ${processes.length === 1 ? 'the process' : `${processes.length} processes`}, 10 s after the start`,
        unit: 'MB',
        figure: memory.reduce((sum, megabytes) => sum + megabytes, 0),
        floor: { name: 'bare Koa', figure: await residentMegabytes(koa.pid) },
      },
    ]
  },
}
