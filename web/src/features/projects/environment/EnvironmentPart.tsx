/** The environment of a project: when it was prepared, how long that took, how large it is, and what its setup printed. */
import { useDispatch } from 'react-redux'
import type { ShownEnvironment } from '#domain/api/environment.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { useNow } from '../../../ui/hooks.ts'
import { Note } from '../../../ui/layout/Note.tsx'
import { RetryNote } from '../../../ui/layout/RetryNote.tsx'
import { Skeletons } from '../../../ui/status/Loading.tsx'
import { Status } from '../../../ui/status/Status.tsx'
import { age, elapsed, took } from '../../../ui/text/times.ts'
import { HiddenMarks } from '../../../ui/text/HiddenMarks.tsx'
import { notifiedOutcome } from '../../notifications/notifications.ts'
import { SettingsPart } from '../settings/SettingsPart.tsx'
import { useProjectEnvironmentQuery, useRebuildEnvironmentMutation } from './environmentApi.ts'
import { texts } from './texts.ts'

const pollIntervalMs = 2_000

export function EnvironmentPart({ projectId, hasSetup }: { projectId: string; hasSetup: boolean }) {
  // The environment is polled only while it is being built.
  const { currentData: known } = useProjectEnvironmentQuery(projectId)
  const isBuilding = known?.state === 'building'
  const read = useProjectEnvironmentQuery(projectId, {
    pollingInterval: isBuilding ? pollIntervalMs : 0,
    refetchOnMountOrArgChange: true,
  })
  const { data, error } = read
  return (
    <SettingsPart title={texts.title} why={texts.why}>
      {data === undefined && error === undefined && (
        <Skeletons label={texts.loading} each={['h-11 w-full']} />
      )}
      {data === undefined && error !== undefined && <RetryNote read={read}>{texts.notFetched}</RetryNote>}
      {data !== undefined && <Shown projectId={projectId} hasSetup={hasSetup} environment={data} />}
    </SettingsPart>
  )
}

interface ShownProps {
  readonly projectId: string
  readonly hasSetup: boolean
  readonly environment: ShownEnvironment
}

function Shown({ projectId, hasSetup, environment }: ShownProps) {
  const dispatch = useDispatch()
  const [rebuild, { isLoading }] = useRebuildEnvironmentMutation()
  const { state, reason, usesEarlier, leftOut, log } = environment
  const isBuilding = state === 'building'
  const onRebuild = async () => {
    const answer = await rebuild(projectId)
    dispatch(notifiedOutcome(answer.error, texts.begun, texts.notBegun))
  }
  return (
    <>
      <div className="flex min-h-11 flex-wrap items-center justify-between gap-3">
        <div className="grid gap-1 text-ui" role="status">
          <State environment={environment} hasSetup={hasSetup} />
        </div>
        {hasSetup && (
          <Button
            size="touch"
            busy={isLoading || isBuilding}
            busyLabel={texts.rebuilding}
            onClick={() => void onRebuild()}
          >
            {texts.rebuild}
          </Button>
        )}
      </div>
      {state === 'failed' && (
        <Note kind="error">
          {reason} {usesEarlier && texts.earlier}
        </Note>
      )}
      {leftOut.length > 0 && <Note kind="warning">{texts.leftOut(leftOut)}</Note>}
      {log !== '' && (
        <details className="text-ui">
          <summary className="cursor-pointer py-1.5">{texts.log}</summary>
          <pre
            // A scrollable box must be reachable by keyboard.
            tabIndex={0}
            className="mt-2 max-h-80 overflow-auto rounded-control border border-line-soft p-3 font-mono text-meta whitespace-pre-wrap wrap-anywhere"
          >
            <HiddenMarks text={log} />
          </pre>
        </details>
      )}
    </>
  )
}

function State({ environment, hasSetup }: Omit<ShownProps, 'projectId'>) {
  const { state, since, builtAt, seconds, bytes, changed } = environment
  const now = useNow(state === 'building' ? 1_000 : 30_000)
  if (!hasSetup) return <p className="text-muted">{texts.noSetup}</p>
  return (
    <>
      {state === 'none' && <p className="text-muted">{texts.none}</p>}
      {state === 'building' && since !== null && (
        <p>
          <Status status="running" wordHidden>
            {texts.building(elapsed(now - Date.parse(since)))}
          </Status>
        </p>
      )}
      {state === 'failed' && since !== null && (
        <p>
          <Status status="failed" wordHidden>
            {texts.failed(lowered(age(since, now)))}
          </Status>
        </p>
      )}
      {builtAt !== null && seconds !== null && bytes !== null && (
        <p>{texts.ready(lowered(age(builtAt, now)), took(seconds * 1_000), sizeOf(bytes))}</p>
      )}
      {changed !== null && (
        <p className="text-muted wrap-anywhere">
          <HiddenMarks text={texts.changed(state === 'building', changed)} />
        </p>
      )}
    </>
  )
}

const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Bytes as `3.2 MB`, or `1.4 GB`. */
function sizeOf(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}
