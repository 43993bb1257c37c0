/** The audit log of the server, for its administrators. The filters are in the address. */
import { useSearchParams } from 'react-router-dom'
import { reasonOf } from '../../api/fault.ts'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { ShowMore } from '../../ui/layout/ShowMore.tsx'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { ForAdmins } from '../admin/ForAdmins.tsx'
import { DownloadButton } from '../downloads/DownloadButton.tsx'
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
    const entries = Object.entries({ ...filter, ...change }).filter(
      (one): one is [string, string] => one[1] !== undefined,
    )
    setParams(entries, { replace: true })
  }
  const entries = log.currentData?.pages.flatMap((page) => page.entries)
  return (
    <Page
      title={texts.title}
      width="wide"
      lead={<p className="text-muted">{texts.lead}</p>}
      actions={
        <DownloadButton
          call={exportOf(filter)}
          file="audit-log.ndjson"
          label={texts.export}
          busyLabel={texts.exporting}
        />
      }
    >
      <AuditFilters filter={filter} onChange={choose} onClear={() => setParams({}, { replace: true })} />
      <RetryNote read={log} className="mb-4">
        {reasonOf(log.error, texts.fetchFailed)}
      </RetryNote>
      {entries === undefined ? (
        log.error === undefined && (
          <Skeletons label={texts.loading} each={['h-10 w-full', 'mt-2 h-10 w-full', 'mt-2 h-10 w-full']} />
        )
      ) : (
        <Panel label={texts.entries}>
          {entries.length === 0 ? (
            <Empty title={texts.empty}>{texts.emptyWhy}</Empty>
          ) : (
            <AuditEntries entries={entries} onFilter={choose} />
          )}
          {log.hasNextPage && (
            <ShowMore
              label={texts.older}
              busyLabel={texts.showingOlder}
              busy={log.isFetchingNextPage}
              onShow={() => void log.fetchNextPage()}
            />
          )}
        </Panel>
      )}
    </Page>
  )
}

/** The filters in the address; invalid ones are ignored. */
function filterIn(params: URLSearchParams): AuditFilter {
  const day = (name: string) => {
    const value = params.get(name) ?? ''
    return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined
  }
  return {
    person: idIn(params.get('person') ?? ''),
    task: idIn(params.get('task') ?? ''),
    from: day('from'),
    to: day('to'),
  }
}
