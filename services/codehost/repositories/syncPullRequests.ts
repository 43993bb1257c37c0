/**
 * Updates open pull requests after their branches changed: a pull request gets new commits, is closed, or counts as merged if the base branch
 * contains its commits.
 */
import type { Bare } from '../git/bareRepository.ts'
import type { PullRequest, State } from '../state/stateSchema.ts'

/** How an open pull request changed because of its branches. */
export type Move =
  | { readonly kind: 'moved'; readonly id: number; readonly headSha: string; readonly baseSha: string }
  | { readonly kind: 'merged'; readonly id: number; readonly headSha: string }
  | { readonly kind: 'closed'; readonly id: number }

/** The ref that keeps the commits of a pull request even if the branch is deleted. */
export const headRef = (number: number): string => `refs/pull/${number}/head`

/** Compares a repository's open pull requests with its branches. Also updates the refs that keep the commits of pull requests. */
export async function follow(
  bare: Bare,
  open: readonly PullRequest[],
  branches: ReadonlyMap<string, string>,
): Promise<readonly Move[]> {
  const moves: Move[] = []
  for (const pull of open) {
    const move = await moveOf(bare, pull, branches.get(pull.head), branches.get(pull.base))
    if (!move) continue
    if (move.kind !== 'closed') await bare.updateRef(headRef(pull.number), move.headSha)
    moves.push(move)
  }
  return moves
}

async function moveOf(
  bare: Bare,
  pull: PullRequest,
  head: string | undefined,
  base: string | undefined,
): Promise<Move | undefined> {
  const headSha = head ?? pull.headSha
  if (base !== undefined && base !== pull.baseSha && (await bare.isAncestor(headSha, base))) {
    return { kind: 'merged', id: pull.id, headSha }
  }
  if (head === undefined || base === undefined) return { kind: 'closed', id: pull.id }
  if (head === pull.headSha && base === pull.baseSha) return undefined
  return { kind: 'moved', id: pull.id, headSha: head, baseSha: base }
}

/** The state after `moves`. A pull request that was closed in the meantime does not change. */
export function followed(state: State, moves: readonly Move[], now: string): State {
  if (moves.length === 0) return state
  const byId = new Map(moves.map((move) => [move.id, move]))
  return {
    ...state,
    pullRequests: state.pullRequests.map((pull) => {
      const move = byId.get(pull.id)
      return move && pull.closedAt === null ? moved(pull, move, now) : pull
    }),
  }
}

function moved(pull: PullRequest, move: Move, now: string): PullRequest {
  switch (move.kind) {
    case 'moved':
      return { ...pull, headSha: move.headSha, baseSha: move.baseSha, updatedAt: now }
    case 'merged':
      return {
        ...pull,
        headSha: move.headSha,
        merged: { at: now, by: null, commit: null },
        closedAt: now,
        updatedAt: now,
      }
    case 'closed':
      return { ...pull, closedAt: now, updatedAt: now }
  }
}
