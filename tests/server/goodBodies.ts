/** A valid body and a valid query for each call. */
import { randomUUID } from 'node:crypto'
import type { AnyCall } from '#domain/api/call.schema.ts'

export const nameOf = ({ method, path }: AnyCall): string => `${method} ${path}`

/** A valid body; `undefined` for a call without one. */
export function goodBody(
  call: AnyCall,
  { projectId, repoUrl }: { readonly projectId: string; readonly repoUrl: string },
): Readonly<Record<string, unknown>> | undefined {
  const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    'POST /auth/register': { name: 'Somebody', email: 'somebody@example.org', password: 'correct horse' },
    'POST /page-views': { route: '/dashboard' },
    'POST /auth/login': { email: 'somebody@example.org', password: 'correct horse' },
    'PUT /auth/profile': { fullName: 'Somebody Else' },
    'PUT /profile/instructions': { instructions: 'Taken over' },
    'POST /auth/complete-onboarding': { fullName: 'Somebody', companySize: 'solo', role: 'developer' },
    'PUT /profile/agent-keys': { provider: 'openai', value: null },
    'POST /projects': { repoUrl },
    'PUT /projects/:projectId': { name: 'Taken over' },
    'POST /projects/:projectId/prepare': { taskId: randomUUID(), branch: 'main' },
    'PUT /projects/:projectId/settings': { variables: [{ name: 'STAGE', value: 'test' }] },
    'PUT /projects/:projectId/secrets/:name': { value: 'not to be shown' },
    'PUT /projects/:projectId/mcp-servers': { servers: [] },
    'PUT /profile/mcp-servers': { servers: [] },
    'POST /projects/:projectId/mcp-servers/:serverId/sign-in': { origin: 'http://localhost' },
    'POST /profile/mcp-servers/:serverId/sign-in': { origin: 'http://localhost' },
    'POST /mcp-sign-in': { query: 'state=none' },
    'POST /github/repos': { name: 'planted' },
    'POST /tasks': { description: 'Words', projectId, branch: 'main' },
    'PUT /tasks/:taskId': { title: 'Taken over' },
    'POST /tasks/:taskId/execute': { command: 'id' },
    'POST /tasks/:taskId/alternatives': { agent: 'claude' },
    'POST /tasks/:taskId/fork': { executionId: randomUUID() },
    'POST /tasks/:taskId/undo': { executionId: randomUUID() },
    'POST /tasks/:taskId/chat': { message: 'Words' },
    'PUT /tasks/:taskId/chat/:messageId': { message: 'Taken over' },
    'PUT /tasks/:taskId/queue': { messageIds: [] },
    'POST /tasks/:taskId/questions/:questionId/answer': { answer: 'Words' },
    'POST /tasks/:taskId/pr/draft': { draft: true },
  }
  return bodies[nameOf(call)]
}

/** The query that a call requires. */
export function goodQuery(
  call: AnyCall,
  { executionId, revision }: { readonly executionId: string; readonly revision: string },
): Readonly<Record<string, string>> {
  const queries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'GET /tasks/:taskId/git/file': { path: 'README.md', from: '1', to: '2' },
    'GET /tasks/:taskId/undo/preview': { executionId },
    'GET /tasks/:taskId/history/changes': { revision },
    'GET /tasks/:taskId/provenance': { path: 'README.md' },
  }
  return queries[nameOf(call)] ?? {}
}
