/** A remote MCP server is added, signed in at on its own page, tested, and signed out of. */
import { afterAll, test } from 'vitest'
import { startSignInServer } from '../standins/mcp/authorizationServer.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const oauth = await startSignInServer()
const stage = await openStage({
  repositories: { handbook: { 'README.md': '# Handbook\n' } },
  env: { PRIVATE_EGRESS: '1' },
})
afterAll(async () => {
  await stage.close()
  await oauth.close()
})
const ada = await stage.product.signIn('ada')
const projectId = await ada.project('handbook')

test('a person signs in at a server, and comes back to it', async () => {
  const { page } = await visiting(stage, { as: ada, reducedMotion: true })
  await page.goto(`/projects/${projectId}/settings`)
  const part = page.getByRole('region', { name: 'MCP Servers' })
  await part.getByRole('button', { name: 'Add Server' }).click()
  await part.getByLabel('Name', { exact: true }).fill('tiny')
  await part.getByLabel('Address').fill(oauth.url)
  await part.getByRole('button', { name: 'Sign-In' }).click()
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 375)).toEqual([])
  await part.getByRole('button', { name: 'Save Server' }).click()
  await part.getByText('Not signed in.').waitFor()

  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  await part.getByRole('button', { name: 'Sign In: tiny' }).click()
  await part.getByText(`Signed in at ${new URL(oauth.origin).host} since`).waitFor()
  await expect(page).toHaveURL(`${stage.product.base}/projects/${projectId}/settings`)
  // Only the redirect itself has the code in its address.
  expect(addresses.filter((address) => address.includes('swordfish-code'))).toHaveLength(1)
  expect(
    await page.evaluate(() => JSON.stringify([history.state, sessionStorage, localStorage])),
  ).not.toContain('swordfish-code')
  await part.getByRole('button', { name: 'Test tiny' }).click()
  await part.getByText('Connected. 3 tools:').waitFor()
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 375)).toEqual([])
  await part.getByRole('button', { name: 'Sign Out: tiny' }).click()
  await part.getByText('Not signed in.').waitFor()
})

test('an answer that nobody waits for is refused in words', async () => {
  const { page, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
  expectFault(/POST \S+\/mcp-sign-in answered 422/)
  await page.goto('/mcp/callback?code=swordfish-code-of-another&state=guessed')
  await page.getByText('This sign-in was not begun here').waitFor()
  expect(page.url()).toBe(`${stage.product.base}/mcp/callback`)
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 375)).toEqual([])
})
