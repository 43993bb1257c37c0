/** Visits of a test: they end with it, faults in their pages fail it, and a failure reports what was on the screen. */
import { onTestFinished } from 'vitest'
import type { AnyProduct } from '../product.ts'
import type { Stage } from './stage.ts'
import type { Visit, VisitOptions } from './visit.ts'

/** Opens a visit; must be called within a test. */
export async function visiting(stage: Stage<AnyProduct>, options?: VisitOptions): Promise<Visit> {
  const visit = await stage.visit(options)
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await tellWhatIsSeen(visit, stage)
    await visit.leave()
  })
  return visit
}

async function tellWhatIsSeen(visit: Visit, stage: Stage<AnyProduct>): Promise<void> {
  for (const page of visit.context.pages()) {
    const seen = await page
      .locator('body')
      .ariaSnapshot({ timeout: 2_000 })
      .catch(() => 'nothing')
    process.stderr.write(`On the screen at ${page.url()}:\n${seen}\n\n`)
  }
  process.stderr.write(`The product printed:\n${stage.product.logs.stdout}${stage.product.logs.stderr}\n`)
}
