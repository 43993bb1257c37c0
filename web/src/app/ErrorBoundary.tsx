/** Contains render errors: the rest of the page stays, and the person is offered a reload. */
import { Component, type ReactNode } from 'react'
import { Button } from '../ui/form/Button.tsx'
import { Empty } from '../ui/layout/Empty.tsx'
import { isMissingChunk, reloadingOf, reloadOnMissingChunk } from './loading/lazyPage.ts'
import { texts } from './texts.ts'

interface ErrorBoundaryProps {
  readonly children: ReactNode
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error: unknown }> {
  override readonly state = { error: null }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  private gone: AbortController | null = null

  // After a deployment or while offline, a chunk may be missing. The page then shows the error until the server answers, and reloads itself, unless
  // the last such reload was of the same page and build.
  override componentDidCatch(error: unknown) {
    if (!isMissingChunk(error)) return
    this.gone = new AbortController()
    void reloadOnMissingChunk(reloadingOf(window), this.gone.signal)
  }

  override componentWillUnmount() {
    this.gone?.abort()
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    const missing = isMissingChunk(error)
    return (
      <div role="alert" className="mx-auto max-w-192 px-2 pt-12 md:px-6">
        <Empty
          heading="h1"
          title={missing ? texts.chunkMissing : texts.crashed}
          action={<Button onClick={() => location.reload()}>{texts.reload}</Button>}
        >
          {missing ? texts.chunkMissingWhy : messageOf(error)}
        </Empty>
      </div>
    )
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
