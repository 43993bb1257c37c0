/** Keeps the images in tools' results as blobs of the task, after the same checks as images that people send. */
import { v5 as uuidv5 } from 'uuid'
import { imageLimits } from '#domain/api/images.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { ToolImagesKept } from '#domain/task/toolImageEvents.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RecordingDeps } from '../../deps.ts'

/** Keeps the images of a tool call, and resolves with the event about them. Images that cannot be kept are only counted. */
export type KeepToolImages = (
  toolId: string,
  base64: readonly string[],
) => Promise<EventOf<typeof ToolImagesKept>>

const mostOfCall = 8
/** The maximum size of all images of one turn, in bytes as they are stored. */
const mostBytes = 20_000_000
/** The maximum number of images of one turn that are decoded. */
const mostDecoded = 100

interface ImageDeps extends Pick<RecordingDeps, 'checkImage' | 'logger'> {
  readonly blobs: Pick<RecordingDeps['blobs'], 'put'>
}

export function toolImages(
  { blobs, checkImage, logger }: ImageDeps,
  { taskId, executionId }: { readonly taskId: string; readonly executionId: string },
): KeepToolImages {
  const scope = scopeOfStream(taskStream(taskId))
  let keptBytes = 0
  let decoded = 0

  async function kept(base64: string) {
    const isTooLong = base64.length > (imageLimits.bytes * 4) / 3
    if (isTooLong || keptBytes >= mostBytes || decoded >= mostDecoded) return undefined
    decoded += 1
    const { bytes, ...facts } = await checkImage(Buffer.from(base64, 'base64'))
    if (keptBytes + bytes.length > mostBytes) return undefined
    keptBytes += bytes.length
    return { ...facts, blob: await blobs.put(scope, bytes) }
  }

  return async (toolId, base64) => {
    const images: EventOf<typeof ToolImagesKept>['data']['images'] = []
    let isAway = false
    for (const [index, each] of base64.slice(0, mostOfCall).entries()) {
      // Each image would wait for minutes until the engine is back, and the agent would count as silent.
      if (isAway) break
      const image = await kept(each).catch((fault: unknown) => {
        isAway = fault instanceof EngineUnavailable
        // The run continues without the image, and the page shows that it is missing.
        if (!(fault instanceof Fault))
          logger.warn({ err: fault, taskId }, 'failed to keep an image of a tool')
      })
      if (image) images.push({ imageId: uuidv5(`${toolId}:${index}`, executionId), ...image })
    }
    return ToolImagesKept.of({ executionId, toolId, images, leftOut: base64.length - images.length })
  }
}
