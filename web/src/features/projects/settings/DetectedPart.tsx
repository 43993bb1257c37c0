/** Shows the environment that the repository's files call for, and offers settings that provide it. */
import { useState, type ReactNode } from 'react'
import type { DetectedEnvironment, HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { RetryNote } from '../../../ui/layout/RetryNote.tsx'
import { ConfirmDialog } from '../../../ui/overlay/ConfirmDialog.tsx'
import { ExactText } from '../../../ui/text/ExactText.tsx'
import { proposedChange, type Proposal } from './detectedProposal.ts'
import { faults, refreshAfterSeconds, useProjectRepositoryQuery } from './projectSettingsApi.ts'
import { SettingsPart, type ProjectSettingsProps, useSave } from './SettingsPart.tsx'
import { texts as allTexts } from './texts.ts'

const texts = allTexts.detected

interface DetectedPartProps extends ProjectSettingsProps {
  readonly suggestions: readonly HostSuggestion[]
}

export function DetectedPart({ suggestions, ...part }: DetectedPartProps) {
  const read = useProjectRepositoryQuery(part.projectId, { refetchOnMountOrArgChange: refreshAfterSeconds })
  const detected = read.data?.repository?.detected
  const isEmpty = detected && detected.found.length === 0 && detected.notes.length === 0
  return (
    <SettingsPart title={texts.title} why={texts.why}>
      {read.data === undefined && read.error !== undefined && (
        <RetryNote read={read}>{reasonOf(read.error, faults.notFetched)}</RetryNote>
      )}
      {read.data === undefined && read.error === undefined && <Status>{texts.looking}</Status>}
      {read.data !== undefined && detected === undefined && <Status>{texts.unknown}</Status>}
      {isEmpty && <Status>{texts.none}</Status>}
      {detected && !isEmpty && <Detected {...part} detected={detected} suggestions={suggestions} />}
    </SettingsPart>
  )
}

const Status = ({ children }: { readonly children: string }) => (
  <p role="status" className="text-ui text-muted">
    {children}
  </p>
)

interface DetectedProps extends DetectedPartProps {
  readonly detected: DetectedEnvironment
}

function Detected({ detected, suggestions, ...part }: DetectedProps) {
  // Leaves out repositories (hosts with a slash): all of a proposal is accepted at once, and agents could then read these repositories.
  const configured = detected.setupCommand === '' ? [] : suggestions.filter(({ host }) => !host.includes('/'))
  const hosts = [...detected.hosts, ...configured]
  const proposal = { ...detected, hosts: [...new Map(hosts.map((each) => [each.host, each])).values()] }
  const { setupCommand, variables, ports, found, notes } = proposal
  return (
    <>
      <Listed label={texts.found} lines={found}>
        {({ file, says }) => (
          <>
            <code>{file}</code> <span className="text-muted">{says}</span>
          </>
        )}
      </Listed>
      {setupCommand !== '' && (
        <Block label={texts.setup}>
          <pre className="font-mono text-meta whitespace-pre-wrap wrap-anywhere">
            <ExactText text={setupCommand} />
          </pre>
        </Block>
      )}
      <Listed label={texts.hosts} lines={proposal.hosts}>
        {({ host, from }) => (
          <>
            <code>{host}</code> <span className="text-muted">{texts.hostFrom(from)}</span>
          </>
        )}
      </Listed>
      <Listed label={texts.variables} lines={variables}>
        {({ name, value }) => (
          <code className="whitespace-pre-wrap">
            {name}=<ExactText text={value} />
          </code>
        )}
      </Listed>
      {ports.length > 0 && <p className="text-ui">{texts.ports(ports.join(', '))}</p>}
      <Listed label={texts.notes} lines={notes}>
        {(note) => <ExactText text={note} />}
      </Listed>
      <UseProposal {...part} proposal={proposal} />
    </>
  )
}

function UseProposal({
  projectId,
  settings,
  proposal,
}: Omit<DetectedPartProps, 'suggestions'> & { readonly proposal: Proposal }) {
  const { save, busy } = useSave(projectId)
  const [isConfirming, setConfirming] = useState(false)
  const { change, replacesSetup, replacedVariables } = proposedChange(settings, proposal)
  const replaced = [
    ...(replacesSetup ? [texts.setupCommand] : []),
    ...replacedVariables.map((name) => texts.variable(name)),
  ]
  const use = async () => {
    await save(change)
    setConfirming(false)
  }
  const { setupCommand, hosts, variables } = proposal
  if (setupCommand === '' && hosts.length === 0 && variables.length === 0)
    return <Status>{texts.nothingProposed}</Status>
  if (Object.keys(change).length === 0) return <Status>{texts.used}</Status>
  return (
    <div>
      <Button
        size="touch"
        busy={busy}
        onClick={() => (replaced.length > 0 ? setConfirming(true) : void use())}
      >
        {texts.use}
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={texts.replaceTitle}
        leave={texts.keep}
        confirm={texts.replace}
        isDangerous
        busy={busy}
        busyLabel={allTexts.saving}
        onConfirm={() => void use()}
      >
        {texts.replaceWhy(replaced.join(', '))}
      </ConfirmDialog>
    </div>
  )
}

function Block({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div role="group" aria-label={label}>
      <p className="mb-1 text-ui font-medium">{label}</p>
      {children}
    </div>
  )
}

interface ListedProps<Line> {
  readonly label: string
  readonly lines: readonly Line[]
  readonly children: (line: Line) => ReactNode
}

/** Renders nothing for an empty list. */
function Listed<Line>({ label, lines, children }: ListedProps<Line>) {
  if (lines.length === 0) return null
  return (
    <Block label={label}>
      <ul className="grid gap-1 text-ui">
        {lines.map((line, index) => (
          // Lines can be equal, so the key of a line is its index.
          <li key={index} className="max-w-[72ch] wrap-anywhere">
            {children(line)}
          </li>
        ))}
      </ul>
    </Block>
  )
}
