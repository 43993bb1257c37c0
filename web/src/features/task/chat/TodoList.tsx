/** The agent's to-do list above the chat: its progress and, when unfolded, the single items. */
import { ChevronRight, Circle, CircleCheck, CircleDot, ListTodo } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useSelector } from 'react-redux'
import { todosOf, type Todo } from '#domain/views/todos.ts'
import { classes } from '../../../ui/classes.ts'
import { useMedia } from '../../../ui/hooks.ts'
import { selectOpenTask } from '../taskSlice.ts'
import { texts } from './todoTexts.ts'

const icons = {
  open: <Circle className="mt-1 size-3.5 flex-none" />,
  doing: <CircleDot className="mt-1 size-3.5 flex-none text-accent" />,
  done: <CircleCheck className="mt-1 size-3.5 flex-none text-ok" />,
} as const
const looks = { open: '', doing: 'font-medium', done: 'text-muted' } as const

type Shown = Todo & { readonly state: keyof typeof icons }

export function TodoList({ running }: { readonly running: boolean }) {
  const { documents } = useSelector(selectOpenTask).logs
  const todos = useMemo(() => {
    const calls = Object.values(documents).filter(({ kind }) => kind === 'todo')
    const ordered = calls.toSorted((a, b) => (a.order < b.order ? -1 : 1))
    return todosOf(ordered).filter((todo): todo is Shown => todo.state !== 'gone')
  }, [documents])
  const wide = useMedia('(width >= 768px)')
  const [chosen, setChosen] = useState<boolean | null>(null)
  const unfolded = chosen ?? (running && wide)
  const next = todos.find(({ state }) => state === 'doing') ?? todos.find(({ state }) => state === 'open')
  if (todos.length === 0) return null
  return (
    <section aria-label={texts.todos.label} className="flex-none border-b border-line bg-panel">
      <button
        type="button"
        aria-expanded={unfolded}
        onClick={() => setChosen(!unfolded)}
        className="focus-inset flex h-11 w-full items-center gap-2 px-4 text-left text-ui text-muted transition-colors hover:bg-raised md:h-8"
      >
        <ListTodo className="size-3.5 flex-none" />
        <span className="flex-none font-medium text-text">
          {texts.todos.progress(todos.filter(({ state }) => state === 'done').length, todos.length)}
        </span>
        <span className="min-w-0 flex-1 truncate">{unfolded ? '' : next?.text}</span>
        <ChevronRight className={classes('size-3 flex-none transition-transform', unfolded && 'rotate-90')} />
      </button>
      {unfolded && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a long list is scrolled by keys
        <ol tabIndex={0} className="focus-inset max-h-40 overflow-y-auto px-4 pb-2 text-ui">
          {todos.map(({ text, state }, index) => (
            // Items have no id, and keep their order, so the index identifies them.
            <li key={index} className={classes('flex gap-2 py-0.5', looks[state])}>
              {icons[state]}
              <span className="min-w-0 wrap-anywhere">
                <span className="sr-only">{texts.todos[state]} </span>
                {text}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
