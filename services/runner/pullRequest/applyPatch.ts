/** Changes a task's tree by a patch, from inside the sandbox: whatever an agent made of the tree, nothing outside it is written. */
import { agentLimits } from '../execution/runLimits.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { lastWords } from '../workspace/git/git.ts'
import type { Workspace } from '../workspace/workspace.ts'

const applyTimeoutMs = 120_000

/** Applies the patch as a whole, or changes nothing and gives the reason, worded to follow a colon. */
export async function applyPatch(
  sandbox: Sandbox,
  workspace: Workspace,
  patch: Buffer,
): Promise<string | null> {
  const child = sandbox.run({
    command: ['git', 'apply', '--whitespace=nowarn', '-'],
    // Without a repository: the settings of the agent's repository must not count.
    env: { GIT_DIR: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    workspace,
    readOnly: [],
    sockets: [],
    stdin: 'pipe',
    limits: { ...agentLimits, wallMs: applyTimeoutMs },
  })
  const stderr: Buffer[] = []
  child.stdout.resume()
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  // A process that ended early does not read all of it.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(patch)
  const { code, signal, reason } = await child.exited
  if (code === 0) return null
  const endedBy = reason === 'time_limit' ? 'time_limit' : 'itself'
  return lastWords({ code, signal, endedBy, stdout: Buffer.alloc(0), stderr: Buffer.concat(stderr) })
}
