import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readDiff, UnreadableDiff } from './patch.ts'

const limits = { files: 100, fileBytes: 10_000, totalBytes: 100_000 }

const modified =
  'diff --git a/a b/a\nindex 422c2b7..0f7bc76 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\n-b\n+diff --git c\n'
const renamed =
  'diff --git a/ren "b/n\\nw\\"é"\nsimilarity index 100%\nrename from ren\nrename to "n\\nw\\"é"\n'
const retyped =
  'diff --git a/t b/t\ndeleted file mode 100644\n--- a/t\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/t b/t\nnew file mode 120000\n--- /dev/null\n+++ b/t\n@@ -0,0 +1 @@\n+a\n'
const binary = 'diff --git a/z b/z\nindex 1..2 100644\nBinary files a/z and b/z differ\n'
const output = Buffer.from(
  [
    ':100644 100644 422c2b7 0000000 M\0a\0',
    ':100644 100644 96cc558 96cc558 R100\0ren\0n\nw"é\0',
    ':100644 120000 c1b0730 0000000 T\0t\0',
    ':100644 100644 c1b0730 0000000 M\0z\0',
    '1\t1\ta\0',
    '0\t0\t\0ren\0n\nw"é\0',
    '1\t1\tt\0',
    '-\t-\tz\0',
    '\0',
    modified,
    renamed,
    retyped,
    binary,
  ].join(''),
)

describe('reading a diff', () => {
  test('each file has its kind, its counts and its part of the patch', () => {
    const { files, total } = read([output])
    expect(total).toBe(4)
    expect(
      files.map((file) => ({
        ...file,
        path: file.path.toString(),
        previousPath: file.previousPath?.toString(),
        patch: file.patch.toString(),
      })),
    ).toEqual([
      {
        kind: 'modified',
        path: 'a',
        previousPath: undefined,
        additions: 1,
        deletions: 1,
        binary: false,
        patch: modified,
        cut: false,
      },
      {
        kind: 'renamed',
        path: 'n\nw"é',
        previousPath: 'ren',
        additions: 0,
        deletions: 0,
        binary: false,
        patch: renamed,
        cut: false,
      },
      {
        kind: 'modified',
        path: 't',
        previousPath: undefined,
        additions: 1,
        deletions: 1,
        binary: false,
        patch: retyped,
        cut: false,
      },
      {
        kind: 'modified',
        path: 'z',
        previousPath: undefined,
        additions: 0,
        deletions: 0,
        binary: true,
        patch: binary,
        cut: false,
      },
    ])
  })

  test('however the output is cut on its way', () => {
    const whole = read([output])
    fc.assert(
      fc.property(fc.array(fc.nat(output.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), output.length]
        expect(read(at.slice(1).map((end, index) => output.subarray(at[index], end)))).toEqual(whole)
      }),
    )
  })

  test('a long patch is cut at a line end, and says so', () => {
    const { files } = read([output], { ...limits, fileBytes: 80 })
    expect(files[0]).toMatchObject({ cut: true, additions: 1 })
    expect(files[0]?.patch.toString()).toBe(modified.slice(0, modified.lastIndexOf('\n', 79) + 1))
    expect(files[3]).toMatchObject({ cut: false })
  })

  test('reading ends when all patches together are long enough', () => {
    const reader = readDiff({ ...limits, totalBytes: modified.length + 10 })
    expect(reader.push(output)).toBe('enough')
    const { files, total } = reader.end()
    // A file that was only renamed lacks nothing.
    expect(files.map(({ cut }) => cut)).toEqual([false, false, true, true])
    expect(total).toBe(4)
  })

  test('files above the limit are counted and not kept', () => {
    const { files, total } = read([output], { ...limits, files: 2 })
    expect(files).toHaveLength(2)
    expect(total).toBe(4)
  })

  test('a file that changed back meanwhile does not shift the others', () => {
    const without = Buffer.from(output.toString().replace(modified, ''))
    const { files } = read([without])
    expect(files[0]?.patch).toHaveLength(0)
    expect(files[1]?.patch.toString()).toBe(renamed)
  })

  test('no changes are no output', () => {
    expect(read([])).toEqual({ files: [], total: 0 })
  })

  test('anything else is refused', () => {
    expect(() => read([Buffer.from('usage: git\0')])).toThrow(UnreadableDiff)
  })
})

function read(chunks: readonly Buffer[], within = limits) {
  const reader = readDiff(within)
  for (const chunk of chunks) reader.push(chunk)
  return reader.end()
}
