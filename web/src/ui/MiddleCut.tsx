/** A name that loses its middle when there is no room: its end tells it apart. */
const tailLength = 10

export function MiddleCut({ children }: { readonly children: string }) {
  const cut = Math.max(0, children.length - tailLength)
  return (
    <span className="flex min-w-0" title={children}>
      <span className="truncate">{children.slice(0, cut)}</span>
      <span className="flex-none whitespace-pre">{children.slice(cut)}</span>
    </span>
  )
}
