/** The file with the models that agents have reported. */
import { mkdtempSync, rmSync } from 'node:fs'
import { link, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { reportedModels } from './reportedModels.ts'

test('models are known to the next start, and the file is whole at every moment', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'models-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'models.json')
  const faults: unknown[] = []
  const open = () => reportedModels(file, (fault) => faults.push(fault))
  const opus = [{ name: 'opus', label: 'Opus' }]
  const sonnet = [{ name: 'sonnet', label: 'Sonnet' }]
  const models = open()
  models.report('claude', opus)
  await vi.waitFor(() => expect(open().of('claude')).toEqual(opus))

  // A second name for the earlier file: it would change if that file were written again.
  const earlier = join(folder, 'earlier.json')
  await link(file, earlier)
  models.report('claude', sonnet)
  await vi.waitFor(() => expect(open().of('claude')).toEqual(sonnet))
  expect(JSON.parse(await readFile(earlier, 'utf8'))).toEqual({ claude: opus })
  expect((await readdir(folder)).toSorted()).toEqual(['earlier.json', 'models.json'])
  expect(faults).toEqual([])
})
