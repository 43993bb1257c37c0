/**
 * The banner below the header while an event stream of the task is damaged: what the damage means, and who can help. The banner stays visible when
 * panels scroll.
 */
import { CircleAlert, TriangleAlert } from 'lucide-react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { classes } from '../../ui/classes.ts'
import { isRecordDamaged } from '../tasks/taskStatus.ts'
import { texts } from './damagedRecordTexts.ts'

export function RecordBanner({
  task,
  unreadable,
}: {
  readonly task: Task
  readonly unreadable: NonNullable<Task['unreadable']>
}) {
  const isWhole = isRecordDamaged(task)
  const Icon = isWhole ? CircleAlert : TriangleAlert
  return (
    <div
      role={isWhole ? 'alert' : 'status'}
      className={classes(
        'flex flex-none items-start gap-2.5 border-b px-4 py-2 text-ui',
        isWhole ? 'border-bad bg-del-bg' : 'border-warn bg-warn-bg',
      )}
    >
      <Icon className={classes('mt-0.5', isWhole ? 'text-bad' : 'text-warn')} />
      <p className="min-w-0 flex-1 wrap-anywhere">
        <b className="font-medium">{isWhole ? texts.damaged : texts.terminalDamaged}</b>{' '}
        {isWhole ? texts.what : texts.terminalWhat} {texts.why(unreadable.revision, unreadable.reason)}
      </p>
    </div>
  )
}
