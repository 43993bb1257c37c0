/** The agent's commands, a line of help each, over the page beside the box in which one is written. */
import type { SlashCommand } from '#domain/task/slashCommands.ts'
import { classes } from '../../ui/classes.ts'
import { texts } from './texts.ts'

interface SlashListProps {
  readonly id: string
  readonly commands: readonly SlashCommand[]
  readonly active: SlashCommand | undefined
  readonly side: 'above' | 'below'
  readonly onChoose: (command: SlashCommand) => void
  readonly onPoint: (index: number) => void
}

export function SlashList({ id, commands, active, side, onChoose, onPoint }: SlashListProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label={texts.commands}
      className={classes(
        'absolute inset-x-0 z-30 max-h-70 overflow-y-auto rounded-panel bg-panel p-1 shadow-float',
        side === 'above' ? 'bottom-full mb-1' : 'top-full mt-1',
      )}
    >
      {commands.map((command, index) => (
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the box in which it is written has the keys
        <div
          key={command.name}
          id={`${id}-${command.name}`}
          role="option"
          tabIndex={-1}
          aria-selected={command === active}
          ref={command === active ? intoView : undefined}
          // The box keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(command)}
          onPointerMove={() => onPoint(index)}
          className={classes(
            'flex min-h-11 cursor-default flex-col justify-center rounded-control px-2 py-1 text-ui md:min-h-8 md:flex-row md:items-center md:justify-start',
            command === active && 'bg-raised',
          )}
        >
          <span className="font-mono text-code md:w-56 md:flex-none">
            /{command.name}
            {command.argument !== null && <span className="text-muted"> {command.argument}</span>}
          </span>
          <span className="text-meta text-muted">{command.help}</span>
        </div>
      ))}
    </div>
  )
}

/** Keeps the active command in sight while the keys walk. */
function intoView(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' })
}
