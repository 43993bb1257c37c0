/** A person reads in the project's settings what a repository would run: its hooks, and the setup that its files propose. */
import { afterAll, test } from 'vitest'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const command = `<img src=x onerror=alert(1)>${'x'.repeat(300)}\u001b[2K\u202e`
const hooks = {
  PostToolUse: [{ matcher: 'Edit|Write', hooks: [{ type: 'command', command: 'npm run format' }] }],
  Stop: [{ hooks: [{ type: 'command', command }] }],
}
const settings = JSON.stringify({ hooks })
const devcontainer = JSON.stringify({
  image: 'x'.repeat(60),
  postCreateCommand: command,
  containerEnv: { STAGE: 'y'.repeat(300), PATH: '/x' },
  forwardPorts: [3000],
  privileged: true,
  runArgs: ['--cap-add=ALL'],
})
const stage = await openStage({
  repositories: {
    handbook: {
      'README.md': '# Handbook\n',
      '.claude/settings.json': settings,
      '.devcontainer.json': `// For everybody\n${devcontainer}`,
      'package.json': '{"engines": {"node": ">=999"}}',
    },
  },
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const projectId = await ada.project('handbook')

test('hooks are shown as text, allowed, and forbidden again', async () => {
  const { page } = await visiting(stage, { as: ada, reducedMotion: true })
  await page.goto(`/projects/${projectId}/settings`)
  const part = page.getByRole('region', { name: 'Hooks' })
  await expect(part.getByText('PostToolUse · Edit|Write')).toBeVisible()
  await expect(part.getByText('npm run format')).toBeVisible()
  await expect(part.getByText(String.raw`xxx\u001b[2K`)).toBeVisible()
  await expect(part.getByRole('img', { name: 'Hidden character U+202E' })).toBeVisible()
  const detected = page.getByRole('region', { name: 'Detected' })
  await expect(detected.getByText(String.raw`xxx\u001b[2K`)).toBeVisible()
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 320)).toEqual([])

  await part.getByRole('button', { name: 'Allow These Hooks' }).click()
  await expect(part.getByText(/^You allowed version [0-9a-f]{12} just now\./)).toBeVisible()
  await expect(part.getByRole('button', { name: 'Allow These Hooks' })).toHaveCount(0)
  await page.reload()
  await expect(part.getByText(/^You allowed version [0-9a-f]{12} just now\./)).toBeVisible()
  expect(await violations(page)).toEqual([])
  await part.getByRole('button', { name: 'Forbid Again' }).click()
  await expect(part.getByRole('button', { name: 'Allow These Hooks' })).toBeVisible()
})

test('a proposal is shown as text, and used with one click', async () => {
  const { page } = await visiting(stage, { as: ada, reducedMotion: true })
  await page.goto(`/projects/${projectId}/settings`)
  const part = page.getByRole('region', { name: 'Detected' })
  await expect(part.getByText(/^Refused, .*: privileged; runArgs \(--cap-add=ALL\)\.$/)).toBeVisible()
  await expect(page.getByLabel('Setup command')).toHaveValue('')
  await part.getByRole('button', { name: 'Use This' }).click()
  await expect(part.getByText('The settings have all that is proposed.')).toBeVisible()
  await expect(page.getByLabel('Setup command')).toHaveValue(command)
  await expect(page.getByLabel('Allowed hosts')).toHaveValue('registry.npmjs.org')
})
