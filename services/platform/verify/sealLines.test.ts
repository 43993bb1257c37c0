/** The file of seals is compared with the log line by line; the effects of a kill, a restore or a witness are no faults. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SealLine } from '#platform/seals/sealsFile.ts'
import { openSealedLog, withRestore, type SealedLog } from '../../../tests/server/sealedLog.ts'

let sealed: SealedLog
let lines: readonly string[]
beforeAll(async () => {
  sealed = await openSealedLog()
  const read: string[] = []
  for await (const { text } of sealed.evidence.outside()) read.push(text)
  lines = read
})
afterAll(() => sealed?.close())

function sealIn(text: string): SealLine['seal'] {
  try {
    const seal = JSON.parse(text)
    return typeof seal.checkpoint === 'string' ? seal : undefined
  } catch {
    return undefined
  }
}
const verified = (file: readonly string[], log = sealed.log, epoch = 1) =>
  sealed.verify(log, {
    ...sealed.evidence,
    identity: { ...sealed.evidence.identity, epoch },
    async *outside() {
      for (const [index, text] of file.entries()) yield { number: index + 1, text, seal: sealIn(text) }
    },
  })
const faults = async (file: readonly string[]) =>
  (await verified(file)).findings.map(({ sentence }) => sentence)
const told = async (file: readonly string[]) => {
  const { findings, sealing } = await verified(file)
  expect(findings).toEqual([])
  return sealing?.told
}
const line = (at: number): string => lines.at(at) ?? ''
const changed = (text: string, member: string, change: (value: string) => string) =>
  JSON.stringify({ ...JSON.parse(text), [member]: change(JSON.parse(text)[member]) })

describe('recorder M3: of the file of seals is named', () => {
  // Holds findings 1.122.
  test('a line that is missing in the middle', async () => {
    expect(await faults(lines.toSpliced(1, 1))).toEqual(['The file of seals lacks seal 1 of epoch 1.'])
  })
  // Holds findings 1.123.
  test('an end that was cut, and a file that is empty or not there', async () => {
    expect(await faults(lines.slice(0, -3))).toEqual([
      `The file of seals lacks seals ${lines.length - 3} to ${lines.length - 1} of epoch 1.`,
    ])
    expect(await faults([])).toEqual([`The file of seals lacks seals 0 to ${lines.length - 1} of epoch 1.`])
  })
  test('lines in another order', async () => {
    expect(await faults([line(0), line(2), line(1), ...lines.slice(3)])).toEqual([
      'Line 3 of the file of seals (seal-1 @ 1) stands after seal-1 @ 2: lines were moved.',
    ])
  })
  test('a line that is no seal, is of another log, or has more than a seal', async () => {
    expect(await faults([...lines, 'garbage'])).toEqual([
      `Line ${lines.length + 1} of the file of seals is no seal.`,
    ])
    const { logId } = sealed.evidence.identity
    const other = '00000000-0000-4000-8000-000000000000'
    expect(await faults([...lines, line(0).replaceAll(logId, other)])).toEqual([
      `Line ${lines.length + 1} of the file of seals is of another log, ${other}.`,
    ])
    expect(await faults(lines.with(1, line(1).replace('{', '{"more":1,')))).toEqual([
      'Line 2 of the file of seals (seal-1 @ 1) is not the line that was written of this seal.',
    ])
    expect(await faults(lines.with(1, line(1).replace('{', '{"revision":0,')))).toEqual([
      'Line 2 of the file of seals (seal-1 @ 1) is not the line that was written of this seal.',
    ])
  })
  // Holds findings 1.124.
  test('a changed note: its root, or its signature', async () => {
    const flipped = (text: string) =>
      text.replace(/(.{9})(.)=\n$/, (_, before, last) => `${before}${last === 'A' ? 'E' : 'A'}=\n`)
    for (const change of [
      flipped,
      (text: string) =>
        text.replace(/\n(.)(.*)\n\n/, (_, first, rest) => `\n${first === 'A' ? 'B' : 'A'}${rest}\n\n`),
    ]) {
      expect(await faults(lines.with(2, changed(line(2), 'heads', change)))).toEqual([
        'seal-1 @ 2 was not signed by a key of this log, or by one that an older key of it vouches for.',
        'Line 3 of the file of seals (seal-1 @ 2) has other heads than the log.',
      ])
      expect(await faults(lines.with(2, changed(line(2), 'checkpoint', change)))).toEqual([
        'seal-1 @ 2 was not signed by a key of this log, or by one that an older key of it vouches for.',
        'Line 3 of the file of seals (seal-1 @ 2) has another checkpoint than the log.',
      ])
    }
    expect(
      await faults(
        lines.with(
          2,
          changed(line(2), 'at', () => '2020-01-01T00:00:00.000Z'),
        ),
      ),
    ).toEqual(['Line 3 of the file of seals (seal-1 @ 2) is not the line that was written of this seal.'])
  })
  test('a seal that the log does not have', async () => {
    const later = JSON.stringify({ ...JSON.parse(line(-1)), revision: 1_000 })
    expect(await faults([...lines, later])).toEqual([
      `seal-1 @ 1000 was written outside, in line ${lines.length + 1} of the file of seals, and is not in the log any more: it was removed.`,
    ])
  })
  test('no more than can be read, when nothing in it is right', async () => {
    const found = await verified(Array.from({ length: 5_000 }, () => 'garbage'))
    expect(found.findings).toHaveLength(1_000)
    expect(found.more).toBe(1)
  })
})

describe('is told, and no fault of the file,', () => {
  test('that the newest seal is not there yet, after a kill', async () => {
    expect(await told(lines.slice(0, -1))).toEqual([
      `The file of seals lacks seal ${lines.length - 1} of epoch 1.`,
    ])
  })
  test('that a line breaks off, wherever it does, when its seal stands on the next', async () => {
    for (const length of [1, 5, 14, 40, 300, line(2).length - 1])
      expect(await told(lines.toSpliced(2, 0, line(2).slice(0, length)))).toEqual([
        'Line 3 of the file of seals breaks off.',
      ])
    const cosigned =
      changed(line(2), 'checkpoint', (note) => `${note}\u2014 witness AAAA`).split('AAAA')[0] ?? ''
    expect(await told([...lines, cosigned])).toEqual([
      `Line ${lines.length + 1} of the file of seals breaks off.`,
    ])
    expect(await faults([...lines, `${line(2).slice(0, 100)}garbage`])).toHaveLength(1)
  })
  test('that a seal stands twice; the signature of a witness is not even told', async () => {
    expect(await told([...lines, line(1)])).toEqual([
      `Line ${lines.length + 1} of the file of seals stands twice.`,
    ])
    const signature = Buffer.alloc(76, 1).toString('base64')
    const cosigned = changed(line(1), 'checkpoint', (note) => `${note}\u2014 witness.example ${signature}\n`)
    expect(await told([...lines, cosigned])).toEqual([])
  })
  test('that it was begun after a restore, or has what the restore cut off', async () => {
    const log = withRestore(sealed.log, { epoch: 2 })
    const faultsOf = async (file: readonly string[]) =>
      (await verified(file, log, 2)).findings.filter(({ wrong }) => wrong !== 'restore_unsigned')
    expect(await faultsOf([])).toEqual([])
    expect(await faultsOf(lines.slice(0, -2))).toEqual([])
    expect(await faultsOf(lines.toSpliced(1, 1))).toHaveLength(1)
    const cut = withRestore(sealed.log.slice(0, 20), { epoch: 2 })
    const { findings, sealing } = await verified(lines, cut, 2)
    expect(findings.map(({ wrong }) => wrong)).toEqual(['restore_unsigned'])
    expect(sealing?.told[0]).toMatch(/sealed events were cut off/)
  })
  test('that a line of a seal that a restore cut off breaks off; but one that is missing, moved or changed is', async () => {
    const log = withRestore(sealed.log.slice(0, 20), { epoch: 2 })
    const faultsOf = async (file: readonly string[]) =>
      (await verified(file, log, 2)).findings.filter(({ wrong }) => wrong === 'seals_file')
    expect(await faultsOf(lines.toSpliced(2, 0, line(2).slice(0, 200)))).toEqual([])
    expect(await faultsOf(lines.toSpliced(2, 1))).toHaveLength(1)
    expect(await faultsOf(lines.with(2, line(3)).with(3, line(2)))).toHaveLength(1)
    expect(await faultsOf(lines.with(2, line(2).replace('{', '{ ')))).toHaveLength(1)
  })
})
