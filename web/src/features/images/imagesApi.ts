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
import { type ApiAnswer, answerOf } from '../../api/request.ts'
import { texts } from './texts.ts'
import { callTimeoutMs } from '../../api/callTimeout.ts'

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

/** Sends a file as a form, telling how far it is: `fetch` cannot. Throws nothing. */
interface FileCall {
  /** Below `/api`. */
  readonly path: string
  readonly field: string
  readonly file: File
  /** By which the server keeps it once, however often it arrives. */
  readonly key: string
  /** Said where the server gives no reason. */
  readonly fallback: string
  /** Percent of the bytes that have left, 0 to 100. */
  readonly onProgress: (percent: number) => void
}

function sendFile(call: FileCall, token: string, signal: AbortSignal): Promise<ApiAnswer> {
  const { path, field, file, key, fallback, onProgress } = call
  const xhr = new XMLHttpRequest()
  return new Promise<ApiAnswer>((resolve) => {
    const failed = (code: string) => () =>
      resolve({ error: { status: null, code, message: fallback, field: null } })
    xhr.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(Math.round((loaded / total) * 100))
    })
    xhr.addEventListener('load', () => resolve(answerOf(xhr.status, xhr.responseText, fallback)))
    xhr.addEventListener('error', failed('offline'))
    xhr.addEventListener('timeout', failed('timeout'))
    xhr.addEventListener('abort', failed('aborted'))
    signal.addEventListener('abort', () => xhr.abort())
    xhr.open('POST', `/api${path}`)
    xhr.timeout = callTimeoutMs
    xhr.setRequestHeader('accept', 'application/json')
    xhr.setRequestHeader('authorization', `Bearer ${token}`)
    xhr.setRequestHeader('idempotency-key', key)
    const form = new FormData()
    form.set(field, file)
    xhr.send(form)
  })
}
