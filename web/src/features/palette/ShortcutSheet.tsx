/** All shortcuts, grouped by where they work, from the list of actions. */
import { X } from 'lucide-react'
import { Fragment, useId } from 'react'
import { actions, type ActionFacts } from '../../actions/actions.ts'
import { Keys } from '../../actions/Keys.tsx'
import { useModal } from '../../ui/overlay/Dialog.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { texts } from './texts.ts'

export function ShortcutSheet({ onClose }: { readonly onClose: () => void }) {
  const titleId = useId()
  const modal = useModal(true, onClose)
  return (
    <dialog
      ref={modal}
      aria-labelledby={titleId}
      className="m-0 size-full max-h-none max-w-none flex-col bg-panel p-0 backdrop:bg-scrim open:flex open:animate-rise md:m-auto md:h-fit md:max-h-[min(640px,calc(100dvh-64px))] md:w-180 md:rounded-panel md:shadow-float"
    >
      <div className="flex h-13 flex-none items-center gap-2.5 border-b border-line pr-2 pl-4 md:pr-3 md:pl-5">
        <h2 id={titleId} className="flex-1 text-title font-semibold">
          {texts.shortcuts.title}
        </h2>
        <IconButton icon={X} label={texts.close} onClick={onClose} />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling area must be reachable by keyboard */}
      <div tabIndex={0} className="focus-inset min-h-0 flex-1 overflow-y-auto px-4 py-4 md:px-5">
        <div className="gap-8 md:columns-2">
          {groupsOf(actions).map(({ name, rows }) => (
            <section key={name} aria-label={name} className="mb-5 break-inside-avoid">
              <h3 className="mb-1 text-meta font-medium text-muted">{name}</h3>
              <dl>
                {rows.map(({ id, label, keys }) => (
                  <div
                    key={id}
                    className="flex min-h-8 items-center gap-3 border-b border-line-soft text-ui last:border-b-0"
                  >
                    <dt className="min-w-0 flex-1 py-1.5">{label}</dt>
                    <dd className="flex flex-none items-center gap-1.5">
                      {keys.map((shortcut, index) => (
                        <Fragment key={shortcut}>
                          {index > 0 && <span className="text-meta text-muted">{texts.shortcuts.or}</span>}
                          <Keys keys={shortcut} />
                        </Fragment>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </div>
      <p className="flex-none border-t border-line bg-bg px-4 py-2.5 text-meta text-muted md:px-5">
        {texts.shortcuts.note}
      </p>
    </dialog>
  )
}

/** The actions that have a key, by group. Groups and actions are in the order of the list of actions. */
function groupsOf(all: readonly ActionFacts[]) {
  const withKeys = all.filter(({ keys }) => keys.length > 0)
  return [...new Set(withKeys.map(({ group }) => group))].map((name) => ({
    name,
    rows: withKeys.filter(({ group }) => group === name),
  }))
}
