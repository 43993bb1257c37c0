/** The uploaded image: `none -> kept -> discarded`. Messages have copies of it, so that it may go. */
import type { z } from 'zod'
import type { Decider, Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { ImageAttached, ImageDiscarded, ImageUploaded, type ImageEvent } from './events.ts'

type Uploaded = z.infer<(typeof ImageUploaded)['data']>

export interface KeptImage extends Uploaded {
  readonly kind: 'kept'
  /** As its file was called; `''` when it was erased. */
  readonly name: string
  /** ISO 8601. */
  readonly uploadedAt: string
  /** Whether a message has it. */
  readonly isAttached: boolean
}

export type ImageState =
  | { readonly kind: 'none' }
  | KeptImage
  | { readonly kind: 'discarded'; readonly ownerId: string }

export type ImageCommand =
  | { readonly type: 'UploadImage'; readonly image: Uploaded; readonly name: string }
  | { readonly type: 'AttachImage'; readonly taskId: string; readonly messageId: string }
  | { readonly type: 'DiscardImage' }

const sentence = 'There is no such image.'

function decide(command: ImageCommand, state: ImageState): Decision<ImageEvent> {
  switch (command.type) {
    case 'UploadImage':
      return state.kind === 'none'
        ? [ImageUploaded.of(command.image, { name: command.name })]
        : refuse('already_exists')
    case 'AttachImage':
      if (state.kind === 'none') return refuse('not_found', sentence)
      // The copy is made before this is noted: it may have been discarded meanwhile.
      return state.kind === 'kept' && !state.isAttached
        ? [ImageAttached.of({ taskId: command.taskId, messageId: command.messageId })]
        : []
    case 'DiscardImage':
      if (state.kind === 'none') return refuse('not_found', sentence)
      return state.kind === 'kept' ? [ImageDiscarded.of({})] : []
  }
}

function evolve(state: ImageState, event: RecordedOf<ImageEvent>): ImageState {
  if (event.type === 'ImageUploaded') {
    const name = event.content?.name ?? ''
    return { kind: 'kept', ...event.data, name, uploadedAt: event.at, isAttached: false }
  }
  if (state.kind !== 'kept') return state
  switch (event.type) {
    case 'ImageAttached':
      return { ...state, isAttached: true }
    case 'ImageDiscarded':
      return { kind: 'discarded', ownerId: state.ownerId }
  }
}

export const image: Decider<ImageState, ImageCommand, ImageEvent> = {
  initial: { kind: 'none' },
  decide,
  evolve,
}
