/** Uploads images, and reads the addresses of a task's images. */
import { chatRoutes } from '#domain/api/chat.ts'
import { imageRoutes } from '#domain/api/images.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getTaskImages } from '#domain/api/chat.schema.ts'
import type { uploadImage } from '#domain/api/images.schema.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { signedIn } from '../../api/baseQuery.ts'
import type { ApiFault } from '../../api/fault.ts'
import { textOf } from '../../api/memberOf.ts'
import { type ApiAnswer, answerOf } from '../../api/request.ts'
import { texts } from './texts.ts'
import { callTimeoutMs } from '../../api/prefetched.ts'

type Uploaded = AnswerOf<typeof uploadImage>

interface Upload {
  readonly file: File
  /** The server stores an image once per key, however often the image arrives. */
  readonly key: string
  /** Receives the percentage of the bytes that were sent, 0 to 100. */
  readonly onProgress: (percent: number) => void
}

const { path } = imageRoutes.uploadImage

export const imagesApi = api.injectEndpoints({
  endpoints: (build) => ({
    uploadImage: build.mutation<Uploaded, Upload>({
      queryFn: async (upload, { dispatch, signal }) =>
        uploaded(await signedIn(path, dispatch, (token) => send(upload, token, signal))),
    }),
    /** The current addresses of a task's images by their ids; addresses expire. */
    imageAddresses: build.query<Readonly<Record<string, string>>, string>({
      query: (taskId) =>
        requestOf<typeof getTaskImages>(chatRoutes.getTaskImages, {
          params: { taskId },
          fallback: texts.addresses,
        }),
      transformResponse: ({ images }: AnswerOf<typeof getTaskImages>) =>
        Object.fromEntries(images.map(({ id, url }) => [id, url])),
      keepUnusedDataFor: 0,
    }),
  }),
})

export const { useImageAddressesQuery } = imagesApi

const failure = (code: string) => ({ error: { status: null, code, message: texts.failed, field: null } })

function uploaded(answer: ApiAnswer): { readonly data: Uploaded } | { readonly error: ApiFault } {
  if ('error' in answer) return answer
  return isUploaded(answer.data) ? { data: answer.data } : failure('unreadable')
}

/** Checks the members that the client uses: the address (contract, section 7), and the id by which the image is attached. */
function isUploaded(answer: unknown): answer is Uploaded {
  return textOf(answer, 'id') !== undefined && textOf(answer, 'url') !== undefined
}

/** Sends a file as a form and reports the progress, which `fetch` cannot report. Never rejects. */
function send({ file, key, onProgress }: Upload, token: string, signal: AbortSignal): Promise<ApiAnswer> {
  const xhr = new XMLHttpRequest()
  return new Promise<ApiAnswer>((resolve) => {
    const failed = (code: string) => () => resolve(failure(code))
    xhr.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(Math.round((loaded / total) * 100))
    })
    xhr.addEventListener('load', () => resolve(answerOf(xhr.status, xhr.responseText, texts.failed)))
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
    form.set('image', file)
    xhr.send(form)
  })
}
