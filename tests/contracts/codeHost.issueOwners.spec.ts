/** Issues of the local code host by whose project they are: several projects of a repository, owners without the right, and whose access reads. */
import { expect, test } from 'vitest'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { userId } from '../domain/ids.ts'
import { byPolling, eventually, issueTasks } from './codeHost.issueTasks.fixture.ts'

const here = issueTasks()
const { tokenOf, asks, projectOf, rule, start, issueBy, label, tasks, numbers, decisions, unread } = here

test('of two projects of one repository the first takes an issue', async () => {
  await projectOf(2)
  await rule(2, { on: true })
  const number = await issueBy('ada')
  await label('ada', number)
  await start(byPolling)
  await eventually(async () => expect(await decisions(2)).toEqual([`${number} elsewhere`]))
  await eventually(async () => expect(await decisions(1)).toEqual([`${number} made`]))
  expect(await numbers()).toEqual([number])
})

test('a project whose owner may only read takes nothing, and keeps no issue from those who may', async () => {
  await rule(1, { on: false })
  await projectOf(3)
  await rule(3, { on: true })
  await projectOf(2)
  await rule(2, { on: true })
  const number = await issueBy('ada')
  await label('ada', number)
  await start(byPolling)
  await eventually(async () => expect(await decisions(3)).toEqual([`${number} owner`]))
  await eventually(async () => expect(await decisions(2)).toEqual([`${number} made`]))
  expect((await tasks()).map(({ owner }) => owner)).toEqual([userId(2)])
  // Once they may, it is another's already.
  await asks('ada', 'PUT', '/collaborators/mallory', { permission: 'push' })
  await eventually(async () => expect(await decisions(3)).toEqual([`${number} elsewhere`]))
})

test.each([
  ['their own access reads', {}],
  ['an installation reads for all', { installation: async () => tokenOf('ada') }],
])(
  'a project whose owner has used up their limit keeps no issue from others, where %s',
  async (_, access) => {
    await rule(1, { on: false })
    await projectOf(3)
    await rule(3, { on: true })
    await projectOf(2)
    await rule(2, { on: true })
    const number = await issueBy('ada')
    await label('ada', number)
    await start({ ...byPolling, limited: [userId(3)], ...access })
    await eventually(async () => expect(await decisions(2)).toEqual([`${number} made`]))
  },
)

test('where an installation is refused, the owner of the project reads', async () => {
  const number = await issueBy('ada')
  await label('ada', number)
  const installation = async () => {
    throw new CodeHostFault('unauthorized', 'Internal.')
  }
  await start({ ...byPolling, installation })
  await eventually(async () => expect(await decisions()).toEqual([`${number} made`]))
  expect(await unread()).toBeNull()
})
