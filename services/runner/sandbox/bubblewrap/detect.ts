/** Finds out whether bubblewrap works on this machine, by making a sandbox. */
import { run } from '#platform/childProcess.ts'
import { bubblewrap } from './bubblewrap.ts'
import { openControlGroups, type ControlGroups } from './controlGroups.ts'
import { findProgram } from './findProgram.ts'
import { hostSystem, inheritedDescriptors } from './hostPaths.ts'
import { findToolchains, type ToolchainRequest } from './toolchains.ts'
import type { Sandbox } from '../port.ts'
import { trySandbox, withTrialWorkspace, type Detected } from '../probe.ts'
import { seccompFilter } from '../systemCalls.ts'

export interface DetectRequest {
  /** The PATH in which `bwrap` is searched for. */
  readonly path: string
  /** An existing folder that will contain the workspaces. The workspace of the trial sandbox is made in it, too. */
  readonly root: string
  /** The path or name of git inside the sandbox. */
  readonly gitProgram: string
  /** Which of this host's toolchains sandboxes can use; none by default. */
  readonly toolchains?: Omit<ToolchainRequest, 'system'>
  /** How the memory of sandboxes is counted; detected by default. */
  readonly groups?: ControlGroups
}

/** Tries a sandbox with bubblewrap, and says whether it works on this machine. Takes about 100 ms, at most 50 s. */
export async function detectBubblewrap({
  path,
  root,
  gitProgram,
  toolchains = { environment: {}, allowed: [] },
  groups: known,
}: DetectRequest): Promise<Detected> {
  if (process.platform !== 'linux')
    return {
      kind: 'fails',
      why: 'Sandboxes require Linux. On another system, run the server in a Linux container: docs/containers.md, "On a Mac".',
    }
  const program = findProgram('bwrap', path)
  if (program === undefined) return { kind: 'fails', why: howToInstall }
  const groups = known ?? (await openControlGroups())
  const system = hostSystem()
  const found = findToolchains({ ...toolchains, system })
  const parts = {
    program,
    system,
    toolchains: found,
    inherited: inheritedDescriptors(),
    gitProgram,
    groups: typeof groups === 'string' ? undefined : groups,
  }
  const memory = typeof groups === 'string' ? countedByProcesses(groups) : groups.says
  const [kernel, processes] = [
    seccompFilter(process.arch, 'kernel'),
    seccompFilter(process.arch, 'processes'),
  ]
  const filters = kernel && processes && { kernel, processes }
  return withTrialWorkspace(root, async (workspace): Promise<Detected> => {
    const tried = async (sandbox: Sandbox): Promise<Detected> => {
      const shortcomings = await trySandbox(sandbox, workspace)
      if (typeof shortcomings === 'string') return { kind: 'fails', why: shortcomings }
      return { kind: 'works', sandbox, shortcomings, memory, toolchains: found.names }
    }
    const first = await tried(bubblewrap({ ...parts, filters }))
    if (first.kind === 'works') return first
    // On a kernel without filters, sandboxes work but are weaker.
    const weaker = filters && (await tried(bubblewrap({ ...parts, filters: undefined })))
    if (weaker?.kind === 'works') return weaker
    const why = `${await versionOf(program)} cannot make a sandbox here (${first.why}). ${howToAllow}`
    return { kind: 'fails', why }
  })
}

async function versionOf(program: string): Promise<string> {
  const limits = { env: {}, timeoutMs: 5_000, maxOutputBytes: 1_000 }
  return (await run(program, ['--version'], limits)).stdout.toString('utf8').trim() || 'bubblewrap'
}

/** The sentence for memory that is counted by looking at processes; `why` is a clause with the reason. */
const countedByProcesses = (why: string): string =>
  `The memory of a sandbox is counted by looking at its processes, twice a second, as ${why}. So a sandbox can make no memfd and no large segment of System V. A control group of the server's own mends that: Delegate=yes in its systemd unit.`

const howToInstall =
  'bubblewrap is not installed. `apt-get install bubblewrap` (Debian, Ubuntu) or `dnf install bubblewrap` (Fedora) brings it.'

const howToAllow =
  'In a container, give it the right to make namespaces (for Docker: `--security-opt seccomp=unconfined --cap-add SYS_ADMIN`); on Ubuntu, `sysctl kernel.apparmor_restrict_unprivileged_userns=0` lets other users than root make sandboxes.'
