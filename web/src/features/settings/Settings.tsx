/** The settings, in two tabs. The address names the chosen tab. */
import { useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { Page } from '../../ui/layout/Page.tsx'
import { tabPanelProps, Tabs } from '../../ui/layout/Tabs.tsx'
import { useMeQuery } from '../auth/authApi.ts'
import { GitHubTab } from './GitHubTab.tsx'
import { ProfileTab } from './ProfileTab.tsx'
import { texts } from './texts.ts'

const tabs = [
  { name: 'profile', label: texts.tabs.profile },
  { name: 'github', label: texts.tabs.github },
] as const

export function Settings() {
  usePageTitle(texts.pageTitle)
  const [query, setQuery] = useSearchParams()
  const { data } = useMeQuery()
  const chosen = query.get('tab') === 'github' ? 'github' : 'profile'
  const isProfile = chosen === 'profile'
  const [isProfileVisited, setProfileVisited] = useState(isProfile)
  if (isProfile && !isProfileVisited) setProfileVisited(true)
  return (
    <Page title={texts.pageTitle} width="narrow">
      <Tabs
        id="settings"
        label={texts.tabs.label}
        tabs={tabs}
        chosen={chosen}
        onChoose={(tab) => setQuery({ tab }, { replace: true })}
        className="-mt-1 mb-6 border-b border-line"
      />
      {/* Stays mounted, so that unsaved input survives a visit of the other tab, which is mounted on each visit to read the access again. */}
      {data !== undefined && isProfileVisited && (
        <div {...tabPanelProps('settings', 'profile')} hidden={!isProfile}>
          <ProfileTab user={data.user} />
        </div>
      )}
      {data !== undefined && !isProfile && (
        <div {...tabPanelProps('settings', 'github')}>
          <GitHubTab user={data.user} />
        </div>
      )}
    </Page>
  )
}
