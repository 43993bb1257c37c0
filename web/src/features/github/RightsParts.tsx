/** The parts of the page about the App's rights, each a table. */
import { CircleCheck, CircleX, Clock, ExternalLink, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Delivery, InstallationOfApp, PermissionRow } from '#domain/api/github.schema.ts'
import { ButtonLink } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { grouped } from '../../ui/layout/Stats.tsx'
import { FactTable } from './FactTable.tsx'
import { grantedBy } from './grantedBy.ts'
import type { GitHubRights } from './gitHubApi.ts'
import { texts } from './rightsTexts.ts'

type Read<P> = Extract<P, { readonly kind: 'read' }>

const Muted = ({ children }: { readonly children: ReactNode }) => (
  <span className="text-muted">{children}</span>
)

function Marked({
  kind,
  children,
}: {
  readonly kind: 'ok' | 'warn' | 'bad' | 'muted'
  readonly children: ReactNode
}) {
  const Icon = { ok: CircleCheck, warn: TriangleAlert, bad: CircleX, muted: Clock }[kind]
  const colour = { ok: 'text-ok', warn: 'text-warn', bad: 'text-bad', muted: 'text-muted' }[kind]
  return (
    <span className="flex min-w-0 gap-1.5">
      <Icon className={`mt-0.75 size-3.5 flex-none ${colour}`} />
      <span className="min-w-0">{children}</span>
    </span>
  )
}

interface PermissionsProps {
  readonly permissions: Read<GitHubRights['permissions']>
  /** `null` when the installations are not known. */
  readonly installations: readonly InstallationOfApp[] | null
}

export function Permissions({ permissions, installations }: PermissionsProps) {
  const { rows, missing, missingEvents, owner, url } = permissions
  const words = texts.permissions
  return (
    <>
      {(missing.length > 0 || missingEvents.length > 0) && (
        <Note
          kind="warning"
          className="mb-3"
          action={
            <ButtonLink to={url} size="small" outside>
              {words.change}
            </ButtonLink>
          }
        >
          {missing.length > 0 && `${words.missing(missing)} `}
          {missingEvents.length > 0 && `${words.missingEvents(missingEvents)} `}
          {words.whoChanges(owner.account, owner.isOrganization)}
        </Note>
      )}
      <Panel>
        <FactTable
          label={words.title}
          columns={words.columns}
          rows={rows.map((row) => ({
            key: row.name,
            cells: [
              <span key="name" className="mono">
                {row.name}
              </span>,
              <Needed key="needed" row={row} />,
              <Requested key="requested" row={row} />,
              <Granted key="granted" row={row} installations={installations} />,
            ],
          }))}
        />
      </Panel>
    </>
  )
}

interface RowProps {
  readonly row: PermissionRow
}

function Needed({ row: { wanted, isOptional } }: RowProps) {
  if (wanted === null) return <Muted>{texts.permissions.unused}</Muted>
  return (
    <span>
      {wanted}
      {isOptional && <Muted>, {texts.permissions.optional}</Muted>}
    </span>
  )
}

function Requested({ row: { wanted, isOptional, app } }: RowProps) {
  const isSufficient = app !== null && (app === wanted || app === 'admin' || wanted === 'read')
  if (isSufficient) return <Marked kind="ok">{app}</Marked>
  const word = app ?? texts.permissions.nothing
  return isOptional ? <Muted>{word}</Muted> : <Marked kind="warn">{word}</Marked>
}

function Granted({ row, installations }: RowProps & Pick<PermissionsProps, 'installations'>) {
  const words = texts.permissions.grantedBy
  const granted = grantedBy(row, installations)
  switch (granted.kind) {
    case 'nothing_to_grant':
      return <Muted>–</Muted>
    case 'unknown':
      return <Muted>{words.unknown}</Muted>
    case 'no_installation':
      return <Muted>{words.noInstallation}</Muted>
    case 'all':
      if (row.wanted === null) return <Muted>{words.all}</Muted>
      return <Marked kind="ok">{words.all}</Marked>
    case 'not_in': {
      const word = granted.isNowhere ? words.none : words.notIn(granted.accounts)
      return row.isOptional ? <Muted>{word}</Muted> : <Marked kind="warn">{word}</Marked>
    }
  }
}

interface InstallationsProps {
  readonly part: Read<GitHubRights['installations']>
  readonly installUrl: string
}

export function Installations({ part: { installations, requests, more }, installUrl }: InstallationsProps) {
  const words = texts.installations
  if (installations.length === 0 && requests.length === 0)
    return (
      <Panel>
        <Empty
          title={words.empty}
          action={
            <ButtonLink to={installUrl} size="touch" outside>
              {words.install}
            </ButtonLink>
          }
        />
      </Panel>
    )
  return (
    <Panel>
      <FactTable
        label={words.title}
        columns={words.columns}
        lastIsButtons
        rows={[
          ...installations.map((one) => ({ key: one.id, cells: installationCells(one) })),
          ...requests.map(({ account, requester }) => ({
            key: `${account} ${requester}`,
            cells: [account, <Muted key="none">–</Muted>, requestState(requester), null],
          })),
        ]}
      />
      {more > 0 && (
        <p className="border-t border-line-soft px-4 py-2 text-ui text-muted">{words.more(more)}</p>
      )}
    </Panel>
  )
}

const requestState = (requester: string) => (
  <Marked key="state" kind="muted">
    {texts.installations.requestedBy(requester)}
  </Marked>
)

function installationCells(one: InstallationOfApp): ReactNode[] {
  const words = texts.installations
  const { account, count, repositories, url } = one
  const which = repositories === 'all' ? words.all : words.selected
  return [
    account,
    count === null ? which : `${which} (${grouped(count)})`,
    <State key="state" installation={one} />,
    <ButtonLink
      key="link"
      to={url}
      size="touch"
      outside
      icon={<ExternalLink />}
      label={words.configureOf(account)}
      className="max-md:mt-1"
    >
      {words.configure}
    </ButtonLink>,
  ]
}

function State({ installation: { suspendedAt, missing } }: { readonly installation: InstallationOfApp }) {
  const words = texts.installations
  if (suspendedAt === null && missing.length === 0) return <Marked kind="ok">{words.complete}</Marked>
  return (
    <span className="grid gap-1">
      {suspendedAt !== null && <Marked kind="bad">{words.suspended(suspendedAt.slice(0, 10))}</Marked>}
      {missing.length > 0 && <Marked kind="warn">{words.missing(missing)}</Marked>}
    </span>
  )
}

interface LimitsProps {
  readonly installations: readonly InstallationOfApp[]
  readonly own: GitHubRights['own']
}

export function Limits({ installations, own }: LimitsProps) {
  const words = texts.limits
  const holders = [
    ...installations.flatMap(({ id, account, left }) =>
      left === null ? [] : [{ key: id, name: words.installation(account), ...left }],
    ),
    ...(own?.kind === 'read' ? [{ key: 'own', name: words.own(own.login), ...own.left }] : []),
  ]
  return (
    <section className="mt-8">
      <h2 className="mb-3 font-semibold">{words.title}</h2>
      {own?.kind === 'unavailable' && (
        <Note kind="warning" className="mb-3">
          {own.reason}
        </Note>
      )}
      {holders.length === 0 ? (
        own?.kind !== 'unavailable' && <p className="text-ui text-muted">{words.empty}</p>
      ) : (
        <Panel>
          <FactTable
            label={words.title}
            columns={words.columns}
            rows={holders.map(({ key, name, limit, remaining, resetsAt }) => ({
              key,
              cells: [
                name,
                <Left key="left" limit={limit} remaining={remaining} />,
                grouped(limit),
                <Time key="at" at={resetsAt} from={11} />,
              ],
            }))}
          />
        </Panel>
      )}
    </section>
  )
}

/** How many requests are left, coloured below a tenth of the limit: the server reserves the last tenth for requests that people wait for. */
function Left({ limit, remaining }: { readonly limit: number; readonly remaining: number }) {
  return <span className={remaining < limit / 10 ? 'text-warn' : undefined}>{grouped(remaining)}</span>
}

/** A time in UTC, as in the audit log. `from` is the index of the first character that is shown. */
const Time = ({ at, from = 0 }: { readonly at: string; readonly from?: number }) => (
  <time dateTime={at} className="mono text-meta">
    {at.slice(from, 19).replace('T', ' ')}
  </time>
)

export function Deliveries({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  const words = texts.deliveries
  return (
    <Panel>
      {deliveries.some(({ effect }) => effect === 'failed') && (
        <p className="border-b border-line-soft px-4 py-2 text-ui text-muted">{words.failedLater}</p>
      )}
      {deliveries.length === 0 ? (
        <p className="p-4 text-ui text-muted">{words.empty}</p>
      ) : (
        <FactTable
          label={words.title}
          columns={words.columns}
          rows={deliveries.map(({ id, at, event, action, succeeded, effect }) => ({
            key: id,
            cells: [
              <Time key="at" at={at} />,
              <span key="event" className="mono">
                {action === null ? event : `${event}.${action}`}
              </span>,
              succeeded ? (
                <Muted key="host">{words.delivered}</Muted>
              ) : (
                <span key="host">{words.notDelivered}</span>
              ),
              <Effect key="effect" effect={effect} wasFetched={effect === 'handled' && !succeeded} />,
            ],
          }))}
        />
      )}
    </Panel>
  )
}

function Effect({ effect, wasFetched }: Pick<Delivery, 'effect'> & { readonly wasFetched: boolean }) {
  const word = wasFetched ? texts.deliveries.fetched : texts.deliveries.effects[effect]
  if (effect === 'ignored' || effect === 'repeated') return <Muted>{word}</Muted>
  return <Marked kind={effect === 'handled' ? 'ok' : effect === 'failed' ? 'bad' : 'warn'}>{word}</Marked>
}
