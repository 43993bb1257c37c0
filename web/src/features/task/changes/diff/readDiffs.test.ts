import { describe, expect, test } from 'vitest'
import { fileOf } from '../../../../../../tests/client/samples.ts'
import { fileFacts } from './readDiffs.ts'
import { parseDiff } from './parseDiff.ts'
import { texts } from '../texts.ts'

const [old, young, none] = ['a1'.repeat(20), 'b2'.repeat(20), '0'.repeat(40)]
const factsOf = (diff: string, over: Parameters<typeof fileOf>[1] = {}) =>
  fileFacts(fileOf('x', { diff: `diff --git a/x b/x\n${diff}`, ...over }), parseDiff(diff).length)
const change = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n'

describe('beside its lines a file says', () => {
  test.each([
    ['nothing when lines changed', `index ${old}..${young} 100644\n${change}`, {}, []],
    [
      'finding low: that characters are hidden in it',
      `index ${old}..${young} 100644\n${change.replace('new', 'if (a\u202E) b')}`,
      {},
      [texts.hiddenCharacters],
    ],
    [
      'that it is binary',
      `index ${old}..${young} 100644\nBinary files differ\n`,
      { binary: true },
      [texts.binary],
    ],
    ['that it became executable', 'old mode 100644\nnew mode 100755\n', {}, [texts.becameExecutable]],
    ['that it no longer is', 'old mode 100755\nnew mode 100644\n', {}, [texts.noLongerExecutable]],
    [
      'how its kind changed',
      `old mode 100644\nnew mode 120000\n`,
      {},
      [texts.modeChanged('100644', '120000')],
    ],
    [
      'that it is a submodule',
      `index ${old}..${young} 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-Subproject commit a\n+Subproject commit b\n`,
      {},
      [texts.submodule],
    ],
    ['that it is a link', `new file mode 120000\nindex ${none}..${young}\n${change}`, {}, [texts.link]],
    [
      'that it was only renamed',
      'similarity index 100%\nrename from y\nrename to x\n',
      { status: 'renamed' as const },
      [texts.onlyRenamed],
    ],
    [
      'that it is empty',
      `new file mode 100644\nindex ${none}..e69de29\n`,
      { status: 'added' as const },
      [texts.emptyFile],
    ],
    ['that there is no diff', '', {}, [texts.noDiff]],
  ])('%s', (_, diff, over, notes) => {
    expect(factsOf(diff, over).notes).toEqual(notes)
  })

  test('what the server says of a diff that was cut, and that it is not whole', () => {
    const cut = `index ${old}..${young} 100644\n${change}\\ The diff is longer than 200 KB and was cut here.\n`
    expect(factsOf(cut)).toEqual({
      notes: ['The diff is longer than 200 KB and was cut here.'],
      hasBefore: true,
      isCut: true,
    })
    expect(fileFacts(fileOf('x', { diff: '\\ A repository of its own.\n', binary: true }), 0).notes).toEqual([
      'A repository of its own.',
    ])
  })

  test('not that the last line has no end: the line does', () => {
    const open = `index ${old}..${young} 100644\n${change}\\ No newline at end of file\n`
    expect(factsOf(open)).toMatchObject({ notes: [], isCut: false })
  })

  test('whether it had lines before', () => {
    expect(factsOf(`index ${old}..${young} 100644\n${change}`).hasBefore).toBe(true)
    expect(factsOf(`new file mode 100644\nindex ${none}..${young}\n${change}`).hasBefore).toBe(false)
  })
})
