/** The page that creates the GitHub App of this server, once. It is for administrators, and for whoever has the code that the server printed. */
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { useSelector } from 'react-redux'
import { useSearchParams } from 'react-router-dom'
import { longestAppName, setupErrors, setupRoutes } from '#domain/api/setup.ts'
import { tryOr } from '../../state/tryOr.ts'
import { messageFor, reasonOf } from '../../api/fault.ts'
import { newId } from '../../api/newId.ts'
import { selectSignedIn } from '../../api/session.ts'
import { Button, ButtonLink, buttonStyle } from '../../ui/form/Button.tsx'
import { Checkbox, Choice } from '../../ui/form/Choice.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Brand } from '../../ui/text/Brand.tsx'
import { PageSpinner } from '../../ui/status/Loading.tsx'
import { useWindowEvent } from '../../ui/hooks.ts'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { useBeginSetupMutation, useSetupQuery } from './setupApi.ts'
import { texts } from './texts.ts'

/** The title and the layout of the page. It shows the product's name, because usually nobody can sign in yet, and then there is no top bar. */
const page = { title: texts.title, width: 'narrow', above: <Brand className="mb-8 md:mb-10" /> } as const

export function Setup() {
  usePageTitle(texts.title)
  const setup = useSetupQuery(undefined, { refetchOnMountOrArgChange: true })
  if (setup.isLoading) return <PageSpinner />
  if (setup.data === undefined)
    return (
      <Page {...page}>
        <Note
          kind="error"
          action={
            <Button size="small" busy={setup.isFetching} onClick={() => void setup.refetch()}>
              {texts.again}
            </Button>
          }
        >
          {reasonOf(setup.error, texts.notFetched)}
        </Note>
      </Page>
    )
  if (!setup.data.isOpen) return <Done installUrl={setup.data.installUrl} />
  return <Open publicUrl={setup.data.publicUrl} hostUrl={setup.data.hostUrl} />
}

function Done({ installUrl }: { readonly installUrl: string | null }) {
  return (
    <Page
      {...page}
      title={texts.doneTitle}
      lead={<p className="text-muted">{installUrl === null ? texts.done : texts.made}</p>}
    >
      <div className="flex flex-wrap gap-2">
        {installUrl !== null && (
          <ButtonLink to={installUrl} kind="primary" size="touch" outside>
            {texts.install}
          </ButtonLink>
        )}
        <ButtonLink to="/auth" size="touch">
          {texts.signIn}
        </ButtonLink>
      </div>
    </Page>
  )
}

interface OpenProps {
  readonly publicUrl: string | null
  readonly hostUrl: string
}

function Open({ publicUrl, hostUrl }: OpenProps) {
  const [code] = useState(takeCode)
  const signedIn = useSelector(selectSignedIn)
  const [query] = useSearchParams()
  const error = query.get('error')
  const known = setupErrors.find((one) => one === error)
  return (
    <Page {...page} lead={<p className="text-muted">{texts.lead}</p>}>
      {error !== null && (
        <Note
          kind="error"
          className="mb-4"
          action={
            error === 'unavailable' ? (
              <a className={buttonStyle('plain', 'small')} href={`/api${setupRoutes.setupCallback.path}`}>
                {texts.again}
              </a>
            ) : undefined
          }
        >
          {known === undefined ? texts.otherError : texts.errors[known]} {texts.unfinished(keptIn(keptName))}
        </Note>
      )}
      {code === null && !signedIn ? (
        <p>{texts.noCode}</p>
      ) : (
        <SetupForm code={code} publicUrl={publicUrl} hostUrl={hostUrl} />
      )}
    </Page>
  )
}

const keptCode = 'setupCode'
const keptName = 'setupName'

/** A value that this tab has kept; `null` if there is none, or if the browser denies access to its storage. */
function keptIn(key: string): string | null {
  return tryOr(() => sessionStorage.getItem(key), null)
}

function keep(key: string, value: string): void {
  tryOr(() => sessionStorage.setItem(key, value), undefined)
}

/** Removes the code from the address and keeps it in this tab, because GitHub returns to the page without it. */
function takeCode(): string | null {
  const code = new URLSearchParams(window.location.hash.slice(1)).get('code')
  if (code === null) return keptIn(keptCode)
  keep(keptCode, code)
  window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)
  return code
}

/** A name with the server's host or, if the address is local, random characters: it distinguishes the Apps of several servers. */
function suggestedName(address: string): string {
  const host = URL.canParse(address) ? new URL(address).hostname : ''
  const isHere = host === '' || host === 'localhost' || /^(127\.|\[)/.test(host)
  const suffix = isHere ? newId().slice(0, 6) : host
  return `Flightdeck ${suffix}`.slice(0, longestAppName).trim()
}

const tickNames = ['hooks', 'isPublic', 'workflows', 'members'] as const
type TickValues = Readonly<Record<(typeof tickNames)[number], boolean>>

interface TicksProps {
  readonly ticks: TickValues
  readonly onChange: (ticks: TickValues) => void
}

function Ticks({ ticks, onChange }: TicksProps) {
  return (
    <fieldset className="grid gap-3 border-t border-line-soft pt-4">
      <legend className="sr-only">{texts.options}</legend>
      {tickNames.map((tick) => (
        <div key={tick}>
          <Checkbox
            checked={ticks[tick]}
            describedBy={`setup-${tick}`}
            onChange={(checked) => onChange({ ...ticks, [tick]: checked })}
          >
            {texts[tick]}
          </Checkbox>
          <p id={`setup-${tick}`} className="ml-6 text-meta text-muted max-md:-mt-1.5 md:-mt-0.5">
            {texts[`${tick}Why`]}
          </p>
        </div>
      ))}
    </fieldset>
  )
}

function SetupForm({ code, publicUrl, hostUrl }: OpenProps & { readonly code: string | null }) {
  const [owner, setOwner] = useState<'person' | 'organization'>('person')
  const [organization, setOrganization] = useState('')
  const [address, setAddress] = useState(publicUrl ?? window.location.origin)
  const [name, setName] = useState(() => suggestedName(publicUrl ?? window.location.origin))
  const [ticks, setTicks] = useState<TickValues>({
    hooks: publicUrl?.startsWith('https:') === true,
    isPublic: false,
    workflows: false,
    members: false,
  })
  const [begin, { isLoading, error, data, reset }] = useBeginSetupMutation()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // The browser itself must send this request, with a form, because only the browser is signed in at GitHub.
    if (data !== undefined) form.current?.submit()
  }, [data])
  // The browser's back button may restore the page as it was left, with a busy button.
  useWindowEvent('pageshow', ({ persisted }) => {
    if (persisted) reset()
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    keep(keptName, name.trim())
    void begin({
      ...(code === null ? {} : { code }),
      organization: owner === 'organization' ? organization.trim() : null,
      name: name.trim(),
      publicUrl: address.trim(),
      ...ticks,
    })
  }
  const field = error !== undefined && 'field' in error ? error.field : null
  return (
    <>
      <form onSubmit={onSubmit}>
        <Panel className="grid gap-5 p-5">
          <Choice
            label={texts.owner}
            options={[
              { value: 'person', label: texts.owners.person },
              { value: 'organization', label: texts.owners.organization },
            ]}
            chosen={owner}
            onChoose={setOwner}
          />
          {owner === 'organization' && (
            <Field
              label={texts.organization}
              help={texts.organizationHelp}
              error={messageFor(error, 'organization')}
              value={organization}
              required
              maxCharacters={39}
              autoCapitalize="off"
              spellCheck={false}
              onChange={(event) => setOrganization(event.target.value)}
            />
          )}
          <Field
            label={texts.name}
            help={texts.nameHelp}
            value={name}
            required
            maxCharacters={longestAppName}
            onChange={(event) => setName(event.target.value)}
          />
          <Field
            label={texts.address}
            help={publicUrl === null ? texts.addressHelp : texts.fixedAddress}
            error={messageFor(error, 'publicUrl')}
            type="url"
            value={address}
            required
            readOnly={publicUrl !== null}
            onChange={(event) => setAddress(event.target.value)}
          />
          <Ticks ticks={ticks} onChange={setTicks} />
        </Panel>
        {error !== undefined && field === null && (
          <Note kind="error" className="mt-4">
            {reasonOf(error, texts.notBegun)}
          </Note>
        )}
        <p className="mt-4 text-ui text-muted">{texts.signInFirst}</p>
        <div className="mt-2 flex flex-wrap justify-end gap-2 py-3">
          <ButtonLink to={hostUrl} size="touch" outside>
            {texts.openHost}
          </ButtonLink>
          <Button
            kind="primary"
            size="touch"
            type="submit"
            busy={isLoading || data !== undefined}
            busyLabel={texts.creating}
          >
            {texts.create}
          </Button>
        </div>
      </form>
      {data !== undefined && (
        <form ref={form} method="post" action={data.action} hidden>
          <input type="hidden" name="manifest" value={data.manifest} />
        </form>
      )}
    </>
  )
}
