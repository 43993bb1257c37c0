/** API calls for one open task. Histories are not cached here: `taskSync.ts` reads them, and folds events into them. */
import { chatRoutes } from '#domain/api/chat.ts'
import { questionRoutes } from '#domain/api/questions.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import type { AnswerOf, BodyInputOf } from '#domain/api/call.schema.ts'
import type {
  editMessage,
  getChat,
  getCommands,
  reorderQueue,
  sendMessage,
  steerMessage,
  withdrawMessage,
} from '#domain/api/chat.schema.ts'
import type {
  cancelTask,
  createPullRequest,
  executeTask,
  getPullRequest,
  getTask,
  getTaskDiff,
  GitDiff,
  retryTask,
  updateTask,
} from '#domain/api/tasks.schema.ts'
import type { listQuestions } from '#domain/api/questions.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import type { AgentName } from '#domain/agents.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'
import { logFailure } from '../../api/logFailure.ts'
import { texts as changesTexts } from './changes/texts.ts'
import { texts as chatTexts } from './chat/texts.ts'
import { isRecord } from './readUncached.ts'
import { ofParams, ofTask } from './taskCall.ts'
import { texts } from './texts.ts'

/** The task, and the position that its history must include. */
interface TaskQuery {
  readonly taskId: string
  readonly minPosition: Position | undefined
}

/** The latest page of a history, or the page before a position. */
interface PageQuery extends TaskQuery {
  readonly before?: Position
  readonly limit?: number
}

export type PullRequestInput = NonNullable<BodyInputOf<typeof createPullRequest>>

/** How many messages and tool calls are loaded when a task is opened; earlier ones are loaded on request. */
export const historyPage = { messages: 1_000, calls: 500 } as const

type Builder = Parameters<Parameters<typeof api.injectEndpoints>[0]['endpoints']>[0]

function histories(build: Builder) {
  return {
    task: build.query<AnswerOf<typeof getTask>, TaskQuery>({
      query: ({ taskId, minPosition }) =>
        requestOf<typeof getTask>(taskRoutes.getTask, {
          params: { taskId },
          query: { minPosition },
          fallback: texts.notFetched,
        }),
      keepUnusedDataFor: 0,
    }),
    chat: build.query<AnswerOf<typeof getChat>, PageQuery>({
      query: ({ taskId, limit = historyPage.messages, ...page }) =>
        requestOf<typeof getChat>(chatRoutes.getChat, {
          params: { taskId },
          query: { ...page, limit },
          fallback: texts.chatNotFetched,
        }),
      keepUnusedDataFor: 0,
      onQueryStarted: logFailure,
    }),
    commands: build.query<AnswerOf<typeof getCommands>, PageQuery>({
      query: ({ taskId, limit = historyPage.calls, ...page }) =>
        requestOf<typeof getCommands>(chatRoutes.getCommands, {
          params: { taskId },
          query: { ...page, limit },
          fallback: texts.commandsNotFetched,
        }),
      keepUnusedDataFor: 0,
      onQueryStarted: logFailure,
    }),
    questions: build.query<AnswerOf<typeof listQuestions>, TaskQuery>({
      query: ({ taskId, minPosition }) =>
        requestOf<typeof listQuestions>(questionRoutes.listQuestions, {
          params: { taskId },
          query: { minPosition },
          fallback: texts.questionsNotFetched,
        }),
      keepUnusedDataFor: 0,
      onQueryStarted: logFailure,
    }),
    diff: build.query<AnswerOf<typeof getTaskDiff>, string>({
      query: ofTask<typeof getTaskDiff>(taskRoutes.getTaskDiff, changesTexts.errorWhy),
      providesTags: (_answer, _error, id) => [{ type: 'Diff', id }],
      structuralSharing: false,
    }),
  }
}

interface OneMessage {
  readonly taskId: string
  readonly messageId: string
}

function messages(build: Builder) {
  return {
    sendMessage: build.mutation<
      AnswerOf<typeof sendMessage>,
      { readonly taskId: string; readonly body: BodyInputOf<typeof sendMessage> }
    >({
      query: ({ taskId, body }) =>
        requestOf<typeof sendMessage>(chatRoutes.sendMessage, {
          params: { taskId },
          body,
          key: body.id,
          fallback: texts.toasts.notSent,
        }),
    }),
    withdrawMessage: build.mutation<AnswerOf<typeof withdrawMessage>, OneMessage>({
      query: (params) =>
        requestOf<typeof withdrawMessage>(chatRoutes.withdrawMessage, {
          params,
          keepalive: true,
          fallback: texts.toasts.notWithdrawn,
        }),
    }),
    steerMessage: build.mutation<AnswerOf<typeof steerMessage>, OneMessage>({
      query: ofParams<typeof steerMessage>(chatRoutes.steerMessage, texts.toasts.notSteered),
    }),
    editMessage: build.mutation<AnswerOf<typeof editMessage>, OneMessage & { readonly message: string }>({
      query: ({ message, ...params }) =>
        requestOf<typeof editMessage>(chatRoutes.editMessage, {
          params,
          body: { message },
          fallback: chatTexts.queue.notEdited,
        }),
    }),
    reorderQueue: build.mutation<
      AnswerOf<typeof reorderQueue>,
      { readonly taskId: string; readonly messageIds: readonly string[] }
    >({
      query: ({ taskId, messageIds }) =>
        requestOf<typeof reorderQueue>(chatRoutes.reorderQueue, {
          params: { taskId },
          body: { messageIds: [...messageIds] },
          fallback: chatTexts.queue.notMoved,
        }),
    }),
    chooseModel: build.mutation<
      AnswerOf<typeof updateTask>,
      {
        readonly taskId: string
        readonly codexModel: string | null
        readonly effort: string | null
        readonly agent: AgentName
      }
    >({
      query: ({ taskId, ...body }) =>
        requestOf<typeof updateTask>(taskRoutes.updateTask, {
          params: { taskId },
          body,
          fallback: texts.toasts.modelNotChanged,
        }),
    }),
  }
}

/** Calls that start or stop an execution, and calls for the task's pull request. */
function executions(build: Builder) {
  return {
    cancelTask: build.mutation<AnswerOf<typeof cancelTask>, string>({
      query: ofTask<typeof cancelTask>(taskRoutes.cancelTask, texts.toasts.notCancelled),
    }),
    retryTask: build.mutation<AnswerOf<typeof retryTask>, string>({
      query: ofTask<typeof retryTask>(taskRoutes.retryTask, texts.toasts.notRetried),
    }),
    executeTask: build.mutation<AnswerOf<typeof executeTask>, string>({
      query: (taskId) =>
        requestOf<typeof executeTask>(taskRoutes.executeTask, {
          params: { taskId },
          body: {},
          fallback: texts.toasts.notExecuted,
        }),
    }),
    pullRequest: build.query<AnswerOf<typeof getPullRequest>, string>({
      query: ofTask<typeof getPullRequest>(taskRoutes.getPullRequest, texts.notProposed),
      // Not kept after its use, because the agent may have gone on working.
      keepUnusedDataFor: 0,
    }),
    createPullRequest: build.mutation<
      AnswerOf<typeof createPullRequest>,
      { readonly taskId: string; readonly update: boolean; readonly body: PullRequestInput }
    >({
      query: ({ taskId, update, body }) =>
        requestOf<typeof createPullRequest>(taskRoutes.createPullRequest, {
          params: { taskId },
          body,
          fallback: update ? texts.toasts.prNotUpdated : texts.toasts.prNotCreated,
        }),
      invalidatesTags: (_answer, _error, { taskId }) => ['Tasks', { type: 'Diff', id: taskId }],
    }),
  }
}

export const taskApi = api.injectEndpoints({
  endpoints: (build) => ({
    ...histories(build),
    ...messages(build),
    ...executions(build),
  }),
})

export const {
  useDiffQuery,
  useSendMessageMutation,
  useSteerMessageMutation,
  useWithdrawMessageMutation,
  useEditMessageMutation,
  useReorderQueueMutation,
  useChooseModelMutation,
  useCancelTaskMutation,
  useRetryTaskMutation,
  useExecuteTaskMutation,
  usePullRequestQuery,
  useCreatePullRequestMutation,
} = taskApi

/** Whether an answer has the form of a diff, as far as the client depends on it. */
export function isGitDiff(value: unknown): value is GitDiff {
  if (!isRecord(value)) return false
  const { status, changedFiles, totalChanges, commitComparison } = value
  return (
    (status === 'ready' || status === 'pending_clone' || status === 'not_initialized') &&
    typeof totalChanges === 'number' &&
    isRecord(commitComparison) &&
    Array.isArray(changedFiles) &&
    changedFiles.every(
      (file) => isRecord(file) && typeof file['fileName'] === 'string' && typeof file['diff'] === 'string',
    )
  )
}
