/** Webhook payloads about checks and statuses, in the form of `@octokit/webhooks-examples`. */
import type { Store } from '../../../../services/codehost/state/store.ts'
import type { GitHubState } from '../state.ts'
import { latestRuns } from '../checks/rollup.ts'
import { commitAnswer, shortBranch } from '../../../../services/codehost/rest/repositories.ts'
import { checkRunAnswer, statusAnswer, suiteAnswer, suiteBase } from '../rest/checkAnswers.ts'
import type { About } from '../../../../services/codehost/rest/reviewResponses.ts'
import type { Repositories } from '../../../../services/codehost/repositories/repositories.ts'
import type { GitHubEvent } from '../events.ts'

/** Events about reports of programs on commits. */
export type Report = Extract<GitHubEvent, { kind: 'check_run' | 'check_suite' | 'status' }>

export const isReport = (event: GitHubEvent): event is Report =>
  event.kind === 'check_run' || event.kind === 'check_suite' || event.kind === 'status'

/** The event's action, if it has one, and its payload without the members that every payload has. */
export async function reportOf(
  {
    repositories,
    github,
  }: {
    readonly repositories: Pick<Repositories, 'bare'>
    readonly github: Pick<Store<GitHubState>, 'current'>
  },
  about: About,
  event: Report,
): Promise<{ readonly action: string | null; readonly payload: object }> {
  const bare = repositories.bare(event.repository)
  if (event.kind === 'check_run') {
    const { action, run } = event
    const suite = suiteBase(
      about,
      run,
      latestRuns(github.current().checkRuns.filter(({ suiteId }) => suiteId === run.suiteId)),
    )
    return { action, payload: { action, check_run: { ...checkRunAnswer(about, run), check_suite: suite } } }
  }
  if (event.kind === 'check_suite') {
    const { action, runs } = event
    const [first] = runs
    const [head] = first ? await bare.commits(undefined, first.headSha, 1) : []
    if (!first || !head) throw new Error('A suite without a run or a commit cannot be told.')
    const { repository: _, ...suite } = suiteAnswer(about, first, runs, head)
    return { action, payload: { action, check_suite: suite } }
  }
  const { status } = event
  const [commit] = await bare.commits(undefined, status.sha, 1)
  const branches = [...(await bare.branches())].filter(([, tip]) => tip === status.sha)
  const { id, state, context, description, target_url, created_at, updated_at, avatar_url } = statusAnswer(
    about,
    status,
  )
  return {
    action: null,
    payload: {
      id,
      sha: status.sha,
      name: about.answer.full_name,
      avatar_url,
      target_url,
      context,
      description,
      state,
      commit: commit && commitAnswer(about.answer, commit),
      branches: branches.map(([name, tip]) => shortBranch(about.answer, name, tip)),
      created_at,
      updated_at,
    },
  }
}
