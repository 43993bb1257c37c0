/** The skeleton of the changes; `says` tells screen readers what is being loaded. */
import { Skeleton } from '../../../ui/status/Loading.tsx'

export function ChangesLoading({ says }: { readonly says: string }) {
  return (
    <div role="status" className="grid gap-3 p-4">
      <span className="sr-only">{says}</span>
      <Skeleton className="h-5 w-48" />
      <Skeleton className="h-40 w-full" />
    </div>
  )
}
