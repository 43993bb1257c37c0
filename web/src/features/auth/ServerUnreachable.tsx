/** The server gives no answer at all: nothing is thrown away, and a button asks again. */
import { Brand } from '../../ui/text/Brand.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { texts } from './texts.ts'

export function ServerUnreachable({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <div role="alert" className="mx-auto max-w-192 px-4 pt-6 md:px-6 md:pt-12">
      <Brand className="mb-8" />
      <Empty
        heading="h1"
        title={texts.unreachable}
        className="px-0"
        action={
          <Button size="touch" onClick={onRetry}>
            {texts.tryAgain}
          </Button>
        }
      >
        {texts.unreachableWhy}
      </Empty>
    </div>
  )
}
