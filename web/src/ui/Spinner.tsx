/** A ring that turns: for a button that works and for a page whose user is not known yet, never in a row. */
export function Spinner({ size = 14 }: { readonly size?: number }) {
  return (
    <svg
      className="flex-none animate-spin"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      aria-hidden="true"
    >
      <circle cx="12" cy="12" r="9" stroke="currentColor" strokeWidth="2.4" opacity="0.25" />
      <path d="M21 12a9 9 0 0 0-9-9" stroke="currentColor" strokeWidth="2.4" strokeLinecap="round" />
    </svg>
  )
}
