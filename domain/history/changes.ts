/** The timeline's rows about changes that a turn or command made. */
import type { TaskEventMessage } from '../api/socket.schema.ts'
import { plainRow, type TimelineRow } from './row.ts'

export type Changes = Extract<TaskEventMessage, { type: 'WorkspaceChanged' }>

/** The row for changes that differ from those recorded before; `null` when nothing has changed, and while an agent is writing. */
export function changesRow(event: Changes, before: Changes | null): TimelineRow | null {
  const { data, content } = event
  if (content?.tree === null) return null
  const had = before?.data ?? { files: 0, additions: 0, deletions: 0 }
  const isSameTree = content !== null && before?.content?.tree === content.tree
  const isSameSize =
    had.files === data.files && had.additions === data.additions && had.deletions === data.deletions
  if (isSameTree || (isSameSize && (data.files === 0 || content === null))) return null
  const sentence = had.files === 0 ? `${files(data.files)} changed` : differ(data.files, content?.baseBranch)
  const lines = `+${data.additions} −${data.deletions}`
  const detail = had.files === 0 ? lines : `${lines}, before +${had.additions} −${had.deletions}`
  return { ...plainRow(event), kind: 'changes', sentence, begun: sentence, detail, who: 'runner' }
}

const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`

function differ(count: number, base = 'the base'): string {
  if (count === 0) return `No file differs from ${base} any more`
  return `${files(count)} now ${count === 1 ? 'differs' : 'differ'} from ${base}`
}
