/** The whole page waits: for the user, or for the page's own code. */
import { Spinner } from './Spinner.tsx'

export function PageSpinner({ label = 'Loading...' }: { readonly label?: string }) {
  return (
    <div role="status" className="grid min-h-[60vh] place-items-center text-muted">
      <span className="inline-flex items-center gap-2.5">
        <Spinner size={16} />
        {label}
      </span>
    </div>
  )
}
