/** A repository of some kilobytes with more files than any disk has room for: the same folder occurs in itself, many times on many levels. */
import { execFileSync } from 'node:child_process'

/** Creates a commit whose tree has `width` to the power of `levels` files, in a git directory; returns the commit. */
export function treeBomb(gitDir: string, { levels, width }: { levels: number; width: number }): string {
  let entry = `100644 blob ${gitAs(gitDir, ['hash-object', '-w', '--stdin'], 'boom\n')}`
  for (let level = 0; level < levels; level += 1) {
    const lines = Array.from({ length: width }, (_, n) => `${entry}\tf${n}`).join('\n')
    entry = `040000 tree ${gitAs(gitDir, ['mktree'], `${lines}\n`)}`
  }
  return gitAs(gitDir, ['commit-tree', '-m', 'Boom', entry.split(' ')[2] ?? ''])
}

/** Creates such a commit and points a branch to it. */
export function plantBomb(gitDir: string, branch: string, size: Parameters<typeof treeBomb>[1]): void {
  gitAs(gitDir, ['update-ref', `refs/heads/${branch}`, treeBomb(gitDir, size)])
}

function gitAs(gitDir: string, args: readonly string[], input = ''): string {
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_DIR: gitDir,
    GIT_AUTHOR_NAME: 'Eve',
    GIT_AUTHOR_EMAIL: 'eve@example.com',
    GIT_COMMITTER_NAME: 'Eve',
    GIT_COMMITTER_EMAIL: 'eve@example.com',
  }
  return execFileSync('git', args, { input, encoding: 'utf8', env }).trim()
}
