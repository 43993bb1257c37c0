/** The input and output of a tool call. */
import type { LogDocument } from '#domain/views/commandLog.ts'
import { classes } from '../../../../ui/classes.ts'
import { Pictures } from '../../../images/Pictures.tsx'
import { withoutColours } from '../../terminal/log/outputLines.ts'
import { texts } from '../stepTexts.ts'

/** The maximum number of images that a tool call shows (contract, section 9). */
const maxPictures = 6

export function ToolDetails({ log }: { readonly log: LogDocument }) {
  const target = log.target ?? ''
  const { images = [], imagesLeftOut: leftOut = 0 } = log
  const printed = withoutColours(log.output ?? '')
  // The `[image]` lines are left out of the output, because the images themselves are shown below it.
  const output = images.length + leftOut === 0 ? printed : printed.replaceAll(/^\[image\]\n?/gm, '').trimEnd()
  return (
    <div className="mx-2 mb-1.5 overflow-hidden rounded-control border border-line-soft bg-panel">
      {(target.includes('\n') || log.kind === 'run') && (
        <Text text={log.kind === 'run' ? `$ ${target}` : target} strong />
      )}
      {output !== '' && (log.kind === 'edit' ? <Diff text={output} /> : <Text text={output} />)}
      {output === '' && images.length + leftOut === 0 && log.summary !== null && log.summary !== '' && (
        <Text text={log.summary} />
      )}
      {images.length > 0 && (
        <Pictures
          taskId={log.task}
          pictures={images.map((image) => ({ ...image, url: image.url ?? null }))}
          layout={images.length === 1 ? 'single' : 'grid'}
          most={maxPictures}
          className="px-3 py-2"
        />
      )}
      {leftOut > 0 && <p className="px-3 py-2 text-meta text-muted">{texts.imagesLeftOut(leftOut)}</p>}
    </div>
  )
}

const block = 'max-h-80 overflow-auto px-3 py-2 font-mono text-code tracking-normal whitespace-pre'

function Text({ text, strong = false }: { readonly text: string; readonly strong?: boolean }) {
  return (
    <pre
      tabIndex={0}
      className={classes(
        block,
        'focus-inset',
        strong ? 'border-b border-line-soft last:border-b-0' : 'text-muted',
      )}
    >
      {text}
    </pre>
  )
}

function Diff({ text }: { readonly text: string }) {
  return (
    <pre tabIndex={0} className={classes(block, 'focus-inset px-0')}>
      {text.split('\n').map((line, index) => (
        // A line is identified only by its index.
        <span
          key={index}
          className={classes(
            'block min-w-max px-3',
            line.startsWith('+') && 'bg-add-bg',
            line.startsWith('-') && 'bg-del-bg',
            line.startsWith('@@') && 'text-muted',
          )}
        >
          {line === '' ? ' ' : line}
        </span>
      ))}
    </pre>
  )
}
