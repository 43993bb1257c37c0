/** Which row something on the page belongs to: the lines carry their id as `data-row`. */

/** The row around a target, or the target when it is a row `itself`; `null` where there is none. */
export function rowIdOf(target: EventTarget, where: 'around' | 'itself' = 'around'): string | null {
  if (!(target instanceof HTMLElement || target instanceof SVGElement)) return null
  const row = where === 'itself' ? target : target.closest<HTMLElement>('[data-row]')
  return row?.dataset['row'] ?? null
}
