/** How the tasks of a project run: setup, variables, secrets, and what the network is. */
import { useParams } from 'react-router-dom'
import { reasonOf } from '../../../api/fault.ts'
import { isUnknown } from '../../../api/isUnknown.ts'
import { usePageTitle } from '../../tasks/usePageTitle.ts'
import { Button, ButtonLink } from '../../../ui/form/Button.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Page } from '../../../ui/layout/Page.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import { useProjectQuery } from '../projectsApi.ts'
import { DraftsPart } from './DraftsPart.tsx'
import { faults } from './faultTexts.ts'
import { FeedbackPart } from './FeedbackPart.tsx'
import { FiltersPart } from './FiltersPart.tsx'
import { HostsPart } from './HostsPart.tsx'
import { IssuesPart } from './IssuesPart.tsx'
import { useProjectSettingsQuery } from './projectSettingsApi.ts'
import { RepositoryPart } from './RepositoryPart.tsx'
import { SecretsPart } from './SecretsPart.tsx'
import { SetupPart } from './SetupPart.tsx'
import { texts } from './texts.ts'
import { VariablesPart } from './VariablesPart.tsx'

export function ProjectSettings() {
  const { projectId = '' } = useParams()
  const { data, error, refetch, isFetching } = useProjectSettingsQuery(projectId)
  const project = useProjectQuery(projectId)
  usePageTitle(texts.title)
  const name = project.data?.project.name
  return (
    <Page
      title={texts.title}
      width="narrow"
      // Its line is kept: nothing moves when the name comes.
      lead={<p className="line-clamp-2 min-h-5 wrap-anywhere text-muted">{name}</p>}
      actions={
        <ButtonLink to={`/projects/${projectId}`} size="touch">
          {texts.back}
        </ButtonLink>
      }
    >
      {data === undefined ? (
        error === undefined ? (
          <Loading />
        ) : (
          <Note
            kind="error"
            action={
              !isUnknown(error) && (
                <Button size="small" busy={isFetching} onClick={() => void refetch()}>
                  {texts.tryAgain}
                </Button>
              )
            }
          >
            {reasonOf(error, faults.notFetched)}
          </Note>
        )
      ) : (
        <>
          <SetupPart projectId={projectId} settings={data.settings} />
          <VariablesPart projectId={projectId} settings={data.settings} />
          <SecretsPart projectId={projectId} settings={data.settings} />
          <DraftsPart projectId={projectId} settings={data.settings} />
          <FeedbackPart projectId={projectId} settings={data.settings} />
          <IssuesPart projectId={projectId} settings={data.settings} />
          <RepositoryPart projectId={projectId} settings={data.settings} />
          <FiltersPart projectId={projectId} settings={data.settings} />
          <HostsPart projectId={projectId} settings={data.settings} suggestions={data.suggestions} />
        </>
      )}
    </Page>
  )
}

function Loading() {
  return (
    <div role="status">
      <span className="sr-only">{texts.loading}</span>
      <Skeleton className="h-40 w-full" />
      <Skeleton className="mt-6 h-40 w-full" />
    </div>
  )
}
