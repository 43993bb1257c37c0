/** A key of the keyboard, as in `Ctrl K`. */
export function KeyCap({ children }: { readonly children: string }) {
  return (
    <kbd className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-badge border border-line bg-bg px-1.25 font-ui text-tiny font-medium text-muted">
      {children}
    </kbd>
  )
}
