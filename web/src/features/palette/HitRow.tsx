/** A hit in the palette: its icon, its label with the matching letters marked, and details such as its key. */
import {
  ArrowRight,
  ChevronRight,
  ExternalLink,
  FolderGit2,
  Keyboard,
  LogOut,
  type LucideIcon,
  Mic,
  Plus,
  SunMoon,
} from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import type { ActionId } from '../../actions/actions.ts'
import { Keys } from '../../actions/Keys.tsx'
import { classes } from '../../ui/classes.ts'
import { scrollIntoView } from '../../ui/scrollIntoView.ts'
import { KeyCap } from '../../ui/text/KeyCap.tsx'
import { shownStatusOf } from '../tasks/taskStatus.ts'
import { Status } from '../../ui/status/Status.tsx'
import type { Hit } from './hits.ts'
import { texts } from './texts.ts'

interface HitRowProps {
  readonly id: string
  readonly hit: Hit
  readonly active: boolean
  readonly onPoint: () => void
  readonly onOpen: (inNewTab: boolean) => void
}

export function HitRow({ id, hit, active, onPoint, onOpen }: HitRowProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field has the keys
    <div
      ref={active ? scrollIntoView : undefined}
      id={id}
      role="option"
      aria-selected={active}
      tabIndex={-1}
      onPointerMove={active ? undefined : onPoint}
      // Keeps the focus in the search field.
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
      onClick={(event) => onOpen(event.ctrlKey || event.metaKey)}
      className={classes(
        'flex h-11 cursor-pointer items-center gap-2.5 rounded-control px-2.5 text-ui md:h-9',
        active && 'bg-select',
      )}
    >
      <span className="inline-grid size-4 flex-none place-items-center text-muted [&_svg]:size-4!">
        <Icon hit={hit} />
      </span>
      <span dir="auto" className="min-w-0 flex-1 truncate">
        <Marked text={hit.label} marks={hit.marks} />
      </span>
      <End hit={hit} active={active} />
    </div>
  )
}

function Icon({ hit }: { readonly hit: Hit }) {
  switch (hit.kind) {
    case 'task':
      return <Status status={shownStatusOf(hit.task)} progress={hit.task.progress} iconOnly />
    case 'project':
      return <FolderGit2 />
    case 'new-task':
      return <Plus />
    case 'outside':
      return <ExternalLink />
    case 'action': {
      const ActionIcon = actionIcons[hit.id] ?? ChevronRight
      return <ActionIcon />
    }
  }
}

const actionIcons: Readonly<Partial<Record<ActionId, LucideIcon>>> = {
  newTask: Plus,
  newProject: Plus,
  goDashboard: ArrowRight,
  goProjects: ArrowRight,
  goFigures: ArrowRight,
  goSettings: ArrowRight,
  themeLight: SunMoon,
  themeDark: SunMoon,
  themeSystem: SunMoon,
  shortcuts: Keyboard,
  toggleVoice: Mic,
  logout: LogOut,
}

/** The end of a row: details of the hit and the keys of its action or, on the active row without such keys, Enter. */
function End({ hit, active }: { readonly hit: Hit; readonly active: boolean }) {
  const [keys] = hit.kind === 'action' ? hit.keys : []
  return (
    <span className="ml-auto flex max-w-2/5 flex-none items-center gap-1.5 text-meta text-muted">
      {hit.kind === 'task' && (
        <span className="truncate">{hit.task.project.githubRepoName || hit.task.project.name}</span>
      )}
      {hit.kind === 'project' && <span>{texts.tasks(hit.project.stats.totalTasks)}</span>}
      {(active || keys !== undefined) && (
        <span className="hidden md:inline-flex" aria-hidden="true">
          {keys === undefined ? <KeyCap>↵</KeyCap> : <Keys keys={keys} />}
        </span>
      )}
    </span>
  )
}

function Marked({ text, marks }: { readonly text: string; readonly marks: Hit['marks'] }) {
  const parts: ReactNode[] = []
  let from = 0
  for (const [begin, end] of marks) {
    parts.push(
      <Fragment key={begin}>
        {text.slice(from, begin)}
        <mark className="bg-transparent font-semibold text-accent">{text.slice(begin, end)}</mark>
      </Fragment>,
    )
    from = end
  }
  return [...parts, <Fragment key="rest">{text.slice(from)}</Fragment>]
}
