/** Pages are chunks of their own; one that does not come is an error that a person is told of, not an endless wait. */
import { createElement, lazy, type ComponentType, type ReactNode } from 'react'

/** Milliseconds (section 9). */
const chunkTimeoutMs = 120_000

/** A chunk did not load in time, or not at all. */
export class ChunkLoadError extends Error {
  override readonly name = 'ChunkLoadError'
}

export interface LazyPage {
  (): ReactNode
  /** Loads it before it is shown; then it is there at once. That it does not come is told where it is shown. */
  readonly load: () => Promise<unknown>
}

/** A page that is loaded when it is first shown, or before. React's own `lazy` would wait a moment even for what is there. */
export function lazyPage(load: () => Promise<ComponentType>): LazyPage {
  let loaded: ComponentType | undefined
  const bring = async () => {
    loaded ??= await inTime(load, chunkTimeoutMs)
    return loaded
  }
  const Waiting = lazy(async () => ({ default: await bring() }))
  let shown: ComponentType | undefined
  const Page = () => {
    // What is shown once stays: another component in its place would lose its state.
    shown ??= loaded ?? Waiting
    return createElement(shown)
  }
  return Object.assign(Page, { load: bring })
}

/** What `load` brings. @throws ChunkLoadError when it fails or takes longer than `limitMs`. */
export async function inTime<Loaded>(load: () => Promise<Loaded>, limitMs: number): Promise<Loaded> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ChunkLoadError('The page took too long to load.')), limitMs)
  })
  try {
    return await Promise.race([load(), late])
  } catch (cause) {
    throw cause instanceof ChunkLoadError
      ? cause
      : new ChunkLoadError('The page could not be loaded.', { cause })
  } finally {
    clearTimeout(timer)
  }
}

const browsersOwn = /dynamically imported module|importing a module script failed|unable to preload/i

/** Whether it means that a part of the client did not come: ours, or what browsers say of an import that failed. */
export function isMissingChunk(error: unknown): boolean {
  return error instanceof ChunkLoadError || (error instanceof TypeError && browsersOwn.test(error.message))
}

/** What of the browser is needed to load the page again. */
export interface Reloading {
  readonly location: Pick<Location, 'pathname' | 'reload'>
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem'>
  readonly fetch: typeof fetch
  /** The address of the client's first script: another one after a deployment. */
  readonly build: string
}

export function reloadingOf(page: Window & typeof globalThis): Reloading {
  return {
    location: page.location,
    sessionStorage: page.sessionStorage,
    fetch: (...args) => page.fetch(...args),
    build: page.document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src ?? '',
  }
}

const reloadedKey = 'reloadedForChunk'
const firstAskMs = 1_000
const slowestAskMs = 10_000

/**
 * After a deployment the old chunks are gone, and without a connection none come: loads the page again once the server answers, but a
 * page of a build only once, however often it fails. `signal` ends the wait.
 */
export async function reloadOnMissingChunk(
  { location, sessionStorage, fetch, build }: Reloading,
  signal: AbortSignal,
): Promise<void> {
  const attempt = `${build} ${location.pathname}`
  try {
    if (sessionStorage.getItem(reloadedKey) === attempt) return
  } catch {
    // Nothing would tell the next time that this was one.
    return
  }
  for (let wait = firstAskMs; !signal.aborted; wait = Math.min(wait * 2, slowestAskMs)) {
    const answers = await fetch('/', { method: 'HEAD', cache: 'no-store', signal }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (signal.aborted) return
    if (answers) {
      try {
        sessionStorage.setItem(reloadedKey, attempt)
      } catch {
        return
      }
      return location.reload()
    }
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}
