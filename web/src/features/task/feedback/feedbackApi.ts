/** The API calls about feedback on a pull request, for its draft state, and for the clean-up after its end. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { cleanUpRoutes } from '#domain/api/cleanUp.ts'
import type { cleanUpTask } from '#domain/api/cleanUp.schema.ts'
import { feedbackRoutes } from '#domain/api/feedback.ts'
import type {
  answerFeedback,
  dismissFeedback,
  listFeedback,
  readFeedbackMessage,
  resolveFeedback,
  restoreFeedback,
  sendFeedback,
  setPullRequestDraft,
} from '#domain/api/feedback.schema.ts'
import { api } from '../../../api/api.ts'
import { requestOf } from '../../../api/endpoint.ts'
import { ofParams, ofTask } from '../taskCall.ts'
import { texts } from './texts.ts'

interface OneOfTask {
  readonly taskId: string
  readonly feedbackId: string
}

/** The cache tag of a task's feedback. `taskSync.ts` invalidates it when an event may have changed the feedback. */
const tagOf = (taskId: string) => ({ type: 'Chat', id: `feedback ${taskId}` }) as const
const changed = (_answer: unknown, _error: unknown, { taskId }: { readonly taskId: string }) => [
  tagOf(taskId),
]

export const feedbackApi = api.injectEndpoints({
  endpoints: (build) => ({
    feedback: build.query<AnswerOf<typeof listFeedback>, string>({
      query: ofTask<typeof listFeedback>(feedbackRoutes.listFeedback, texts.notFetched),
      providesTags: (_answer, _error, taskId) => [tagOf(taskId)],
    }),
    feedbackMessage: build.query<AnswerOf<typeof readFeedbackMessage>, OneOfTask>({
      query: ofParams<typeof readFeedbackMessage>(
        feedbackRoutes.readFeedbackMessage,
        texts.messageNotFetched,
      ),
    }),
    sendFeedback: build.mutation<AnswerOf<typeof sendFeedback>, OneOfTask & { readonly message?: string }>({
      query: ({ message, ...params }) =>
        requestOf<typeof sendFeedback>(feedbackRoutes.sendFeedback, {
          params: { ...params },
          body: message === undefined ? {} : { message },
          fallback: texts.notSent,
        }),
      invalidatesTags: changed,
    }),
    dismissFeedback: build.mutation<AnswerOf<typeof dismissFeedback>, OneOfTask>({
      query: ofParams<typeof dismissFeedback>(feedbackRoutes.dismissFeedback, texts.notDismissed),
      invalidatesTags: changed,
    }),
    restoreFeedback: build.mutation<AnswerOf<typeof restoreFeedback>, OneOfTask>({
      query: ofParams<typeof restoreFeedback>(feedbackRoutes.restoreFeedback, texts.notRestored),
      invalidatesTags: changed,
    }),
    resolveFeedback: build.mutation<AnswerOf<typeof resolveFeedback>, OneOfTask>({
      query: ofParams<typeof resolveFeedback>(feedbackRoutes.resolveFeedback, texts.notResolved),
      invalidatesTags: changed,
    }),
    answerFeedback: build.mutation<AnswerOf<typeof answerFeedback>, OneOfTask>({
      query: ofParams<typeof answerFeedback>(feedbackRoutes.answerFeedback, texts.notAnswered),
      invalidatesTags: changed,
    }),
    cleanUpTask: build.mutation<AnswerOf<typeof cleanUpTask>, string>({
      query: ofTask<typeof cleanUpTask>(cleanUpRoutes.cleanUpTask, texts.cleanUp.failed),
    }),
    setPullRequestDraft: build.mutation<
      AnswerOf<typeof setPullRequestDraft>,
      { readonly taskId: string; readonly draft: boolean }
    >({
      query: ({ taskId, draft }) =>
        requestOf<typeof setPullRequestDraft>(feedbackRoutes.setPullRequestDraft, {
          params: { taskId },
          body: { draft },
          fallback: texts.notDrafted,
        }),
    }),
  }),
})

export const {
  useFeedbackQuery,
  useLazyFeedbackMessageQuery,
  useSendFeedbackMutation,
  useDismissFeedbackMutation,
  useRestoreFeedbackMutation,
  useResolveFeedbackMutation,
  useAnswerFeedbackMutation,
  useSetPullRequestDraftMutation,
  useCleanUpTaskMutation,
} = feedbackApi
