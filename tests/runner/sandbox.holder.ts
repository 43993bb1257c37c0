/**
 * A program for tests that starts a sandbox, as the server does, reports that, and waits to be killed. Its arguments are the workspace as JSON and,
 * for a sandbox that is a container, the engine as JSON.
 */
import type { Workspace } from '../../services/runner/workspace/workspace.ts'
import { findTestSandbox, type TestEngine } from './testSandbox.ts'

const workspace: Workspace = JSON.parse(process.argv[2] ?? '')
const engine: TestEngine | undefined = process.argv[3] === undefined ? undefined : JSON.parse(process.argv[3])
const { sandbox } = await findTestSandbox(engine)
const child = sandbox?.run({
  command: ['bash', '-c', 'setsid sleep 1000 & echo started; sleep 1000'],
  env: {},
  workspace,
  readOnly: [],
  sockets: [],
  stdin: 'ignore',
  limits: { memoryBytes: 1024 ** 3, processes: 64, fileSizeBytes: 1024 ** 2, wallMs: 60_000 },
})
// A program that was started later must end, too.
if (sandbox?.kind === 'bubblewrap') await child?.exec({ command: ['sleep', '1000'], env: {} })
child?.stdout.pipe(process.stdout)
