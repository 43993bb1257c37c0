/** The images of the open task's messages, stored beside the chat: events say which images exist, the server gives their addresses. */
import type { UnknownAction } from '@reduxjs/toolkit'
import type { ChatMessage } from '#domain/api/chat.schema.ts'
import { imagesOf } from '#domain/views/images.ts'
import { rootReducer } from '../../../state/rootReducer.ts'
import { pictureOf, type Picture } from '../../images/usePictureAddresses.ts'
import {
  chatLoaded,
  earlierLoaded,
  eventsCame,
  messageCame,
  messageSent,
  messageTaken,
  taskOpened,
} from '../taskSlice.ts'

/** The images of messages, by message id; a message without images has no entry. */
export type Pictures = Readonly<Record<string, readonly Picture[]>>

export function picturesReducer(state: Pictures = {}, action: UnknownAction): Pictures {
  if (taskOpened.match(action)) return {}
  if (chatLoaded.match(action)) return withMessages(state, action.payload.messages)
  if (earlierLoaded.match(action)) return withMessages(state, action.payload.messages)
  if (messageTaken.match(action) || messageCame.match(action)) return withMessages(state, [action.payload])
  if (messageSent.match(action)) {
    const { id, images = [] } = action.payload
    return images.length === 0 ? state : { ...state, [id]: images }
  }
  if (eventsCame.match(action)) {
    const byMessage = action.payload.flatMap((event) =>
      event.type === 'MessageQueued' && !(event.data.messageId in state)
        ? [[event.data.messageId, imagesOf(event).map(pictureOf)] as const]
        : [],
    )
    return withPictures(state, byMessage)
  }
  return state
}

function withMessages(state: Pictures, messages: readonly ChatMessage[]): Pictures {
  return withPictures(
    state,
    messages.map(({ id, images }) => [id, images] as const),
  )
}

function withPictures(
  state: Pictures,
  found: readonly (readonly [id: string, pictures: readonly Picture[]])[],
): Pictures {
  const some = found.filter(([, pictures]) => pictures.length > 0)
  return some.length === 0 ? state : { ...state, ...Object.fromEntries(some) }
}

declare module '../../../state/rootReducer.ts' {
  interface FeatureSlices {
    pictures: Pictures
  }
}
rootReducer.inject({ reducerPath: 'pictures', reducer: picturesReducer })

interface WithPictures {
  readonly session: unknown
  readonly pictures?: Pictures
}

const none: Pictures = {}
const noPictures: readonly Picture[] = []

export const selectPictures = (state: WithPictures): Pictures => state.pictures ?? none
/** The images of a message, in the order in which they were attached. */
export const selectPicturesOf =
  (messageId: string) =>
  (state: WithPictures): readonly Picture[] =>
    selectPictures(state)[messageId] ?? noPictures
