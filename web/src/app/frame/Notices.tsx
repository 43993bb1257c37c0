/** Notices about this server, below the top bar of the dashboard. Dismissed until the tab is closed. */
import { Info, X } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { useNoticesQuery } from '../../api/serverApi.ts'
import { texts } from './texts.ts'

const storageKey = 'noticesPutAway'
/** Runners may come and go while the page is open. */
const pollIntervalMs = 60_000

export function Notices() {
  const { data } = useNoticesQuery(undefined, {
    pollingInterval: pollIntervalMs,
    skipPollingIfUnfocused: true,
  })
  const [putAway, setPutAway] = useState(() => sessionStorage.getItem(storageKey))
  const notices = data?.notices ?? []
  const text = notices.join('\n')
  if (text === '' || text === putAway) return null
  const close = () => {
    sessionStorage.setItem(storageKey, text)
    setPutAway(text)
  }
  return (
    <aside
      aria-label={texts.notices}
      className="flex flex-none items-start gap-2 border-b border-line bg-raised py-1 pr-2 pl-4 text-meta text-muted"
    >
      <Info size={14} className="mt-3.75 flex-none md:mt-1.75" />
      <div className="min-w-0 flex-1 py-3.5 md:py-1.5">
        {notices.map((notice) => (
          <p key={notice}>{notice}</p>
        ))}
      </div>
      <IconButton label={texts.putAway} icon={X} size="small" onClick={close} />
    </aside>
  )
}
