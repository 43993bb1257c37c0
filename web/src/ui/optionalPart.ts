/** A part of a page in a chunk of its own: if the chunk is missing, only the part is missing and not the page. */
import { lazy, type ComponentType } from 'react'

export function optionalPart<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy<ComponentType<Props>>(async () => ({
    default: await load().catch(() => () => null),
  }))
}
