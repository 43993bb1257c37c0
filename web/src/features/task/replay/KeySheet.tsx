/** The list of the replay's keys. */
import { useEffect, useState } from 'react'
import { Button } from '../../../ui/form/Button.tsx'
import { Dialog } from '../../../ui/overlay/Dialog.tsx'
import { useReplayed } from '../replayed.ts'
import { texts } from '../history/texts.ts'
import { showKeys } from './useReplayKeys.ts'

export function KeySheet() {
  const isSaved = useReplayed()?.isSaved
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const onAsked = () => setOpen(true)
    window.addEventListener(showKeys, onAsked)
    return () => window.removeEventListener(showKeys, onAsked)
  }, [])
  const close = () => setOpen(false)
  return (
    <Dialog
      open={open}
      onClose={close}
      title={texts.keysTitle}
      actions={
        <Button data-safe onClick={close}>
          {texts.close}
        </Button>
      }
    >
      <span className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 pt-2">
        {(isSaved ? texts.keys : [...texts.keys, texts.keyToLive]).map(([keys, says]) => (
          <span key={keys} className="contents">
            <kbd className="mono text-text">{keys}</kbd>
            <span>{says}</span>
          </span>
        ))}
      </span>
    </Dialog>
  )
}
