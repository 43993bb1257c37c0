import { expect, test } from 'vitest'
import { projectStream } from '#domain/kernel/streams.ts'
import { ProjectSecretSet } from '#domain/project/events.ts'
import { auditLogView } from '#domain/views/auditLog.ts'
import { emptyHead, UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { foldView } from '../../../tests/domain/fold.ts'
import { projectId } from '../../../tests/domain/ids.ts'
import { created } from '../../../tests/domain/issues.ts'
import { cause, openTestEngines } from '../../../tests/server/engines.ts'
import { presented } from './admin.ts'

test('an entry of the audit log whose event cannot be read is shown without the name of the secret', async () => {
  const engines = await openTestEngines()
  try {
    const stream = projectStream(projectId(1))
    const [first, second] = ['FIRST', 'SECOND'].map((name) =>
      ProjectSecretSet.of({ forAgent: true }, { name }),
    )
    if (!first || !second) throw new Error('There are two.')
    await engines.log.append(stream, emptyHead, [created, first, second], cause())
    const events = await engines.log.read(stream, 0, 10)
    const entries = [...foldView(auditLogView, new Map(), events).values()]
    const log: typeof engines.log = {
      ...engines.log,
      read: async (of, from, limit) => {
        if (from === 1) throw new UnreadableEvent({ stream: of, revision: from, type: first.type }, 'changed')
        return engines.log.read(of, from, limit)
      },
    }
    const shown = await presented({ ...engines, log }, entries)
    expect(shown.map(({ action, secret }) => [action, secret])).toEqual([
      ['project_created', null],
      ['secret_set', null],
      ['secret_set', 'SECOND'],
    ])
  } finally {
    await engines.close()
  }
})
