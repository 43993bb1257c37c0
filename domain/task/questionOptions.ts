/** The kinds of an agent's questions, and the options of plans, permissions and forms. The client imports this file, so it has no schema. */
import type { agentModes } from '../agents/capabilities.ts'

/** `question` has options or free text, `plan` asks for approval, `permission` asks to use a tool, and `form` asks for values for an MCP server. */
export const questionKinds = ['question', 'plan', 'permission', 'form'] as const

/** The values of the options of plans, permissions and forms. */
export const planOptions = { approve: 'approve', approveAndAsk: 'approve_and_ask', sendBack: 'send_back' }
export const formOptions = { decline: 'decline' }
export const permissionOptions = { allow: 'allow', allowInTask: 'allow_in_task', deny: 'deny' }

/** The names under which people see the modes. */
export const modeLabels: Readonly<Record<(typeof agentModes)[number], string>> = {
  plan: 'Plan first',
  free: 'Work freely in the sandbox',
  ask: 'Ask before each change',
}
