import { describe, expect, test } from 'vitest'
import { treeBomb } from '../../../../tests/hostile/treeBomb.ts'
import { counting, openCheckoutLimits } from './checkoutLimits.ts'
import { makeScene, testGit } from '../../../../tests/runner/workspaceScene.ts'

const record = (size: string, path: string) => `100644 blob ${'a'.repeat(40)} ${size}\t${path}\0`

describe('finding 4: what a commit would put on the disk', () => {
  test('is counted in whatever pieces it comes', () => {
    const whole = Buffer.from(['10', '20', '30'].map((size, n) => record(size.padStart(7), `f${n}`)).join(''))
    for (let cut = 1; cut < whole.length; cut += 7) {
      const within = counting({ entries: 3, bytes: 60 })
      for (const piece of [whole.subarray(0, cut), whole.subarray(cut)])
        expect(within.take(piece)).toBe('more')
      expect(within.refusal()).toBeUndefined()
      const over = counting({ entries: 3, bytes: 59 })
      for (const piece of [whole.subarray(0, cut), whole.subarray(cut)]) over.take(piece)
      expect(over.refusal()).toContain('REPOSITORY_GB')
    }
  })

  test('folders and submodules count as entries and have no size', () => {
    const count = counting({ entries: 1, bytes: 0 })
    expect(count.take(Buffer.from(`040000 tree ${'a'.repeat(40)}       -\tfolder\0`))).toBe('more')
    expect(count.take(Buffer.from(`160000 commit ${'a'.repeat(40)}       -\tmodule\0`))).toBe('enough')
    expect(count.refusal()).toContain('more than 1 files and folders')
  })

  test('a path without an end is not kept', () => {
    const count = counting({ entries: 10, bytes: 10 })
    expect(count.take(Buffer.alloc(20_000, 'x'))).toBe('enough')
    expect(count.refusal()).toContain('longer than any file system takes')
  })

  test('a folder that is in itself ten times on ten levels is refused, and git has ended', async () => {
    const scene = await makeScene({ 'README.md': '# Sample\n' })
    try {
      const commit = treeBomb(scene.remote, { levels: 10, width: 10 })
      const check = openCheckoutLimits({ entries: 100_000, bytes: 1e9 })
      const at = { gitDir: scene.remote, commit }
      expect(await check(testGit, at)).toContain('more than 100,000 files and folders')
      const plain = { gitDir: scene.remote, commit: 'main' }
      expect(await check(testGit, plain)).toBeUndefined()
      await expect(check(testGit, { gitDir: scene.remote, commit: 'nothing' })).rejects.toThrow('git ls-tree')
    } finally {
      await scene.remove()
    }
  })
})
