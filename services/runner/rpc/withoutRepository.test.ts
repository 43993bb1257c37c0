/** What a runner answers about a repository that it does not have, while another runner may have it. */
import { describe, expect, test } from 'vitest'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { logger } from '#platform/log.ts'
import { projectId, userId } from '../../../tests/domain/ids.ts'
import { suggestedServers } from '../mcp/suggestedServers.ts'
import { orNothing, suggestedHosts, type HostsDeps } from './suggestedHosts.ts'

const request = { projectId: projectId(1), ownerId: userId(1) }
const host = { host: 'packages.example', from: '.npmrc' }
const runnerWhere = (get: () => Promise<unknown>) =>
  ({ documents: { get }, logger: logger('silent') }) as unknown as HostsDeps

describe.each([
  ['lacks the repository', (): Promise<unknown> => Promise.resolve()],
  ['fails', (): Promise<unknown> => Promise.reject(new Error('as the test wants it'))],
] as const)('a runner that %s', (_, get) => {
  const deps = runnerWhere(get)

  test('leaves the suggestions to the others', async () => {
    expect(await suggestedHosts(deps, request)).toBeUndefined()
    expect(await suggestedServers(deps, request)).toBeUndefined()
  })

  test('answers after a runner that has it, and then that there is nothing', async () => {
    const rpc = openInProcessRpc({ onFault: () => undefined })
    rpc.handle('hosts', (asked) => orNothing(false, suggestedHosts(deps, asked)))
    const stop = rpc.handle('hosts', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return { suggestions: [host] }
    })
    expect(await rpc.call('hosts', request, 60_000)).toEqual({ suggestions: [host] })
    stop()
    expect(await rpc.call('hosts', request, 60_000)).toEqual({ suggestions: [] })
  })

  test('does not wait for others where there are none', async () => {
    expect(await orNothing(true, suggestedHosts(deps, request))).toBeUndefined()
  })
})
