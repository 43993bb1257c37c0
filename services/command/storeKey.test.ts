/** What is in the vault when a key could not be recorded. */
import { beforeEach, expect, test } from 'vitest'
import { modelKeys } from '#platform/credentials/modelKeys.ts'
import { userId } from '../../tests/domain/ids.ts'
import { storeKey } from './storeKey.ts'

const holder = { kind: 'person', id: userId(1) } as const
const provider = 'openai'
const keyWith = (value: string) => ({ kind: 'api_key', value, baseUrl: null }) as const
const [older, newer] = [keyWith('sk-older'), keyWith('sk-newer')]
// Nothing listens there, so that the check of the key says nothing.
const nowhere = 'http://127.0.0.1:1'
const models = {
  addresses: { anthropic: nowhere, openai: nowhere, google: nowhere },
  mayReachPrivate: false,
}
const secrets = new Map<string, string>()
const keys = modelKeys({
  vault: {
    getSecret: async (_scope, name) => secrets.get(name),
    putSecret: async (_scope, name, value) => void secrets.set(name, value),
    removeSecret: async (_scope, name) => void secrets.delete(name),
  },
})
beforeEach(() => secrets.clear())

const storing = (isRecorded: () => Promise<boolean>) =>
  storeKey(
    { modelKeys: keys, models },
    { holder, provider, key: newer },
    {
      record: async () => {
        throw new Error('The log did not answer.')
      },
      isRecorded,
    },
  )

test('a key that was not recorded leaves the previous one, or none', async () => {
  await expect(storing(async () => false)).rejects.toThrow('The log did not answer.')
  expect(await keys.keyOf(holder, provider)).toBeUndefined()
  await keys.set(holder, provider, older)
  await expect(storing(async () => false)).rejects.toThrow('The log did not answer.')
  expect(await keys.keyOf(holder, provider)).toEqual(older)
})

test.each([
  ['was recorded despite the fault', async () => true],
  ['may have been recorded', () => Promise.reject(new Error('The log does not answer.'))],
])('a key that %s stays', async (_what, isRecorded) => {
  await keys.set(holder, provider, older)
  await expect(storing(isRecorded)).rejects.toThrow('The log did not answer.')
  expect(await keys.keyOf(holder, provider)).toEqual(newer)
})
