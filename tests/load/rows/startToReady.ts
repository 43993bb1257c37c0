/** From the start of the process to the line that reports readiness, on an existing data folder. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startBareKoa } from '../floors/koa.ts'
import { freePorts } from '../../product.ts'
import { startProcess, timeToExit } from '../processes.ts'
import { environment, root } from '../project.ts'
import type { Line, Row } from '../row.ts'
import { medianTimes, median } from '../statistics.ts'

const starts = 5

export const startToReady: Row = {
  name: 'start',
  async measure(scene) {
    const ports = await freePorts()
    const env = environment(scene.folder, {
      PORT: String(ports.product),
      CODEHOST_PORT: String(ports.codeHost),
      DATA_DIR: join(scene.folder, 'data'),
    })
    const start = async (...command: readonly [string, ...string[]]) => {
      const product = await startProcess(command, { cwd: root, env, ready: /^Flightdeck is ready/ })
      await product.stop()
      return product.readyMs
    }
    const startServer = () => start(process.execPath, join(root, 'dist/server/main.js'))
    // The first start creates the data folder and the sample repository, and is not measured.
    await startServer()

    const npmFolder = join(scene.folder, 'npm')
    await mkdir(npmFolder)
    await writeFile(join(npmFolder, 'package.json'), JSON.stringify({ scripts: { start: 'node -e 0' } }))

    const koaMs: number[] = []
    const direct = await medianTimes(starts, {
      figure: startServer,
      floor: async () => {
        const koa = await startBareKoa(scene)
        await koa.stop()
        koaMs.push(koa.readyMs)
        return timeToExit([process.execPath, '-e', '0'], { cwd: root, env })
      },
    })
    const byNpm = await medianTimes(starts, {
      figure: () => start('npm', 'start'),
      floor: () => timeToExit(['npm', 'start'], { cwd: npmFolder, env }),
    })
    const name = 'node dist/server/main.js to ready, second start'
    const lines: readonly Line[] = [
      { name, unit: 'ms', figure: direct.figure, floor: { name: 'node -e 0', figure: direct.floor } },
      {
        name,
        unit: 'ms',
        figure: direct.figure,
        floor: { name: 'bare Koa to listening', figure: median(koaMs) },
      },
      {
        name: 'npm start to ready, second start',
        unit: 'ms',
        figure: byNpm.figure,
        floor: { name: 'npm start of `node -e 0`', figure: byNpm.floor },
      },
    ]
    return lines
  },
}
