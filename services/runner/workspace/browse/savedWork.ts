/** Opens the saved work of a task that has no workspace here. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scratch } from '../../scratch.ts'
import { commitOf, type Git } from '../git/git.ts'
import type { MirrorPlace } from '../git/mirror.ts'
import { copyShallow, layOut, repositoryConfig, writeAlternates } from '../git/repositoryLayout.ts'
import { openBundle, prerequisitesOf } from '../saved/bundle.ts'

/** Calls a function with a git directory and the commit of the saved files; `undefined` when they cannot be opened. Throws `GitFault`. */
export async function withSavedWork<T>(
  { git, scratch }: { readonly git: Git; readonly scratch: Scratch },
  { bundle, mirror }: { readonly bundle: Uint8Array; readonly mirror: MirrorPlace },
  use: (gitDir: string, commit: string) => Promise<T>,
): Promise<T | undefined> {
  const began = prerequisitesOf(bundle)
  if (!began) return undefined
  for (const commit of began) if ((await commitOf(git, mirror.dir, commit)) === null) return undefined
  const folder = await scratch.make()
  try {
    const gitDir = join(folder, 'git')
    await mkdir(gitDir, { mode: 0o700 })
    // Makes refs to the commits that the mirror has. git then checks only the objects that are new in the bundle.
    const refs = began.map((commit, index) => [`refs/flightdeck/began/${index}`, commit] as const)
    layOut(gitDir, { branch: 'saved', config: repositoryConfig, refs })
    await writeAlternates(gitDir, mirror.objects)
    await copyShallow(mirror.dir, gitDir)
    const place = { privateGitDir: gitDir, mirrorDir: mirror.dir, startCommit: began[0] ?? null }
    const opened = await openBundle(git, place, bundle)
    return 'message' in opened ? undefined : await use(gitDir, opened.work)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
