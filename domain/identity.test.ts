/** An account at the code host belongs to one person here: the first one to claim it. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../tests/domain/given.ts'
import { userId } from '../tests/domain/ids.ts'
import { IdentityClaimed, IdentityReleased, identity } from './identity.ts'

const [ada, grace] = [userId(1), userId(2)]
const claim = (who: string) => ({ type: 'ClaimIdentity', userId: who }) as const
const claimed = (who: string) => IdentityClaimed.of({ userId: who })
const released = (who: string) => IdentityReleased.of({ userId: who })

describe('claiming an account', () => {
  test('that nobody has makes it the person’s', () =>
    given(identity)
      .when(claim(ada))
      .then([claimed(ada)]))
  test('again is nothing', () => given(identity, claimed(ada)).when(claim(ada)).thenNothing())
  test('of somebody else is refused', () =>
    given(identity, claimed(ada))
      .when(claim(grace))
      .thenRefused('already_exists', 'This GitHub account is linked to another Flightdeck account.'))
})

describe('releasing an account', () => {
  const release = (who: string) => ({ type: 'ReleaseIdentity', userId: who }) as const

  test('gives it up', () =>
    given(identity, claimed(ada))
      .when(release(ada))
      .then([released(ada)]))
  test('is for who has it', () => given(identity, claimed(ada)).when(release(grace)).thenNothing())
  test('is done once', () => given(identity, claimed(ada), released(ada)).when(release(ada)).thenNothing())
  test('leaves it to whoever comes next', () => {
    expect(stateAfter(identity, claimed(ada), released(ada))).toStrictEqual({ userId: null })
    given(identity, claimed(ada), released(ada))
      .when(claim(grace))
      .then([claimed(grace)])
  })
})
