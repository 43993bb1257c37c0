/** A machine on which sandboxes lack the filter of system calls. */
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { getNotices } from '#domain/api/server.schema.ts'
import { cleanEnvironment, ownFolder } from '../product.ts'
import { hasEnded, openScene } from '../server/scene.ts'

/** A bubblewrap as on a kernel without filters, which accepts the option all the same. */
const withoutFilter = (path: string) => `#!/bin/bash
args=()
while [ $# -gt 0 ]; do
  case $1 in
    --seccomp) shift 2 ;;
    --) break ;;
    *) args+=("$1"); shift ;;
  esac
done
PATH=${path} exec bwrap "\${args[@]}" "$@"
`

/** Runs a task on such a machine: returns the outcome, and what is reported about the sandbox. */
export async function taskInWeakSandbox(env: Readonly<Record<string, string>>) {
  const folder = await ownFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = join(folder, 'bwrap')
  const path = cleanEnvironment(folder)['PATH'] ?? ''
  await writeFile(program, withoutFilter(path))
  await chmod(program, 0o755)
  const PATH = `${folder}:${path}`
  const scene = await openScene([{ when: /^Begin/, turns: [{ text: 'It has begun.' }] }], {
    env: { PATH, ...env },
  })
  onTestFinished(() => scene.close())
  const { ada, projectId, product } = scene
  const { id } = await ada.task(projectId, 'Begin')
  const task = await ada.taskOnce(id, hasEnded)
  const ready = await fetch(`${product.base}/readyz`)
  const { details } = z
    .looseObject({ details: z.record(z.string(), z.array(z.string())) })
    .parse(await ready.json())
  const { notices } = await ada.ask(getNotices)
  return {
    task,
    isReady: ready.ok,
    lacks: details['runner'] ?? [],
    notices: notices.join('\n'),
    asked: scene.api.requests.length,
  }
}

export const noFilter = /^No filter of system calls is loaded/
