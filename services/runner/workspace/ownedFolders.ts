/** Folders that an agent may have filled: given to another user, and taken away. */
import { lchown, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { run, type HostUser } from '../process.ts'

/** Gives folders, with all that is in them, to a user. Links are given and not followed. */
export async function giveTo({ uid, gid }: HostUser, dirs: readonly string[], path: string): Promise<void> {
  await runOrThrow('chown', ['-R', '-h', `${uid}:${gid}`, '--', ...dirs], path)
}

/** The same for a folder of a few files that only we have written: a process would take longer than they do. */
export async function giveFew({ uid, gid }: HostUser, dir: string): Promise<void> {
  const names = await readdir(dir, { recursive: true })
  await Promise.all(['.', ...names].map((name) => lchown(join(dir, name), uid, gid)))
}

/** `rm` and not Node's: it goes by open folders, so that no depth and no race of an agent's making leads it astray. */
export async function removeFolder(dir: string, path: string): Promise<void> {
  // Folders without their write bit cannot be emptied by a user that is not root.
  if (process.getuid?.() !== 0)
    await run('chmod', ['-R', '-f', 'u+rwX', '--', dir], { env: { PATH: path }, ...limits })
  await runOrThrow('rm', ['-rf', '--', dir], path)
}

async function runOrThrow(file: string, args: readonly string[], path: string): Promise<void> {
  const finished = await run(file, args, { env: { PATH: path, LC_ALL: 'C.UTF-8' }, ...limits })
  if (finished.endedBy !== 'itself' || finished.code !== 0)
    throw new Error(`${file} failed: ${finished.stderr.toString('utf8').slice(0, 500) || finished.endedBy}`)
}

const limits = { timeoutMs: 300_000, maxOutputBytes: 65_536 }
