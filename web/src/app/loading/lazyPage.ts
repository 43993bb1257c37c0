/** Pages that are loaded as separate chunks. If a chunk fails to load, the person sees an error instead of waiting forever. */
import { createElement, lazy, type ComponentType, type ReactNode } from 'react'
import { tryOr } from '../../state/tryOr.ts'
import { ChunkLoadError, inTime } from '../../ui/inTime.ts'

export interface LazyPage {
  (): ReactNode
  /** Loads the page before it is shown, so that it appears at once. If this fails, the page is loaded again when it is shown. */
  readonly load: () => Promise<unknown>
}

/** A page that is loaded when first shown, or before. React's own `lazy` would suspend briefly even for a loaded module. */
export function lazyPage(load: () => Promise<ComponentType>): LazyPage {
  let loaded: ComponentType | undefined
  const loadOnce = async () => {
    loaded ??= await inTime(load)
    return loaded
  }
  const Waiting = lazy(async () => ({ default: await loadOnce() }))
  let rendered: ComponentType | undefined
  const Page = () => {
    // The rendered component must not be swapped, or it would lose its state.
    rendered ??= loaded ?? Waiting
    return createElement(rendered)
  }
  return Object.assign(Page, { load: loadOnce })
}

const browsersOwn = /dynamically imported module|importing a module script failed|unable to preload/i

/** Whether the error says that a chunk failed to load: it is our own error, or has a browser's message for a failed import. */
export function isMissingChunk(error: unknown): boolean {
  return error instanceof ChunkLoadError || (error instanceof TypeError && browsersOwn.test(error.message))
}

/** The parts of the browser that reloading a page uses. */
interface Reloading {
  readonly location: Pick<Location, 'pathname' | 'reload'>
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem'> | undefined
  readonly fetch: typeof fetch
  /** The address of the client's first script, which changes with each deployment. */
  readonly build: string
}

export function reloadingOf(page: Window & typeof globalThis): Reloading {
  return {
    location: page.location,
    sessionStorage: tryOr(() => page.sessionStorage, undefined),
    fetch: (...args) => page.fetch(...args),
    build: page.document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src ?? '',
  }
}

const reloadedKey = 'reloadedForChunk'
const firstDelayMs = 1_000
const maxDelayMs = 10_000

/**
 * Reloads the page once the server answers, because a chunk is missing after a deployment or while offline. The page that was reloaded last is not
 * reloaded again for the same build, so that reloading cannot loop. `signal` ends the wait.
 */
export async function reloadOnMissingChunk(
  { location, sessionStorage, fetch, build }: Reloading,
  signal: AbortSignal,
): Promise<void> {
  const page = `${build} ${location.pathname}`
  // Without storage we could not tell next time that we have already reloaded.
  if (!sessionStorage || !tryOr(() => sessionStorage.getItem(reloadedKey) !== page, false)) return
  for (let delay = firstDelayMs; !signal.aborted; delay = Math.min(delay * 2, maxDelayMs)) {
    const answers = await fetch('/', { method: 'HEAD', cache: 'no-store', signal }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (signal.aborted) return
    if (answers) {
      const isNoted = tryOr(() => {
        sessionStorage.setItem(reloadedKey, page)
        return true
      }, false)
      return isNoted ? location.reload() : undefined
    }
    await new Promise((resolve) => setTimeout(resolve, delay))
  }
}
