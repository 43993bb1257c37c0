/** Shown when the server does not answer, or cannot tell who is signed in. Nothing is discarded, and a button tries again. */
import type { SerializedError } from '@reduxjs/toolkit'
import type { ApiFault } from '../../api/fault.ts'
import { Brand } from '../../ui/text/Brand.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { texts } from './texts.ts'

interface ServerUnreachableProps {
  readonly error: ApiFault | SerializedError
  readonly onRetry: () => void
}

export function ServerUnreachable({ error, onRetry }: ServerUnreachableProps) {
  const isAway = 'status' in error && error.status === null
  return (
    <div role="alert" className="mx-auto max-w-192 px-4 pt-6 md:px-6 md:pt-12">
      <Brand className="mb-8" />
      <Empty
        heading="h1"
        title={isAway ? texts.unreachable : texts.notLoaded}
        className="px-0"
        action={
          <Button size="touch" onClick={onRetry}>
            {texts.tryAgain}
          </Button>
        }
      >
        {isAway ? texts.unreachableWhy : error.message}
      </Empty>
    </div>
  )
}
