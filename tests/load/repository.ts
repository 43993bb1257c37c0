/** Real git, for measurements outside of the product. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { environment } from './project.ts'
import type { Scene } from './row.ts'

export async function git(scene: Scene, args: readonly string[]): Promise<void> {
  await promisify(execFile)('git', args, { env: environment(scene.folder, {}) })
}

/** Turns a folder into a repository, with everything in it as one commit on `main`. */
export async function makeRepository(scene: Scene, folder: string): Promise<void> {
  await git(scene, ['init', '--quiet', '--initial-branch=main', '--', folder])
  await git(scene, ['-C', folder, 'add', '--all'])
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
  await git(scene, ['-C', folder, ...who, 'commit', '--quiet', '--message', 'All'])
}

/** Makes a repository with one small file in a new folder. */
export async function makeSampleRepository(scene: Scene, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'README.md'), '# Sample\n')
  await makeRepository(scene, folder)
}
