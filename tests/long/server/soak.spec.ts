/** Ten minutes of load on services apart, while each of them and of their engines is killed and paused in turn: nothing is lost, nothing doubled. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openUndo } from '../../load/undo.ts'
import { root } from '../../load/project.ts'
import { soak } from '../../load/soak/soak.ts'
import { ownFolder } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { noOwnNats } from '../../servers/nats.ts'

const minutes = 10
const undo = openUndo()

describe.skipIf(noOwnNats !== undefined)('a soak', () => {
  afterAll(() => undo.downTo(0))

  test('leaves every viewer with what the log says, every accepted write in the log once, and every run ended', async () => {
    const folder = await ownFolder()
    undo.add(() => rm(folder, { recursive: true, force: true }))
    const svg = join(root, '.cache/soak.svg')
    const soaked = await soak({ minutes, folder, svg, atEnd: undo.add, tell: () => undefined })
    const { wrong, accepted, faults, viewers, checked } = soaked
    note(
      'a soak of ten minutes',
      `${checked.events} events, ${accepted} accepted writes, ${checked.runs} runs, ${viewers} viewers, ${faults.length} faults`,
    )
    note('a soak: EventStoreDB and MongoDB', 'stand-ins at the wire, in memory, behind the real clients')
    expect(wrong).toEqual([])
    expect(accepted).toBeGreaterThan(0)
  })
})
