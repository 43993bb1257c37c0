/** Keeps what a setup leaves in a workspace and in its home, for the tasks that follow. */
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { valuesOf } from '../execution/taskSecrets.ts'
import type { CommandRun } from '../execution/sandboxCommand.ts'
import type { SandboxEnvs } from '../execution/sandboxEnv.ts'
import { removeFolder } from '../workspace/agentFiles.ts'
import { treeDifferences, withScratchIndex } from '../workspace/changes/indexDifferences.ts'
import { floorsOf } from '../workspace/diskDecision.ts'
import { freeBytes, inGigabytes } from '../workspace/diskWatch.ts'
import { gitOrThrow } from '../workspace/git/git.ts'
import { namedOf } from '../workspace/names.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { packHome, packTree, unpack, type Packing } from './setupArchive.ts'
import { NotKept, searchFor } from './archiveFilter.ts'
import type { Environment } from './environment.ts'
import type { EnvironmentRecord } from './environmentRecord.ts'
import { archivesIn, beginLayer, keepLayer } from './layers.ts'

export type PackingDeps = Pick<WorkspaceDeps, 'root' | 'path' | 'logger' | 'environments' | 'treeGitFor'> &
  Pick<RecordingDeps, 'redaction'>

export interface OfSetup {
  readonly run: CommandRun
  readonly envs: Pick<SandboxEnvs, 'secrets'>
}

interface Kept {
  readonly seconds: number
  readonly log: () => Promise<string>
  readonly record: EnvironmentRecord
  readonly usedAt: number | undefined
}

const mostLeftOut = 20
const longestLeftOut = 300

/** Prepares to keep what a setup leaves. `close` removes the files that did not become a layer. */
export async function beginPacking(deps: PackingDeps, { run, envs }: OfSetup, environment: Environment) {
  const { root, path, logger, environments } = deps
  const { projectId, workspace, sandbox, key, commit, mayBeKept, isDefaultBranch } = environment
  const { signal } = run.stopping
  const half = await beginLayer(root)
  const archives = archivesIn(half)
  const leftOut = namesLeftOut()
  const common: Omit<Packing, 'to' | 'workspace'> = {
    sandbox,
    search: searchFor(valuesOf(envs.secrets)),
    signal,
    leftOut: leftOut.add,
    mayWrite(bytes) {
      if (bytes > environments.mostBytes)
        throw new NotKept(`What the setup left takes up more than ${inGigabytes(environments.mostBytes)}.`)
      if (freeBytes(root) < floorsOf(environments.leastFree).begin)
        throw new NotKept("The server's disk is nearly full.")
    },
  }
  let home: number | NotKept | undefined
  const orReason = (fault: unknown): NotKept => {
    if (fault instanceof NotKept) return fault
    logger.error({ err: fault, projectId }, 'failed to keep what a setup left')
    return new NotKept('This server failed to keep what the setup left; its log says why.')
  }

  async function keepAll(usedAt: number | undefined): Promise<number> {
    if (home === undefined || home instanceof NotKept) throw home ?? new NotKept('Its home is gone.')
    const packed = home
    const mayWrite = (bytes: number) => common.mayWrite(packed + bytes)
    await refuseOtherChanges(deps, workspace)
    const tree = await packTree(
      { ...common, mayWrite, workspace, to: archives.tree },
      await ignoredPaths(deps, workspace),
    )
    const bytes = packed + tree
    await keepLayer(deps, half, { projectId, key, commit, builtAt: Date.now(), bytes, usedAt })
    return bytes
  }

  return {
    async packHome(ofCommand: Workspace): Promise<void> {
      home = await packHome({ ...common, workspace: ofCommand, to: archives.home }).catch(orReason)
    },
    /** `stopped`: the run was stopped before everything was kept, and this call has recorded nothing. */
    async keep({ seconds, log, record, usedAt }: Kept): Promise<'kept' | 'not_kept' | 'stopped'> {
      if (typeof home === 'number')
        await unpack(
          sandbox,
          workspace,
          { tree: undefined, home: archives.home },
          { over: false, signal },
        ).catch((fault: unknown) => (signal.aborted ? undefined : orReason(fault)))
      if (signal.aborted) return 'stopped'
      if (!mayBeKept || environments.notKept.has(key.setupAndLocks)) return 'not_kept'
      const bytes = await keepAll(usedAt).catch(orReason)
      if (bytes instanceof NotKept) {
        if (signal.aborted) return 'stopped'
        environments.notKept.add(key.setupAndLocks)
        // The message names files, and the name of a file may contain a secret.
        const reason = await deps.redaction(valuesOf(envs.secrets)).text(bytes.message)
        await run.output.note(`Its result is not kept for other tasks. ${reason}\n`)
        await record.failed('not_kept', { reason, log: await log() }, environment.usable)
        return 'not_kept'
      }
      const named = leftOut.count() === 0 ? '' : ` ${secretsIn(leftOut)}`
      await run.output.note(
        `Its result is kept for other tasks${isDefaultBranch ? '' : ' of this branch'}.${named}\n`,
      )
      await record.prepared({ seconds, bytes }, { log: await log(), leftOut: [...leftOut.first()] })
      return 'kept'
    },
    close: () => removeFolder(half, path),
  }
}

export const secretsIn = ({ first, count }: ReturnType<typeof namesLeftOut>): string => {
  const named = first().slice(0, 5)
  const others = count() - named.length
  return `Files with a secret of the project are left out: ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}.`
}

/** Gathers the names of the first files, cut short, and counts all files: a setup may leave any number. */
export function namesLeftOut() {
  const names: string[] = []
  let count = 0
  return {
    add(name: string): void {
      count += 1
      if (names.length < mostLeftOut) names.push(name.slice(0, longestLeftOut))
    },
    first: (): readonly string[] => names,
    count: () => count,
  }
}

/** Throws `NotKept` when the setup changed anything that git does not ignore: a task that uses the kept environment would not get this change. */
async function refuseOtherChanges({ treeGitFor }: PackingDeps, workspace: Workspace): Promise<void> {
  const { tracked, untracked, nested } = await withScratchIndex(workspace, (index) =>
    treeDifferences(treeGitFor(workspace), workspace, index, 10),
  )
  const changed = [...tracked, ...untracked, ...nested].map((name) => name.toString('utf8'))
  if (changed.length > 0)
    throw new NotKept(
      `The setup changes files that git does not ignore (${namedOf(changed, 3)}), so it has to run for each task. Add them to .gitignore, or use a command that leaves them as they are.`,
    )
}

/** The paths in the tree that git ignores, each ended by NUL; a folder of which everything is ignored is one path. */
async function ignoredPaths({ treeGitFor }: PackingDeps, workspace: Workspace): Promise<Buffer> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
  const { privateGitDir: gitDir, dir: workTree } = workspace
  const { stdout } = await gitOrThrow(treeGitFor(workspace), { gitDir, workTree, args })
  let folder: string | undefined
  const paths = stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => {
      // If a folder ignores itself by its own .gitignore, git names the folder and also each file in it.
      if (path === '' || (folder !== undefined && path.startsWith(folder))) return false
      folder = path.endsWith('/') ? path : folder
      return true
    })
  return Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')
}
