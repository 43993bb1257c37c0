/** Kinds of questions, options of plans, permissions and forms, and labels of modes. No schemas, so that the client loads no zod. */
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
