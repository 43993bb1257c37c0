/** Lists for each line of a changed file the turn that wrote it, and the message that requested that turn. */
import { Link, useParams } from 'react-router-dom'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import type { DiffFile } from '../changes/diff/readDiffs.ts'
import { Dialog } from '../../../ui/overlay/Dialog.tsx'
import { type Provenance, useProvenanceQuery } from './provenanceApi.ts'
import { texts } from './texts.ts'

interface OriginDialogProps {
  readonly file: DiffFile
  readonly onClose: () => void
}

export function OriginDialog({ file, onClose }: OriginDialogProps) {
  const { taskId = '' } = useParams()
  const { name: path, hash } = file
  const { data, error } = useProvenanceQuery({ taskId, path, hash })
  return (
    <Dialog
      open
      onClose={onClose}
      title={texts.title}
      actions={
        <Button data-safe onClick={onClose}>
          {texts.close}
        </Button>
      }
    >
      <p className="truncate mono text-meta" title={path}>
        {path}
      </p>
      {error !== undefined && (
        <p role="alert" className="mt-3 text-bad">
          {reasonOf(error, texts.failed)}
        </p>
      )}
      {data === undefined && error === undefined && (
        <p role="status" className="mt-3">
          {texts.loading}
        </p>
      )}
      {data !== undefined && <Ranges provenance={data} taskId={taskId} />}
    </Dialog>
  )
}

/** How many ranges of lines are listed. For any other line, a click on its number shows its origin. */
const maxRanges = 500

function Ranges({ provenance, taskId }: { readonly provenance: Provenance; readonly taskId: string }) {
  const turns = new Map(provenance.turns.map((turn) => [turn.executionId, turn]))
  return (
    // A scrollable list must be reachable by keyboard.
    <ol
      tabIndex={0}
      aria-label={texts.title}
      className="mt-3 grid max-h-80 gap-2 overflow-y-auto rounded-control border border-line px-2.5 py-2 text-ui text-text"
    >
      {provenance.ranges.slice(0, maxRanges).map(({ from, to, executionId, callId }) => (
        <li key={from} className="grid grid-cols-[7rem_minmax(0,1fr)] gap-2">
          <span className="text-muted">{texts.lines(from, to)}</span>
          <Origin turn={turns.get(executionId ?? '')} callId={callId} taskId={taskId} />
        </li>
      ))}
      {provenance.ranges.length > maxRanges && (
        <li className="text-muted">{texts.moreRanges(provenance.ranges.length - maxRanges)}</li>
      )}
    </ol>
  )
}

interface OriginProps {
  readonly turn: Provenance['turns'][number] | undefined
  readonly callId: string | null
  readonly taskId: string
}

function Origin({ turn, callId, taskId }: OriginProps) {
  if (turn === undefined) return <span className="text-muted">{texts.unknown}</span>
  if (turn.taskId !== taskId)
    return (
      <Link to={`/tasks/${turn.taskId}`} className="text-accent hover:underline">
        {texts.earlierTask}
      </Link>
    )
  const call = turn.calls.find(({ id }) => id === callId)
  const edits = turn.edits.length === 0 ? '' : texts.edits(turn.edits.length)
  const wrote =
    call === undefined ? edits : `${call.name ?? texts.call[call.kind]} ${call.target ?? ''}`.trim()
  return (
    <span className="min-w-0 wrap-anywhere">
      {turn.kind === 'command' && <span className="text-muted">{texts.command} </span>}
      <span className="line-clamp-2">{turn.prompt ?? texts.erased}</span>
      {wrote !== '' && <span className="block truncate text-meta text-muted">{wrote}</span>}
    </span>
  )
}
