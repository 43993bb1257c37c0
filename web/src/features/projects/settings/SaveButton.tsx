/** The end of a part that is saved as a whole. */
import { Button } from '../../../ui/form/Button.tsx'
import { texts } from './texts.ts'

export function SaveButton({ busy, changed }: { readonly busy: boolean; readonly changed: boolean }) {
  return (
    <div className="flex justify-end">
      <Button
        kind="primary"
        size="touch"
        type="submit"
        busy={busy}
        busyLabel={texts.saving}
        disabled={!changed}
      >
        {texts.save}
      </Button>
    </div>
  )
}
