/** The history of a task, with the server's statement about the task's record, and the means to check this record independently. */
import { useState } from 'react'
import { useParams } from 'react-router-dom'
import { AuditDialog } from './AuditDialog.tsx'
import { HistoryPanel, type HistoryPanelProps } from './HistoryPanel.tsx'
import { RecordState } from './RecordState.tsx'
import { useHistory } from './useHistory.ts'

export function LiveHistoryPanel(props: Omit<HistoryPanelProps, 'record'>) {
  const { session, visible } = props
  const { taskId = '' } = useParams()
  const count = useHistory(session, (view) => view.count)
  const [showsAudit, setShowsAudit] = useState(false)
  const onAudit = () => setShowsAudit(true)
  const state = <RecordState taskId={taskId} count={count} visible={visible} onCheck={onAudit} />
  return (
    <>
      <HistoryPanel {...props} record={{ state, onAudit }} />
      {showsAudit && <AuditDialog taskId={taskId} onClose={() => setShowsAudit(false)} />}
    </>
  )
}
