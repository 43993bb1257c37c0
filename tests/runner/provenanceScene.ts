/** A task's turns, and people who work on its branch at the host meanwhile, for tests. */
import { spawnSync } from 'node:child_process'
import { gitText } from '../../services/runner/workspace/git/git.ts'
import { commitAndPush, type PublishResult } from '../../services/runner/workspace/publish/publish.ts'
import { saveWork } from '../../services/runner/workspace/saved/bundle.ts'
import {
  linesAddedBy,
  provenanceOf,
  type FileProvenance,
  type ProvenanceRequest,
  type TurnSnapshot,
} from '../../services/runner/workspace/saved/provenance.ts'
import { restoreInPlace } from '../../services/runner/workspace/saved/restoreInPlace.ts'
import type { Workspace } from '../../services/runner/workspace/workspace.ts'
import { makeScene, testGit, testPath, type Scene } from './workspaceScene.ts'

const person = {
  GIT_AUTHOR_NAME: 'Ada Lovelace',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada Lovelace',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

export interface ProvenanceScene {
  readonly scene: Scene
  readonly workspace: Workspace
  /** The turns that were not undone, oldest first. */
  readonly turns: TurnSnapshot[]
  endTurn(name: string): Promise<void>
  /** Goes back to the end of the previous turn. */
  undo(): Promise<void>
  publish(): Promise<PublishResult>
  /** Merges main into the branch at the host, as a person does there; returns whether there were no conflicts. */
  mergeMain(): Promise<boolean>
  /** Replaces the branch at the host with a single commit on main that has the same files. */
  squashOntoMain(): Promise<void>
  provenance(path: string): Promise<FileProvenance | null>
  /** The origins of a file's lines, as `from-to turn`. */
  told(path: string): Promise<readonly string[]>
  added(commit: string): ReturnType<typeof linesAddedBy>
}

export async function makeProvenanceScene(files: Readonly<Record<string, string>>): Promise<ProvenanceScene> {
  const scene = await makeScene(files)
  const workspace = await scene.prepare()
  const { privateGitDir, startCommit, branch } = workspace
  const turns: TurnSnapshot[] = []
  let isUndone = false
  const request = (): ProvenanceRequest => ({ git: testGit, privateGitDir, startCommit, turns, isUndone })
  const atHost = (...args: string[]) => gitText(testGit, { gitDir: scene.remote, args, env: person })
  const setBranch = (commit: string) => atHost('update-ref', `refs/heads/${branch}`, commit)
  const on = { git: testGit, treeGit: testGit, workspace }
  const provenance = (path: string) => provenanceOf(request(), path)
  return {
    scene,
    workspace,
    turns,
    async endTurn(name) {
      const saved = await saveWork({ ...on, keepAs: `refs/flightdeck/turns/${name}` })
      if (saved.kind === 'too_large') throw new Error(saved.message)
      turns.push({ turn: name, work: saved.work })
      isUndone = false
    },
    async undo() {
      turns.pop()
      const target = turns.at(-1)?.work ?? startCommit ?? ''
      const restored = await restoreInPlace({ ...on, path: testPath, target })
      if (restored.kind !== 'restored') throw new Error(restored.message)
      isUndone = true
    },
    publish: () =>
      commitAndPush({
        ...on,
        url: scene.remote,
        message: 'Work',
        author: { name: 'Grace Hopper', email: 'grace@example.com' },
        secrets: [],
        applyPatch: async (patch) => {
          const { status, stderr } = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], {
            cwd: workspace.dir,
            input: patch,
            env: { PATH: testPath, GIT_DIR: '/nonexistent' },
          })
          return status === 0 ? null : stderr.toString()
        },
      }),
    async mergeMain() {
      const args = ['merge-tree', '--write-tree', '--no-messages', branch, 'main']
      const merged = await testGit({ gitDir: scene.remote, args })
      if (merged.code !== 0) return false
      const tree = merged.stdout.toString().trim()
      await setBranch(await atHost('commit-tree', '-p', branch, '-p', 'main', '-m', 'Merge main', tree))
      return true
    },
    async squashOntoMain() {
      await setBranch(await atHost('commit-tree', '-p', 'main', '-m', 'Squashed', `${branch}^{tree}`))
    },
    provenance,
    told: async (path) =>
      ((await provenance(path))?.ranges ?? []).map(
        ({ from, to, turn }) => `${from}-${to} ${turn ?? 'unknown'}`,
      ),
    added: (commit) => linesAddedBy(request(), commit),
  }
}
