/** A `ref` for the active option of a list, which keeps it in view. */
export function scrollIntoView(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' })
}
