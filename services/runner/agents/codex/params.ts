/** The parameters of our requests to `codex app-server`. */
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { AgentMessage, ModelUse } from '../port.ts'

export const initialization = {
  clientInfo: { name: 'flightdeck', title: 'Flightdeck', version: '1' },
  // Planning needs the experimental API.
  capabilities: { experimentalApi: true, requestAttestation: false },
}

/** The approval policy for a mode. In the sandbox codex may do anything without asking, unless the person wants a plan first or wants to be asked. */
const approvalPolicy = (mode: AgentMode) => (mode === 'free' ? 'never' : 'untrusted')

interface Thread {
  readonly workspace: string
  readonly mode: AgentMode
  readonly use: ModelUse
}

export const threadParams = ({ workspace, mode, use }: Thread) => ({
  cwd: workspace,
  approvalPolicy: approvalPolicy(mode),
  // Our own sandbox confines codex.
  sandbox: 'danger-full-access',
  ...(use.model !== null && { model: use.model }),
})

interface Turn {
  readonly thread: string
  readonly mode: AgentMode
  readonly model: string
  readonly effort: string | null
}

export const turnParams = ({ thread: threadId, mode, model, effort }: Turn, input: readonly object[]) => ({
  threadId,
  input,
  approvalPolicy: approvalPolicy(mode),
  collaborationMode: {
    mode: mode === 'plan' ? 'plan' : 'default',
    settings: { model, reasoning_effort: effort, developer_instructions: null },
  },
})

export const inputOf = ({ text, images }: Pick<AgentMessage, 'text' | 'images'>): readonly object[] => [
  ...images.map(({ mediaType, base64 }) => ({ type: 'image', url: `data:${mediaType};base64,${base64}` })),
  ...textInput(text),
]

export const textInput = (text: string) => (text === '' ? [] : [{ type: 'text', text, text_elements: [] }])
