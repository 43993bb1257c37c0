/** Bare Koa in a process of its own. */
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess, type Started } from '../processes.ts'
import { environment, root } from '../project.ts'
import type { Scene } from '../row.ts'

const listening = /^Listening on (\d+)$/

/** Koa that answers one small thing. */
export function startBareKoa(scene: Scene): Promise<Started> {
  return start(scene, 'bareKoa.js', [])
}

/** Koa with a JSON body parser, and its answers by path; `*` stands for any other path. Returns its base address. */
export async function startAnsweringKoa(
  scene: Scene,
  answers: Readonly<Record<string, unknown>>,
): Promise<string> {
  const file = join(scene.folder, `answers-${randomUUID()}.json`)
  await writeFile(file, JSON.stringify(answers))
  const { line } = await start(scene, 'answeringKoa.js', [file])
  return `http://127.0.0.1:${listening.exec(line)?.[1] ?? ''}`
}

async function start(scene: Scene, script: string, args: readonly string[]): Promise<Started> {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const started = await startProcess([process.execPath, file, ...args], {
    cwd: root,
    env: environment(scene.folder),
    ready: listening,
  })
  scene.atEnd(() => started.stop())
  return started
}
