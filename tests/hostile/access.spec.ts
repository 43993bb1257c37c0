/** The list of who may sign in, and what happens to people who are removed from it. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { getMe, login, register } from '#domain/api/auth.schema.ts'
import { listProjects } from '#domain/api/projects.schema.ts'
import { connectLive } from '../product/live.ts'
import { browserSteps } from '../product/person.ts'
import { openStoppedProduct } from '../server/stoppedProduct.ts'
import { cleanEnvironment, ownFolder, runProduct, startProduct, type Product } from '../product.ts'

/** Signs in by way of the code host, in a browser of its own. */
async function comes(product: Product, account: string, query = '') {
  const browser = browserSteps(product.base)
  const start = await browser.go(`/api/auth/github${query}`)
  const authorized = await browser.go(`${start.location}&login=${account}`)
  return { browser, ...(await browser.go(authorized.location)) }
}
const refusedOf = async ({ browser }: Awaited<ReturnType<typeof comes>>) => {
  const { status, body } = await browser.go('/api/auth/github/refusal')
  return { status, body: JSON.parse(body) }
}
const started = async (env: Readonly<Record<string, string>>) => {
  const product = await startProduct({ env })
  onTestFinished(() => product.stop())
  return product
}

describe('finding 6: the list of who may sign in', () => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct({ env: { ALLOWED_USERS: 'Ada', ADMINS: 'root-of-acme,id:77' } })
  })
  afterAll(() => product?.stop())

  test('lets in whom it names, in any case, and nobody else', async () => {
    expect((await comes(product, 'ada')).location).toMatch(/^\/auth\/callback\?token=/)
    const grace = await comes(product, 'grace')
    expect(grace).toMatchObject({ status: 302, location: '/auth/callback?error=not_allowed' })
    expect(await refusedOf(grace)).toEqual({
      status: 200,
      body: {
        login: 'grace',
        sentence:
          'The GitHub account grace does not have access to this server. Ask root-of-acme for access.',
      },
    })
    // Another browser learns nothing of it.
    expect((await refusedOf({ ...grace, browser: browserSteps(product.base) })).status).toBe(404)
  })

  test('lets nobody in with a password, who has no account at the code host', async () => {
    const nobody = product.personWith(undefined)
    const body = { name: 'Pat', email: 'pat@example.com', password: 'correct horse battery staple' }
    expect(await nobody.refused(register, { body })).toMatchObject({ status: 403, code: 'not_allowed' })
    expect(await nobody.refused(login, { body })).toMatchObject({ status: 401 })
  })

  test('says who is an admin', async () => {
    const ada = await product.signIn('ada')
    expect(await ada.ask(getMe)).toMatchObject({ isAdmin: false })
  })
})

// Holds findings 1.17.
test('finding 6: members of an organization or a team may sign in, and nobody else', async () => {
  const product = await started({ ALLOWED_ORGANIZATIONS: 'ACME/core' })
  expect((await comes(product, 'ada')).location).toMatch(/\?token=/)
  expect((await comes(product, 'grace')).location).toBe('/auth/callback?error=not_allowed')
  const other = await started({ ALLOWED_ORGANIZATIONS: 'acme/elsewhere,other' })
  expect((await comes(other, 'ada')).location).toBe('/auth/callback?error=not_allowed')
})

test('finding 6: who is taken off the list is refused at every door, also with a session from before', async () => {
  const env: Record<string, string> = { ALLOWED_USERS: 'ada,grace', ADMINS: 'ada' }
  const dataDir = await ownFolder()
  const before = await startProduct({ env, dataDir })
  const grace = await before.signIn('grace').finally(() => before.stop())
  const product = await startProduct({ env: { ADMINS: 'ada', ALLOWED_USERS: 'id:1001' }, dataDir })
  onTestFinished(() => product.stop())
  const still = product.personWith(grace.token)
  for (const call of [getMe, listProjects])
    expect(await still.refused(call)).toMatchObject({
      status: 403,
      code: 'not_allowed',
      error: 'The GitHub account grace does not have access to this server. Ask ada for access.',
    })
  await expect(connectLive(product.base, grace.token)).rejects.toThrow(/does not have access to this server/)
  const ada = await product.signIn('ada')
  expect(await ada.ask(getMe)).toMatchObject({ isAdmin: true })
})

test.each([
  ['HOST', '0.0.0.0'],
  ['PUBLIC_URL', 'https://flightdeck.example'],
  ['TRUST_PROXY', '1'],
])('finding 6: a product that others can reach (%s) does not start without a list', async (name, value) => {
  const folder = await ownFolder()
  const env = { ...cleanEnvironment(folder), DATA_DIR: `${folder}/data`, [name]: value }
  const { code, stderr } = await runProduct(env)
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^ALLOWED_USERS: is required \(or ALLOWED_ORGANIZATIONS or ADMINS\) because .*ALLOWED_USERS=\*/m,
  )
  expect((await runProduct({ ...env, ALLOWED_USERS: '*', PORT: 'none' })).stderr).not.toContain(
    'ALLOWED_USERS',
  )
})

test('finding 9: the nonce that a client began with comes back with the token, and none that it did not send', async () => {
  const product = await started({})
  const nonce = 'a-nonce-of-the-client'
  const token = async (query: string) =>
    new URL((await comes(product, 'ada', query)).location, product.base).searchParams
  expect((await token(`?nonce=${nonce}`)).get('nonce')).toBe(nonce)
  expect((await token('')).has('nonce')).toBe(false)
  // What could be no nonce goes nowhere.
  const odd = await token(`?nonce=${encodeURIComponent('"><script>&onboarding=x')}`)
  expect([odd.has('nonce'), odd.get('onboarding')]).toEqual([false, 'true'])
})

// Holds findings 1.18.
test('finding 6: an account that is refused leaves nothing in the log but that one was', async () => {
  const product = await started({ ALLOWED_USERS: 'ada' })
  await comes(product, 'grace')
  await product.terminate()
  const stored = await openStoppedProduct(product.dataDir)
  onTestFinished(() => stored.close())
  const events = await stored.eventStore.readAll(null, 10)
  const [begun, refused, ...more] = events.filter(({ type }) => type !== 'LogSealed')
  expect(begun?.type).toBe('LogBegun')
  expect(refused).toMatchObject({
    type: 'SignInRefused',
    data: { method: 'code_host', code: 'not_allowed', userId: null },
    content: null,
    meta: { actor: { kind: 'system', service: 'gateway' } },
  })
  expect(more).toEqual([])
})
