/** The buttons that choose how changes are shown. */
import { Columns2, Files, Pilcrow, RefreshCw, Rows2, Search } from 'lucide-react'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Segmented } from '../../../ui/form/Segmented.tsx'
import { useReplayed } from '../replayed.ts'
import { texts } from './texts.ts'

export type DiffLook = 'unified' | 'split'

interface ChangesToolsProps {
  readonly look: DiffLook
  readonly onLook: (look: DiffLook) => void
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
  const { look, onLook, narrow, quiet, onQuiet, onFiles, onFind, refreshing, onRefresh } = props
  return (
    <div className="flex flex-none items-center md:gap-0.5">
      {!narrow && (
        <Segmented
          label={texts.view}
          options={[
            { value: 'unified', label: texts.unified, icon: <Rows2 /> },
            { value: 'split', label: texts.split, icon: <Columns2 /> },
          ]}
          chosen={look}
          onChoose={onLook}
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
