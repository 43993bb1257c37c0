import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeScene, type Scene } from '../workspace/testScene.ts'
import { describeBox } from './boxGuarantees.ts'
import { callNumber } from './systemCalls.ts'
import { findTestBox } from './testBox.ts'

const { sandbox, note } = await findTestBox()

describeBox(`by bubblewrap${note}`, sandbox)

// As where so many groups are there that no other can be made.
const uncounted = await findTestBox(undefined, { says: '', hold: () => Promise.resolve(undefined) })

describe.skipIf(!uncounted.sandbox)('a box whose memory the kernel cannot be had to count', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
  })
  afterAll(() => scene.remove())

  test('finding 13: may hold none that its processes do not show', async () => {
    const box = uncounted.sandbox?.run({
      command: [
        'perl',
        '-e',
        `print syscall(${callNumber('memfd_create')}, my $name = "held", 0) < 0 ? "refused: $!" : "made"`,
      ],
      env: {},
      workspace: await scene.prepare(),
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits: { memoryBytes: 1024 ** 3, processes: 64, fileSizeBytes: 1024 ** 2, wallMs: 20_000 },
    })
    if (!box) return
    box.stderr.resume()
    expect(await text(box.stdout)).toBe('refused: Function not implemented')
    await box.exited
  })
})
