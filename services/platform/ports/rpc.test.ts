import { expect, test } from 'vitest'
import { rpcCalls } from './rpc.ts'

test.each([
  ['changes', { taskId: 'a-task', baseBranch: 'main' }],
  ['mcpTools', { of: 'person', id: 'ada', serverId: 'a-server' }],
] as const)('a process of an older version may ask for %s without saying for whom', (name, request) => {
  expect(rpcCalls[name].request.parse(request)).toEqual({ ...request, ownerId: '' })
})
