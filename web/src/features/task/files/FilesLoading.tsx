/** The skeleton of files that are being read. */
import { Skeletons } from '../../../ui/status/Loading.tsx'
import { texts } from './texts.ts'

export function FilesLoading() {
  return (
    <Skeletons
      label={texts.loading}
      each={['h-4 w-40', 'h-4 w-56', 'h-4 w-32', 'h-4 w-48']}
      className="grid gap-2 p-4"
    />
  )
}
