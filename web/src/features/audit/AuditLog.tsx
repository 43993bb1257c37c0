/** The audit log of the server, for its administrators. What is filtered is in the address. */
import { Download } from 'lucide-react'
import { useDispatch } from 'react-redux'
import { useSearchParams } from 'react-router-dom'
import { reasonOf } from '../../api/fault.ts'
import { useDownload } from '../../api/useDownload.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Skeleton } from '../../ui/status/Loading.tsx'
import { ForAdmins } from '../admin/ForAdmins.tsx'
import { notifiedFailure } from '../notifications/notifications.ts'
import { exportOf, useAuditLogInfiniteQuery, type AuditFilter } from './auditApi.ts'
import { AuditEntries } from './AuditEntries.tsx'
import { AuditFilters, idIn } from './AuditFilters.tsx'
import { texts } from './texts.ts'

export function AuditLog() {
  return (
    <ForAdmins title={texts.title} refusal={texts.notAdmin}>
      <Log />
    </ForAdmins>
  )
}

function Log() {
  const [params, setParams] = useSearchParams()
  const filter = filterIn(params)
  const log = useAuditLogInfiniteQuery(filter, { refetchOnMountOrArgChange: true })
  const choose = (change: Partial<AuditFilter>) => {
    const given = Object.entries({ ...filter, ...change }).filter(
      (one): one is [string, string] => one[1] !== undefined,
    )
    setParams(given, { replace: true })
  }
  const entries = log.currentData?.pages.flatMap((page) => page.entries)
  return (
    <Page
      title={texts.title}
      width="wide"
      lead={<p className="text-muted">{texts.lead}</p>}
      actions={<ExportButton filter={filter} />}
    >
      <AuditFilters filter={filter} onChange={choose} onClear={() => setParams({}, { replace: true })} />
      {log.error !== undefined && (
        <Note
          kind="error"
          className="mb-4"
          action={
            <Button size="small" busy={log.isFetching} onClick={() => void log.refetch()}>
              {texts.tryAgain}
            </Button>
          }
        >
          {reasonOf(log.error, texts.fetchFailed)}
        </Note>
      )}
      {entries === undefined ? (
        log.error === undefined && <Loading />
      ) : (
        <Panel label={texts.entries}>
          {entries.length === 0 ? (
            <Empty title={texts.empty}>{texts.emptyWhy}</Empty>
          ) : (
            <AuditEntries entries={entries} onFilter={choose} />
          )}
          {log.hasNextPage && (
            <div className="border-t border-line-soft p-2">
              <Button
                kind="ghost"
                size="touch"
                className="w-full"
                busy={log.isFetchingNextPage}
                busyLabel={texts.showingOlder}
                onClick={() => void log.fetchNextPage()}
              >
                {texts.older}
              </Button>
            </div>
          )}
        </Panel>
      )}
    </Page>
  )
}

/** What is not valid in the address is as if it were not there. */
function filterIn(params: URLSearchParams): AuditFilter {
  const day = (name: string) => {
    const given = params.get(name) ?? ''
    return /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given)) ? given : undefined
  }
  return {
    person: idIn(params.get('person') ?? ''),
    task: idIn(params.get('task') ?? ''),
    from: day('from'),
    to: day('to'),
  }
}

function ExportButton({ filter }: { readonly filter: AuditFilter }) {
  const dispatch = useDispatch()
  const { save, isSaving } = useDownload()
  const start = async () => {
    const fault = await save(exportOf(filter), 'audit-log.ndjson')
    if (fault !== null) dispatch(notifiedFailure(texts.exportFailed, fault, texts.exportFailed))
  }
  return (
    <Button
      size="touch"
      icon={<Download />}
      busy={isSaving}
      busyLabel={texts.exporting}
      onClick={() => void start()}
    >
      {texts.export}
    </Button>
  )
}

function Loading() {
  return (
    <div role="status">
      <span className="sr-only">{texts.loading}</span>
      <Skeleton className="h-10 w-full" />
      <Skeleton className="mt-2 h-10 w-full" />
      <Skeleton className="mt-2 h-10 w-full" />
    </div>
  )
}
