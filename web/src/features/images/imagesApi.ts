/** Uploading an image, and where those of a task are shown. */
import { chatRoutes } from '#domain/api/chat.ts'
import { imageRoutes } from '#domain/api/images.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getChat } from '#domain/api/chat.schema.ts'
import type { uploadImage } from '#domain/api/images.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { signedIn } from '../../api/baseQuery.ts'
import type { ApiFault } from '../../api/fault.ts'
import type { ApiAnswer } from '../../api/request.ts'
import { sendFile } from './sendFile.ts'
import { texts } from './texts.ts'

type Uploaded = AnswerOf<typeof uploadImage>

export interface UploadQuery {
  readonly file: File
  /** Sent again under the same key, it is one image. */
  readonly key: string
  readonly onProgress: (percent: number) => void
}

const { path } = imageRoutes.uploadImage
/** Messages that are looked at for addresses of their images. */
const page = 1_000

export const imagesApi = api.injectEndpoints({
  endpoints: (build) => ({
    uploadImage: build.mutation<Uploaded, UploadQuery>({
      queryFn: async (query, { dispatch, signal }) => {
        const call = { ...query, path, field: 'image', fallback: texts.failed }
        return uploaded(await signedIn(path, dispatch, (token) => sendFile(call, token, signal)))
      },
    }),
    /** Addresses of a task's images by their ids: one that was given before may have run out. */
    imageAddresses: build.query<Readonly<Record<string, string>>, string>({
      query: (taskId) =>
        requestOf<typeof getChat>(chatRoutes.getChat, {
          params: { taskId },
          query: { limit: page },
          fallback: texts.addresses,
        }),
      transformResponse: ({ messages }: AnswerOf<typeof getChat>) =>
        Object.fromEntries(messages.flatMap(({ images }) => images.map(({ id, url }) => [id, url]))),
      keepUnusedDataFor: 0,
    }),
  }),
})

export const { useImageAddressesQuery } = imagesApi

function uploaded(answer: ApiAnswer): { readonly data: Uploaded } | { readonly error: ApiFault } {
  if ('error' in answer) return answer
  if (isUploaded(answer.data)) return { data: answer.data }
  return { error: { status: null, code: 'unreadable', message: texts.failed, field: null } }
}

/** Of the answer the address is read (section 7), and the id by which it is attached. */
function isUploaded(answer: unknown): answer is Uploaded {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'id' in answer &&
    typeof answer.id === 'string' &&
    'url' in answer &&
    typeof answer.url === 'string'
  )
}
