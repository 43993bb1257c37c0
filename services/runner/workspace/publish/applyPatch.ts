/** Changes a task's tree by a patch, from inside of the box: whatever an agent made of the tree, nothing outside of it is written. */
import { lastWords } from '../git/git.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import type { Workspace } from '../workspace.ts'
import { agentLimits } from '../../execution/runLimits.ts'

const withinMs = 120_000

/** Applies the patch as a whole. Gives why it could not, as words that go on from a colon; then nothing was changed. */
export async function applyPatch(
  sandbox: Sandbox,
  workspace: Workspace,
  patch: Buffer,
): Promise<string | null> {
  const child = sandbox.run({
    command: ['git', 'apply', '--whitespace=nowarn', '-'],
    // Without a repository: what stands in the agent's is of no account.
    env: { GIT_DIR: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    workspace,
    readOnly: [],
    sockets: [],
    stdin: 'pipe',
    limits: { ...agentLimits, wallMs: withinMs },
  })
  const told: Buffer[] = []
  child.stdout.resume()
  child.stderr.on('data', (chunk: Buffer) => told.push(chunk))
  // One that ended early does not read all.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(patch)
  const { code, signal, reason } = await child.exited
  if (code === 0) return null
  const endedBy = reason === 'time_limit' ? 'time_limit' : 'itself'
  return lastWords({ code, signal, endedBy, stdout: Buffer.alloc(0), stderr: Buffer.concat(told) })
}
