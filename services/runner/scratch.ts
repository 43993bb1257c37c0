/**
 * Temporary folders of a runner, for example for the sockets of sandboxes. They are in the system's temporary folder, because the path of a socket
 * must be short.
 */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Scratch {
  /** Makes a new folder. A sandbox's user can open files in it by name, but not list them. The caller removes it. */
  make(): Promise<string>
}

/** Opens the scratch folder of a runner, and removes what the runner left when it was killed. There is only one runner with this id at a time. */
export async function openScratch(runnerId: string): Promise<Scratch> {
  const prefix = `flightdeck-${createHash('sha256').update(runnerId).digest('hex').slice(0, 10)}-`
  const left = namesInTemporary().filter((name) => name.startsWith(prefix))
  for (const name of left) await rm(join(tmpdir(), name), { recursive: true, force: true })
  return {
    async make() {
      const folder = await mkdtemp(join(tmpdir(), prefix))
      await chmod(folder, 0o711)
      return folder
    },
  }
}

function namesInTemporary(): readonly string[] {
  try {
    return readdirSync(tmpdir())
  } catch (fault) {
    throw new Error(
      `The folder ${tmpdir()} for temporary files cannot be read. Make it, or point TMPDIR at another.`,
      { cause: fault },
    )
  }
}
