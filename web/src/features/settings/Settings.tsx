/** The settings, in two tabs. The address names the chosen tab. */
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
      {data !== undefined && (
        <div {...tabPanelProps('settings', chosen)}>
          {chosen === 'profile' ? <ProfileTab user={data.user} /> : <GitHubTab user={data.user} />}
        </div>
      )}
    </Page>
  )
}
