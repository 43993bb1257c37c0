/** Notes for the page that imports a repository: which repositories are listed, and which the App can push to. */
import type { Repository } from '#domain/api/projects.schema.ts'
import { isFault, reasonOf, retryAtOf } from '../../../api/fault.ts'
import { ButtonLink } from '../../../ui/form/Button.tsx'
import { CountdownButton } from '../../../ui/form/CountdownButton.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import type { GitHubAccess } from '../../github/gitHubApi.ts'
import { lostAccess } from '../../github/lostAccess.ts'
import { installUrlOf, reachOf } from '../../github/appReach.ts'
import type { useRepositoriesQuery } from '../projectsApi.ts'
import { texts } from '../texts.ts'

interface NotListedHintProps {
  readonly manageUrl: string
  readonly installUrl: string | undefined
}

/** Explains how to make a missing repository appear in the list. */
export function NotListedHint({ manageUrl, installUrl }: NotListedHintProps) {
  return (
    <p className="mt-2 text-meta text-muted">
      {reachTexts.notSeen}{' '}
      <a
        href={installUrl ?? manageUrl}
        target="_blank"
        rel="noreferrer"
        className="text-accent underline underline-offset-2"
      >
        {installUrl === undefined ? reachTexts.changeApp : reachTexts.installApp}
      </a>{' '}
      {installUrl === undefined ? reachTexts.changeAppWhy : reachTexts.notSeenWhy}
    </p>
  )
}

interface OutOfReachProps {
  readonly repository: Repository
  readonly access: GitHubAccess | undefined
}

/** A warning about a repository that the App does not reach, or that can only be read. */
export function OutOfReach({ repository, access }: OutOfReachProps) {
  const reach = reachOf(repository, access)
  if (reach.kind === 'reached' || reach.kind === 'unknown')
    return repository.may_push === false ? (
      <Note kind="warning" className="mb-3">
        {reachTexts.readOnly}
      </Note>
    ) : null
  const [owner = ''] = repository.full_name.split('/')
  const url = 'installation' in reach ? reach.installation.url : installUrlOf(access)
  return (
    <Note
      kind="warning"
      className="mb-3"
      action={
        url === undefined ? undefined : (
          <ButtonLink to={url} size="small" outside>
            {reach.kind === 'not_installed' ? reachTexts.installApp : reachTexts.changeAccess}
          </ButtonLink>
        )
      }
    >
      {reachTexts.reach[reach.kind](owner)}
    </Note>
  )
}

/** A note that the list of repositories could not be read, with the reason. */
export function NotListed({ listing }: { readonly listing: ReturnType<typeof useRepositoriesQuery> }) {
  const { error, isFetching, refetch } = listing
  const isConnected = !isFault(error, lostAccess)
  return (
    <Note
      kind="error"
      className="mt-3"
      action={
        isConnected ? (
          <CountdownButton
            until={retryAtOf(error)}
            size="small"
            busy={isFetching}
            onClick={() => void refetch()}
          >
            {texts.tryAgain}
          </CountdownButton>
        ) : (
          <ButtonLink to="/settings?tab=github" size="small">
            {texts.create.connect}
          </ButtonLink>
        )
      }
    >
      <b className="font-medium">{texts.repositoriesNotFetched}</b>
      <br />
      {isConnected ? texts.repositoriesNotFetchedWhy : reasonOf(error, '')}
    </Note>
  )
}

const reachTexts = {
  notSeen: "Don't see your repository?",
  installApp: 'Install the App',
  notSeenWhy: 'where it is. An owner of the organization may have to approve that.',
  changeApp: 'Change what the App can access',
  changeAppWhy: 'in its account. It is private, so no other account can install it.',
  reach: {
    not_installed: (owner: string) =>
      `The App is not installed for ${owner}. Agents can read this repository, but their work cannot be pushed to it.`,
    not_selected: (owner: string) =>
      `The App is installed for ${owner}, but not for this repository. Agents can read it as far as you can, but their work cannot be pushed to it.`,
    suspended: (owner: string) =>
      `The installation of the App for ${owner} is suspended. Agents' work cannot be pushed until it is active again.`,
  },
  readOnly:
    'Your GitHub account may only read this repository. Agents can work on it, but their work cannot be pushed.',
  changeAccess: 'Change Access',
} as const
