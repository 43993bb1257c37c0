import { describe, expect, test } from 'vitest'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { unsignedWarning } from './signatureWarning.ts'

const repository = { owner: 'acme', name: 'widgets' }
const access = { accessToken: 'ghu_1', gitToken: 'ghs_1', url: '', authorization: '' }
const signer = { name: 'Flightdeck', email: 'bot@example.com', keyFile: '/key' }
const warning = (takesOnlySigned: () => Promise<boolean>, commitSigner: typeof signer | undefined) =>
  unsignedWarning({ commitSigner, codeHost: { takesOnlySigned } }, { repository, access }, 'main')

describe('a branch that takes only signed commits', () => {
  test('is told of where this server signs none', async () => {
    expect(await warning(async () => true, undefined)).toMatch(/^Warning: main takes only signed commits/)
  })

  test('is not told of where it signs, nor any other branch, nor where the host does not say', async () => {
    expect(await warning(async () => true, signer)).toBeNull()
    expect(await warning(async () => false, undefined)).toBeNull()
    const refuses = () => Promise.reject(new CodeHostFault('forbidden', 'No.'))
    expect(await warning(refuses, undefined)).toBeNull()
  })
})
