/** The tools of the changes: buttons for the layout, the files, whitespace, search and refresh, and the hooks for search and whitespace. */
import { Columns2, Files, Pilcrow, RefreshCw, Rows2, Search } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Segmented } from '../../../ui/form/Segmented.tsx'
import { useReplayed } from '../replayContext.ts'
import { texts } from './texts.ts'
import { hunksWithContext, type KnownLines } from './diff/diffRows.ts'
import { findInDiff, type Match } from './diff/findInDiff.ts'
import type { DiffFile } from './diff/readDiffs.ts'

type DiffLayout = 'unified' | 'split'

interface ChangesToolsProps {
  readonly layout: DiffLayout
  readonly onLayout: (layout: DiffLayout) => void
  readonly narrow: boolean
  readonly quiet: boolean
  readonly onQuiet: (quiet: boolean) => void
  readonly onFiles: () => void
  readonly onFind: () => void
  readonly refreshing: boolean
  readonly onRefresh: () => void
}

const pressed = 'aria-pressed:bg-raised aria-pressed:text-text'

export function ChangesTools(props: ChangesToolsProps) {
  const isReplayed = useReplayed() !== null
  const { layout, onLayout, narrow, quiet, onQuiet, onFiles, onFind, refreshing, onRefresh } = props
  return (
    <div className="flex flex-none items-center md:gap-0.5">
      {!narrow && (
        <Segmented
          label={texts.view}
          options={[
            { value: 'unified', label: texts.unified, icon: <Rows2 /> },
            { value: 'split', label: texts.split, icon: <Columns2 /> },
          ]}
          chosen={layout}
          onChoose={onLayout}
          className="mr-1.5"
        />
      )}
      <IconButton icon={Files} label={texts.showFiles} size="small" onClick={onFiles} className="xl:hidden" />
      <IconButton
        icon={Pilcrow}
        label={texts.whitespace}
        size="small"
        aria-pressed={quiet}
        onClick={() => onQuiet(!quiet)}
        className={pressed}
      />
      <IconButton icon={Search} label={texts.find.label} size="small" onClick={onFind} />
      {!isReplayed && (
        <IconButton
          icon={RefreshCw}
          label={texts.refresh}
          size="small"
          busy={refreshing}
          onClick={onRefresh}
        />
      )}
    </div>
  )
}

/** The search in the changes, and its current match. */
export function useFind(files: readonly DiffFile[], known: ReadonlyMap<string, KnownLines>, open: boolean) {
  const [words, setWords] = useState('')
  const [chosen, setChosen] = useState(0)
  // Deferred, because rendering the marks must not slow down typing.
  const needle = useDeferredValue(open ? words : '')
  const matches = useMemo(() => {
    if (needle === '') return []
    const searchable = files.map((file) => ({
      name: file.name,
      hunks: hunksWithContext(file, known.get(file.name)),
    }))
    return findInDiff(searchable, needle)
  }, [files, known, needle])
  const at = Math.min(chosen, Math.max(0, matches.length - 1))
  return {
    words,
    setWords: (next: string) => {
      setWords(next)
      setChosen(0)
    },
    /** The text that is marked: it follows the input when there is time for rendering. */
    needle,
    count: matches.length,
    at,
    match: matches[at] ?? null,
    /** Moves to the next or previous match, wrapping around, and returns that match; `null` without matches. */
    step: (by: 1 | -1): Match | null => {
      const next = matches.length === 0 ? 0 : (at + by + matches.length) % matches.length
      setChosen(next)
      return matches[next] ?? null
    },
  }
}

type Quieten = (files: readonly DiffFile[]) => readonly DiffFile[]

/** Hides whitespace-only changes. The code for that is loaded when it is first needed. */
export function useWhitespace(read: readonly DiffFile[]) {
  const [isOn, setOn] = useState(false)
  const [quieten, setQuieten] = useState<Quieten | null>(null)
  const quiet = isOn && quieten !== null
  const files = useMemo(() => (isOn && quieten !== null ? quieten(read) : read), [read, isOn, quieten])
  const setQuiet = (hidden: boolean) => {
    setOn(hidden)
    if (!hidden || quieten !== null) return
    import('./diff/whitespace.ts').then(
      ({ quietDiffs }) => setQuieten(() => quietDiffs),
      () => setOn(false),
    )
  }
  return { quiet, setQuiet, files }
}
