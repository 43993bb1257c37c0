/** The settings of a project, for all its tasks: setup, variables, secrets, network and more. */
import { Suspense, type ComponentProps } from 'react'
import { useParams } from 'react-router-dom'
import { reasonOf } from '../../../api/fault.ts'
import { isUnknownId } from '../../../api/isUnknownId.ts'
import { usePageTitle } from '../../tasks/usePageTitle.ts'
import { ButtonLink } from '../../../ui/form/Button.tsx'
import { optionalPart } from '../../../ui/optionalPart.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Page } from '../../../ui/layout/Page.tsx'
import { RetryNote } from '../../../ui/layout/RetryNote.tsx'
import { Skeletons } from '../../../ui/status/Loading.tsx'
import { EnvironmentPart } from '../environment/EnvironmentPart.tsx'
import { useProjectQuery } from '../projectsApi.ts'
import { DraftsPart, FeedbackPart } from './PullRequestParts.tsx'
import { faults, useProjectSettingsQuery } from './projectSettingsApi.ts'
import { FiltersPart, RepositoryPart } from './RepositoryPart.tsx'
import { HooksPart } from './HooksPart.tsx'
import { HostsPart } from './HostsPart.tsx'
import { IssuesPart } from './IssuesPart.tsx'
import { SecretsPart } from './SecretsPart.tsx'
import { SetupPart, VariablesPart } from './SetupParts.tsx'
import { texts } from './texts.ts'

const ModelsPart = optionalPart(async () => (await import('./ModelsPart.tsx')).ModelsPart)

const ServicesPart = optionalPart(async () => (await import('./ServicesPart.tsx')).ServicesPart)

const DetectedPart = optionalPart(async () => (await import('./DetectedPart.tsx')).DetectedPart)

const McpServersPart = optionalPart(async () => (await import('../../mcp/McpServersPart.tsx')).McpServersPart)

export function ProjectSettings() {
  const { projectId = '' } = useParams()
  const read = useProjectSettingsQuery(projectId)
  const { data, error } = read
  const project = useProjectQuery(projectId)
  usePageTitle(texts.title)
  const name = project.data?.project.name
  return (
    <Page
      title={texts.title}
      width="narrow"
      // The line is as high as one line of text from the start, so that usually nothing moves when the name is loaded.
      lead={<p className="line-clamp-2 min-h-5 wrap-anywhere text-muted">{name}</p>}
      actions={
        <ButtonLink to={`/projects/${projectId}`} size="touch">
          {texts.back}
        </ButtonLink>
      }
    >
      {data === undefined && error === undefined && (
        <Skeletons label={texts.loading} each={['h-40 w-full', 'mt-6 h-40 w-full']} />
      )}
      {data === undefined && isUnknownId(error) && (
        <Note kind="error">{reasonOf(error, faults.notFetched)}</Note>
      )}
      {data === undefined && !isUnknownId(error) && (
        <RetryNote read={read}>{reasonOf(error, faults.notFetched)}</RetryNote>
      )}
      {data !== undefined && <Parts projectId={projectId} {...data} />}
    </Page>
  )
}

function Parts({ suggestions, ...part }: ComponentProps<typeof HostsPart>) {
  return (
    <>
      <SetupPart {...part} />
      <EnvironmentPart projectId={part.projectId} hasSetup={part.settings.setupCommand.trim() !== ''} />
      <VariablesPart {...part} />
      <SecretsPart {...part} />
      <DraftsPart {...part} />
      <FeedbackPart {...part} />
      <IssuesPart {...part} />
      <FiltersPart {...part} />
      <HostsPart {...part} suggestions={suggestions} />
      {/* These parts come last: when their data arrives they grow, and would move a part below them away from under a click. */}
      <Suspense>
        <DetectedPart {...part} suggestions={suggestions} />
      </Suspense>
      <Suspense>
        <ServicesPart {...part} />
      </Suspense>
      <Suspense>
        <ModelsPart {...part} />
      </Suspense>
      <Suspense fallback={null}>
        <McpServersPart owner={part.projectId} />
      </Suspense>
      <RepositoryPart {...part} />
      <HooksPart {...part} />
    </>
  )
}
