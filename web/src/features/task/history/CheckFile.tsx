/** Checks an audit record that a person drops or chooses here. The record does not leave the browser. */
import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { checkFile, type Checked } from '../../../verifier/checkInWorker.ts'
import { classes } from '../../../ui/classes.ts'
import { Field } from '../../../ui/form/Field.tsx'
import { Spinner } from '../../../ui/status/Loading.tsx'
import { recordTexts } from './recordTexts.ts'

const texts = recordTexts.file

interface CheckFileProps {
  readonly taskId: string
  /** The fingerprint of the key with which this server seals records; `null` while it is unknown, and if the server has no key. */
  readonly ownKey: string | null
}

export function CheckFile({ taskId, ownKey }: CheckFileProps) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const [state, setState] = useState<Checked | 'none' | 'checking'>('none')
  const [isOver, setOver] = useState(false)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const key = (typed ?? ownKey ?? '').trim()
  const check = async (file: File | undefined) => {
    if (file === undefined) return
    running.current?.abort()
    const own = new AbortController()
    running.current = own
    setState('checking')
    const checked = await checkFile({ file, keys: key === '' ? [] : [key] }, own.signal)
    if (!own.signal.aborted) setState(checked)
  }
  return (
    <div className="grid gap-3">
      <Field
        label={texts.key}
        help={texts.keyHelp}
        value={typed ?? ownKey ?? ''}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        spellCheck={false}
        autoComplete="off"
      />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- its input is chosen by keys, a file is dropped by a pointer */}
      <label
        htmlFor={id}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          void check(event.dataTransfer.files[0])
        }}
        className={classes(
          'grid min-h-16 cursor-pointer place-items-center rounded-control border border-dashed px-3 py-2 text-center text-meta has-focus-visible:outline-2 has-focus-visible:outline-accent',
          isOver ? 'border-accent bg-select text-text' : 'border-control hover:bg-raised',
        )}
      >
        {texts.drop}
        <input
          id={id}
          type="file"
          accept=".ndjson"
          className="sr-only"
          onChange={({ currentTarget }) => {
            void check(currentTarget.files?.[0])
            // Cleared, so that the same file can be chosen again.
            currentTarget.value = ''
          }}
        />
      </label>
      <div role="status" className="text-ui">
        {state === 'checking' ? (
          <span className="flex items-center gap-2">
            <Spinner /> {texts.checking}
          </span>
        ) : (
          state !== 'none' && <Verdict checked={state} taskId={taskId} />
        )}
      </div>
    </div>
  )
}

function Verdict({ checked, taskId }: { readonly checked: Checked; readonly taskId: string }) {
  if (checked.kind === 'failed') return <Line tone="text-warn" word={texts.failed[checked.why]} />
  const { verdict, faults, events, fingerprint, withheld, erased } = checked
  const isOther = checked.taskId !== null && checked.taskId !== taskId
  const tone = verdict === 'whole' ? 'text-ok' : verdict === 'intact' ? 'text-warn' : 'text-bad'
  return (
    <div className="grid gap-1">
      <Line tone={tone} word={texts.verdicts[verdict]} />
      {faults.length > 0 && (
        <ul className="mono max-h-40 overflow-y-auto text-meta break-words">
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      )}
      {fingerprint !== null && <p className="text-meta">{texts.signedBy(fingerprint)}</p>}
      <p className="text-meta">{texts.holds(events, withheld, erased)}</p>
      {isOther && <p className="text-meta text-warn">{texts.otherTask}</p>}
    </div>
  )
}

const icons = { 'text-ok': CircleCheck, 'text-warn': TriangleAlert, 'text-bad': CircleX } as const

function Line({ tone, word }: { readonly tone: keyof typeof icons; readonly word: string }) {
  const Icon = icons[tone]
  return (
    <p className={classes('flex items-start gap-1.5 font-medium', tone)}>
      <Icon className="mt-0.75 size-3.5 flex-none" />
      {word}
    </p>
  )
}
