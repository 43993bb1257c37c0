/** The server gives no answer at all: nothing is thrown away, and a button asks again. */
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/Empty.tsx'
import { texts } from './texts.ts'

export function ServerUnreachable({ onRetry }: { readonly onRetry: () => void }) {
  return (
    <div role="alert" className="mx-auto max-w-192 px-2 pt-24 md:px-6">
      <Empty
        heading="h1"
        title={texts.unreachable}
        action={<Button onClick={onRetry}>{texts.tryAgain}</Button>}
      >
        {texts.unreachableWhy}
      </Empty>
    </div>
  )
}
