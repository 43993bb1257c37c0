import { expect, test } from 'vitest'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { userId } from '../../../tests/domain/ids.ts'
import { handleRpcRequests } from './handleRpcRequests.ts'

test('tests of MCP servers wait for those of the same person, and not for those of another one', async () => {
  const loads: (() => void)[] = []
  let isSlow = true
  const load = async () => {
    if (isSlow) await new Promise<void>((resolve) => loads.push(resolve))
    return { state: { kind: 'user', mcpServers: [] } }
  }
  const shells = { open: async () => undefined, use: async () => undefined }
  const deps = { commands: { load }, shells, sandbox: { missing: 'Not here.' } } as unknown as Parameters<
    typeof handleRpcRequests
  >[0]
  const rpc = openInProcessRpc({ onFault: () => undefined })
  const stop = handleRpcRequests(deps, {
    rpc,
    isAlone: true,
    rebuilds: { begin: async () => expect.unreachable(), repositoryChanged: async () => undefined },
    codeHostUrl: 'https://host.example',
  })
  const ask = (ownerId: string) =>
    rpc.call('mcpTools', { of: 'person', id: ownerId, serverId: 'gone', ownerId }, 60_000)
  const own = Array.from({ length: 7 }, () => ask(userId(1)))
  expect(await own[6]).toBeUndefined()
  const other = ask(userId(2))
  await expect.poll(() => loads.length).toBe(3)
  isSlow = false
  for (const end of loads) end()
  const failed = { test: { kind: 'failed', reason: 'There is no such remote server.' } }
  expect(await other).toEqual(failed)
  for (const answer of own.slice(0, 6)) expect(await answer).toEqual(failed)
  stop()
})
