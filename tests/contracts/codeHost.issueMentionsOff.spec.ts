/** Issues of the local code host that were taken by a mention before mentions were switched off. */
import { expect, test, vi } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import { projected } from '#platform/reads/projectionWait.ts'
import { memories } from '../../services/github/issues/memory.ts'
import { round } from '../../services/github/issues/readingRound.ts'
import { projectId } from '../domain/ids.ts'
import { eventually, never, issueTasks } from './codeHost.issueTasks.fixture.ts'

const here = issueTasks()
const { rule, adapter, makingOf, issueBy, label, say, tasks, numbers, decisions, startFull } = here

test('an issue that was taken by a mention is not wanted once mentions are off', async () => {
  const number = await issueBy('mallory')
  await say('grace', number, '@deck please')
  const makeRoom = await startFull()
  await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
  await rule(1, { mentions: false })
  await eventually(async () => expect(await decisions()).toEqual([`${number} unwanted`]))
  await rule(1, { mentions: true })
  makeRoom()
  const control = await issueBy('ada', '@deck please')
  await eventually(async () => expect(await decisions()).toContain(`${control} made`))
  expect(await numbers()).toEqual([control])
})

test.each(['before', 'after'])(
  'an issue that was taken by a mention and labelled %s becomes a task by its label once mentions are off',
  async (when) => {
    const number = await issueBy('mallory')
    if (when === 'before') await label('grace', number)
    await say('grace', number, '@deck please')
    const makeRoom = await startFull()
    await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
    if (when === 'after') await label('ada', number)
    const later = await issueBy('ada', '@deck please')
    await eventually(async () => expect(await decisions()).toEqual([`${later} waiting`, `${number} waiting`]))
    await rule(1, { mentions: false })
    await eventually(async () => expect(await decisions()).toContain(`${later} unwanted`))
    makeRoom()
    await eventually(async () => expect(await decisions()).toContain(`${number} made`))
    expect(await numbers()).toEqual([number])
    const [made] = await tasks()
    const events = await here.engines.log.read(taskStream(made?.id ?? ''), 0, 10)
    expect(events.find(({ type }) => type === 'TaskCreatedFromIssue')).toMatchObject({
      data: { trigger: 'label' },
    })
  },
)

test.each([true, false])(
  'the reading in which its mention is not wanted any more looks for its label once by its number, where it has one: %s',
  async (isLabelled) => {
    const number = await issueBy('mallory')
    if (isLabelled) await label('grace', number)
    await say('grace', number, '@deck please')
    let isFull = true
    const admit = async () => {
      if (isFull) throw new Fault('too_many_tasks')
    }
    // Reading is past its last change by then.
    const issues: CodeHost['issues'] = async (...asked) => {
      const found = await adapter('42').issues(...asked)
      return isFull || found === 'unchanged' ? found : { ...found, issues: [] }
    }
    const issue = vi.fn<CodeHost['issue']>((...asked) => adapter('42').issue(...asked))
    const reads = projected(here.engines)
    here.running.push({ stop: async () => reads.close() })
    const { read } = round(makingOf(reads, { admit, codeHost: { issues, issue } }), memories(), {
      isStopped: () => false,
      passingMs: never,
    })
    await read({ id: projectId(1) })
    await eventually(async () => expect(await decisions()).toEqual([`${number} waiting`]))
    await rule(1, { mentions: false })
    isFull = false
    issue.mockClear()
    await read({ id: projectId(1) })
    const outcome = isLabelled ? 'made' : 'unwanted'
    await eventually(async () => expect(await decisions()).toEqual([`${number} ${outcome}`]))
    await read({ id: projectId(1) })
    expect(issue).toHaveBeenCalledTimes(1)
  },
)
