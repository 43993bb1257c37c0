/** A person works in a shell of the task: a full-screen program, another size, copy and paste, a lost connection, a reload, and the replay of it. */
import { afterAll, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { patienceMs } from '../../patience.ts'
import { violations } from '../../e2e/axe.ts'
import { expect } from '../../e2e/expect.ts'
import { overflowAt } from '../../e2e/overflow.ts'
import { openTask } from '../../e2e/pages/task.ts'
import { openStage } from '../../e2e/stage.ts'

const stage = await openStage({
  repositories: { parcels: { 'README.md': '# Parcels\n' } },
  scripts: [{ when: /Be ready/, turns: [{ text: 'I am ready.' }] }],
  // The agent stays, even if this machine is short of memory.
  env: { WARM_AGENTS: '8' },
})
afterAll(() => stage.close())

const ada = await stage.product.signIn('ada')
const project = await ada.project('parcels')

async function openShell() {
  const { id } = await ada.task(project, 'Be ready')
  const visit = await stage.visit({ as: ada })
  const { page } = visit
  const task = await openTask(page, id)
  await expect(task.status('Completed')).toBeVisible()
  const shell = page.getByRole('group', { name: 'Shell' })
  const rows = shell.locator('.xterm-rows')
  const open = () => page.getByRole('tab', { name: 'Shell' }).click()
  await open()
  await expect(page.getByText("In the agent's sandbox")).toBeVisible()
  return {
    ...visit,
    id,
    shell,
    rows,
    open,
    type: (text: string) => page.keyboard.type(text),
    screen: async () => (await rows.locator('> div').allTextContents()).map((line) => line.trimEnd()),
    /** The last piece of what is recorded. */
    last: async () => (await ada.ask(getTerminal, { params: { taskId: id }, query: {} })).output.at(-1),
  }
}

test('vim in a shell: resized, seen again after a reload, and replayed as it was', async () => {
  const { page, id, shell, rows, open, type, screen, last, leave } = await openShell()
  await type('stty size; echo hello-$((40 + 2))\n')
  await expect(rows).toContainText('hello-42')
  const sizeSaid = async () => (await screen()).filter((line) => /^\d+ \d+$/.test(line))
  const before = await sizeSaid()
  expect(before).toHaveLength(1)
  await type('vim -u NONE notes.txt\n')
  await expect(rows).toContainText('notes.txt')
  await type('iwritten in vim')
  await page.keyboard.press('Escape')
  await type(':set columns?\n')
  await expect(rows).toContainText(/columns=\d+/)
  const columns = /columns=(\d+)/.exec((await rows.textContent()) ?? '')?.[1] ?? ''
  expect(before).toEqual([expect.stringContaining(` ${columns}`)])
  await page.setViewportSize({ width: 1100, height: 700 })
  await expect(async () => {
    await type(':set columns?\n')
    await expect(rows).toContainText(/columns=\d+/)
    await expect(rows).not.toContainText(`columns=${columns}`)
  }).toPass({ timeout: patienceMs })
  await expect(rows).toContainText('written in vim')
  const inVim = { screen: await screen(), moment: `t${(await last())?.version}` }
  expect(await violations(page)).toEqual([])

  await page.reload()
  await open()
  await expect(rows).toContainText('written in vim')
  await expect(page.getByText("In the agent's sandbox")).toBeVisible()
  await shell.getByRole('textbox').focus()
  await type(':wq\n')
  // Only then vim reads nothing any more.
  await expect.poll(screen).toContain('hello-42')
  await type('cat notes.txt; stty size; sleep 1000\n')
  await expect.poll(sizeSaid).toHaveLength(1)
  await expect.poll(screen).toContain('written in vim')
  expect(await sizeSaid()).not.toEqual(before)
  await page.keyboard.press('Control+c')
  await type('echo interrupted-$?\n')
  await expect.poll(screen).toContain('interrupted-130')
  await page.keyboard.press('Control+`')
  await expect(page.getByRole('tab', { name: 'Shell' })).toBeFocused()
  await page.getByRole('button', { name: 'Close Shell' }).click()
  await expect(rows).toContainText('[The shell was closed.]')
  await expect(page.getByRole('button', { name: 'Open a New Shell' })).toBeVisible()
  const atEnd = { screen: await screen(), moment: `t${(await last())?.version}` }
  for (const width of [375, 1100]) expect(await overflowAt(page, width)).toEqual([])

  for (const seen of [inVim, atEnd]) {
    await page.goto(`/tasks/${id}/history?at=${seen.moment}`)
    await open()
    await expect.poll(screen).toEqual(seen.screen)
  }
  await page.goto(`/tasks/${id}/history`)
  await page.getByText('Opened a shell').click()
  await open()
  await expect(page.getByText('No shell was open at this moment')).toBeVisible()
  await leave()
})

test('a lost connection: the shell goes on, and nothing is lost or shown twice', async () => {
  const { page, context, id, rows, type, screen, expectFault, leave } = await openShell()
  expectFault(/ERR_INTERNET_DISCONNECTED/)
  await type('echo before-$((40 + 2))\n')
  await expect(rows).toContainText('before-42')
  await context.setOffline(true)
  await expect(page.getByRole('status').getByText('Offline').last()).toBeVisible()
  await type('echo blind-$((40 + 2))\n')
  const elsewhere = await ada.socket()
  await elsewhere.join(id)
  const opening = await elsewhere.openShell(id)
  if (!opening.opened) throw new Error(opening.error)
  await elsewhere.type(id, opening.shellId, 'echo meanwhile-$((40 + 2))\r')
  await elsewhere.until(
    'meanwhile',
    ({ name, payload }) => name === 'terminal_output' && JSON.stringify(payload).includes('meanwhile-42'),
  )
  await context.setOffline(false)
  await expect.poll(screen).toContain('meanwhile-42')
  await expect(page.getByText("In the agent's sandbox")).toBeVisible()
  await page.getByRole('group', { name: 'Shell' }).getByRole('textbox').focus()
  await type('echo after-$((40 + 2))\n')
  await expect.poll(screen).toContain('after-42')
  const said = (await screen()).filter((line) => /^\w+-42$/.test(line))
  expect(said).toEqual(['before-42', 'meanwhile-42', 'after-42'])
  elsewhere.close()
  await leave()
})

// Attacks shell: a pasted text brings a line that runs by itself.
test('what is pasted is not run before Enter, and what is selected is copied', async () => {
  const { page, context, rows, type, screen, leave } = await openShell()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate(() => navigator.clipboard.writeText('echo pasted-$((40 + 2))\necho both-$((40 + 2))'))
  await page.keyboard.press('Control+Shift+V')
  await expect(rows).toContainText('echo both-')
  expect(await screen()).not.toContain('pasted-42')
  await type('\n')
  await expect.poll(screen).toContain('both-42')
  expect(await screen()).toContain('pasted-42')
  const { x = 0, y = 0 } = (await rows.getByText('both-42', { exact: true }).boundingBox()) ?? {}
  await page.mouse.dblclick(x + 5, y + 5)
  await page.keyboard.press('Control+Shift+C')
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('42')
  await leave()
})
