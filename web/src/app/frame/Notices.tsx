/** Under the top bar: what a person should know of this server. Dismiss for as long as the tab lives. */
import { ChevronDown, Info, X } from 'lucide-react'
import { useLayoutEffect, useRef, useState } from 'react'
import { classes } from '../../ui/classes.ts'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { useNoticesQuery } from './noticesApi.ts'
import { texts } from './texts.ts'

const storageKey = 'noticesPutAway'
/** A runner comes and goes while the page is open. */
const askAgainMs = 60_000

export function Notices() {
  const { data } = useNoticesQuery(undefined, { pollingInterval: askAgainMs, skipPollingIfUnfocused: true })
  const [putAway, setPutAway] = useState(() => sessionStorage.getItem(storageKey))
  const notices = data?.notices ?? []
  const said = notices.join('\n')
  if (said === '' || said === putAway) return null
  const close = () => {
    sessionStorage.setItem(storageKey, said)
    setPutAway(said)
  }
  return (
    <aside
      aria-label={texts.notices}
      className="flex flex-none items-start gap-2 border-b border-line bg-raised py-1 pr-2 pl-4 text-meta text-muted"
    >
      <Info size={14} className="mt-3.75 flex-none md:mt-1.75" />
      {/* Other words are measured anew. */}
      <Words key={said} notices={notices} />
      <IconButton label={texts.putAway} icon={X} size="small" onClick={close} />
    </aside>
  )
}

/** On a phone a line each; where that cuts them off, they are a button that shows the whole of them. */
function Words({ notices }: { readonly notices: readonly string[] }) {
  const [open, setOpen] = useState(false)
  const [isCut, setCut] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (box.current === null) return
    const measure = () => setCut([...(box.current?.querySelectorAll('[data-notice]') ?? [])].some(isCutOff))
    const observer = new ResizeObserver(measure)
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  const lines = notices.map((notice) => (
    <span key={notice} data-notice="" className={classes('block', !open && 'truncate md:whitespace-normal')}>
      {notice}
    </span>
  ))
  return (
    <div ref={box} className="min-w-0 flex-1">
      {isCut || open ? (
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="focus-inset flex w-full items-start gap-2 rounded-control py-3.5 text-left md:py-1.5"
        >
          <span className="min-w-0 flex-1">{lines}</span>
          <ChevronDown className={classes('size-3.5 transition-transform', open && 'rotate-180')} />
        </button>
      ) : (
        <div className="py-3.5 md:py-1.5">{lines}</div>
      )}
    </div>
  )
}

function isCutOff(line: Element): boolean {
  return line.scrollWidth > line.clientWidth
}
