/**
 * The command palette: finds tasks, projects and actions by a few letters. The field keeps the focus, the arrow keys move, Enter opens, and Enter
 * with Ctrl or Cmd opens a task or project in a new tab.
 */
import { Search, X } from 'lucide-react'
import { useId, useState, type KeyboardEvent } from 'react'
import { useNavigate } from 'react-router-dom'
import { useActions, useOffered } from '../../actions/ActionsContext.tsx'
import { Keys, keysOf } from '../../actions/Keys.tsx'
import { selectedProjectId } from '../../state/persisted.ts'
import { changeElsewhere } from '../../state/usePersisted.ts'
import { useModal } from '../../ui/overlay/Dialog.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { KeyCap } from '../../ui/text/KeyCap.tsx'
import { newTaskState } from '../dashboard/newTaskState.ts'
import { useProjectsQuery } from '../projects/projectsApi.ts'
import { usePaletteTasks } from '../tasks/tasksApi.ts'
import { HitRow } from './HitRow.tsx'
import { hitsOf, type Hit } from './hits.ts'
import { texts } from './texts.ts'
import { isComposingKey } from '../../ui/isComposingKey.ts'

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const id = useId()
  const modal = useModal(true, onClose)
  const { tasks, more } = usePaletteTasks()
  const { data: projects } = useProjectsQuery()
  const offered = useOffered()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const groups = hitsOf({ query, tasks, projects: projects?.projects ?? [], offered })
  const hits = groups.flatMap((group) => group.hits)
  const active = hits[Math.min(at, hits.length - 1)]
  const close = () => {
    modal.current?.close()
    onClose()
  }
  const open = useOpenHit(close)
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys that compose a character are for the field, not for the list.
    if (isComposingKey(event.nativeEvent)) return
    const next = indexAfter(event.key, Math.min(at, hits.length - 1), hits.length - 1)
    const mod = event.ctrlKey || event.metaKey
    if (next !== undefined) setAt(Math.max(0, next))
    else if (event.key === 'Enter') {
      if (active !== undefined) open(active, mod)
    } else if (event.key.toLowerCase() === 'k' && mod) {
      // Pressing the key of the palette again closes it.
      close()
    } else return
    event.preventDefault()
  }

  return (
    <dialog
      ref={modal}
      aria-label={texts.label}
      className="m-0 size-full max-h-none max-w-none flex-col bg-panel p-0 backdrop:bg-scrim open:flex open:animate-appear md:mx-auto md:mt-28 md:h-fit md:max-h-[min(560px,calc(100dvh-144px))] md:w-160 md:rounded-panel md:shadow-float"
    >
      <div className="flex h-13 flex-none items-center gap-2.5 border-b border-line pr-2 pl-4 md:pr-4">
        <Search className="text-muted" />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={active === undefined ? undefined : `${id}-${active.key}`}
          aria-autocomplete="list"
          aria-label={texts.label}
          placeholder={texts.label}
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
          className="h-full min-w-0 flex-1 bg-transparent text-input outline-none md:text-title"
        />
        <span className="hidden md:inline-flex">
          <KeyCap>Esc</KeyCap>
        </span>
        <span className="md:hidden">
          <IconButton icon={X} label={texts.close} onClick={onClose} />
        </span>
      </div>
      <p role="status" className="sr-only">
        {query.trim() === '' ? '' : hits.length === 0 ? texts.nothing : texts.found(hits.length)}
      </p>
      {hits.length === 0 ? (
        <div className="px-4 py-6">
          <p className="font-semibold">{texts.nothing}</p>
          <p className="mt-1 text-ui text-muted">
            {more ? texts.nothingInLatest(tasks.length) : texts.nothingWhy}
          </p>
        </div>
      ) : (
        <Hits
          id={id}
          groups={groups}
          active={active}
          onPoint={(hit) => setAt(hits.indexOf(hit))}
          onOpen={open}
        />
      )}
      <Foot />
    </dialog>
  )
}

/** Returns a function that opens the page of a hit, or runs its action. */
function useOpenHit(close: () => void) {
  const navigate = useNavigate()
  const { run } = useActions()
  return (hit: Hit, inNewTab: boolean) => {
    // The palette closes first, because closing puts the focus back to its old place, and the action may then move the focus.
    close()
    if (hit.kind === 'action') run(hit.id)
    else if (hit.kind === 'outside') window.open(hit.href, '_blank', 'noopener,noreferrer')
    else if (hit.kind === 'new-task') {
      changeElsewhere(selectedProjectId, hit.project.id)
      void navigate('/dashboard', { state: newTaskState() })
    } else if (inNewTab) window.open(hit.to, '_blank', 'noopener')
    else void navigate(hit.to)
  }
}

/** The index that a key moves to from `here`; `undefined` for other keys. */
function indexAfter(key: string, here: number, last: number): number | undefined {
  return {
    ArrowDown: here >= last ? 0 : here + 1,
    ArrowUp: here <= 0 ? last : here - 1,
    PageDown: Math.min(here + 8, last),
    PageUp: Math.max(here - 8, 0),
    Home: 0,
    End: last,
  }[key]
}

interface HitsProps {
  readonly id: string
  readonly groups: ReturnType<typeof hitsOf>
  readonly active: Hit | undefined
  readonly onPoint: (hit: Hit) => void
  readonly onOpen: (hit: Hit, inNewTab: boolean) => void
}

function Hits({ id, groups, active, onPoint, onOpen }: HitsProps) {
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label={texts.results}
      className="min-h-0 flex-1 overflow-y-auto overscroll-contain"
    >
      {groups.map(({ name, hits }) => (
        <div
          key={name}
          role="group"
          aria-label={name}
          className="border-t border-line-soft p-1.5 first:border-t-0"
        >
          <div aria-hidden="true" className="px-2.5 pt-1.5 pb-1 text-meta font-medium text-muted">
            {name}
          </div>
          {hits.map((hit) => (
            <HitRow
              key={hit.key}
              id={`${id}-${hit.key}`}
              hit={hit}
              active={hit === active}
              onPoint={() => onPoint(hit)}
              onOpen={(inNewTab) => onOpen(hit, inNewTab)}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

function Foot() {
  const [all = '?'] = keysOf('shortcuts')
  return (
    <div
      aria-hidden="true"
      className="hidden h-9 flex-none items-center gap-4 border-t border-line bg-bg px-4 text-meta text-muted md:flex [&>span]:inline-flex [&>span]:items-center [&>span]:gap-1.5"
    >
      <span>
        <KeyCap>↑</KeyCap>
        <KeyCap>↓</KeyCap> {texts.foot.move}
      </span>
      <span>
        <KeyCap>↵</KeyCap> {texts.foot.open}
      </span>
      <span>
        <Keys keys="mod+enter" /> {texts.foot.newTab}
      </span>
      <span className="ml-auto">
        <Keys keys={all} /> {texts.foot.shortcuts}
      </span>
    </div>
  )
}
