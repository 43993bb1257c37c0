import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeScene, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { describeSandbox } from '../../../../tests/runner/sandbox.contract.ts'
import { childrenOf } from '../processTree.ts'
import { callNumber } from '../systemCalls.ts'
import { findTestSandbox } from '../../../../tests/runner/testSandbox.ts'

const { sandbox, note } = await findTestSandbox()

describeSandbox(`by bubblewrap${note}`, sandbox)

// As where so many groups are there that no other can be made.
const uncounted = await findTestSandbox(undefined, { says: '', hold: () => Promise.resolve(undefined) })

describe.skipIf(!uncounted.sandbox)('a sandbox whose memory the kernel cannot be had to count', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
  })
  afterAll(() => scene.remove())

  // Holds findings 1.43.
  test('finding 13: may hold none that its processes do not show', async () => {
    const child = uncounted.sandbox?.run({
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
    if (!child) return
    child.stderr.resume()
    expect(await text(child.stdout)).toBe('refused: Function not implemented')
    await child.exited
  })
})

describe.skipIf(!sandbox?.reserve)('a reserved sandbox', () => {
  const limits = { memoryBytes: 1024 ** 3, processes: 64, fileSizeBytes: 1024 ** 2, wallMs: 20_000 }
  let scene: Scene
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
  })
  afterAll(() => scene.remove())
  const reserve = async () =>
    sandbox?.reserve?.({ workspace: await scene.prepare(), stdin: 'ignore', limits })

  test('runs its command', async () => {
    const reserved = await reserve()
    const running = reserved?.run({ command: ['cat', 'README.md'], env: {}, readOnly: [], sockets: [] })
    if (!running) return
    running.stderr.resume()
    expect(await text(running.stdout)).toBe('# Sample\n')
    expect(await running.exited).toMatchObject({ code: 0, reason: 'itself' })
  })

  test('leaves nothing behind when it is closed without a command, also after one was refused', async () => {
    const before = await childrenOf(process.pid)
    const reserved = await reserve()
    expect((await childrenOf(process.pid)).length).toBe(before.length + 1)
    const outside = [{ source: '/etc', target: '/proc/etc' }]
    expect(() => reserved?.run({ command: ['true'], env: {}, readOnly: outside, sockets: [] })).toThrow(
      RangeError,
    )
    await reserved?.close()
    expect(await childrenOf(process.pid)).toEqual(before)
  })
})
