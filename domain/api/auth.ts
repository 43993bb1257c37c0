/** Signing in, the profile, onboarding. */
import { z } from 'zod'
import { CompanySize, Role } from '../user/events.ts'
import { defineCall } from './call.ts'
import { limits, minPosition, nothing, required, success, Text, written } from './fields.ts'

export const User = z.object({
  id: z.string(),
  name: z.string(),
  fullName: z.string(),
  email: z.string().nullable(),
  avatar: z.string().nullable(),
  onboardingCompleted: z.boolean(),
  githubConnected: z.boolean(),
  githubId: z.string().nullable(),
  githubUsername: z.string().nullable(),
})
export type User = z.infer<typeof User>

/** The error values of the sign-in screen (section 8). */
export const signInErrors = [
  'github',
  'server',
  'no_install_id',
  'session_lost',
  'user_not_found',
  'install_callback',
] as const
export type SignInError = (typeof signInErrors)[number]

const userAnswer = z.object({ user: User })
const Email = Text.pipe(z.email('Enter an e-mail address.').max(254))

export const getMe = defineCall({
  method: 'GET',
  path: '/auth/me',
  summary: 'The person who is signed in.',
  params: nothing,
  query: z.object({ minPosition }),
  body: nothing,
  status: 200,
  answer: userAnswer,
  faults: ['sign_in_required'],
})

export const updateProfile = defineCall({
  method: 'PUT',
  path: '/auth/profile',
  summary: 'Changes the profile.',
  params: nothing,
  query: nothing,
  body: z.object({
    fullName: required('Please enter your full name.', limits.nameLength).optional(),
    name: required('Please enter your full name.', limits.nameLength).optional(),
    email: Email.nullable().optional(),
  }),
  status: 200,
  answer: userAnswer.extend(written),
  faults: ['sign_in_required', 'invalid_input'],
})

export const completeOnboarding = defineCall({
  method: 'POST',
  path: '/auth/complete-onboarding',
  summary: 'Finishes the onboarding.',
  params: nothing,
  query: nothing,
  body: z.object({
    fullName: required('Please enter your full name.', limits.nameLength),
    email: z.union([Email, z.literal('')]).optional(),
    companySize: CompanySize,
    role: Role,
  }),
  status: 200,
  answer: userAnswer.extend(written),
  faults: ['sign_in_required', 'invalid_input'],
})

export const disconnectGitHub = defineCall({
  method: 'POST',
  path: '/auth/disconnect-github',
  summary: 'Revokes the access to the code host; the sign-in stays.',
  params: nothing,
  query: nothing,
  body: nothing,
  status: 200,
  answer: success.extend({ user: User, ...written }),
  faults: ['sign_in_required'],
})

export const logout = defineCall({
  method: 'POST',
  path: '/auth/logout',
  summary: 'Ends the session of the token.',
  params: nothing,
  query: nothing,
  body: nothing,
  status: 200,
  answer: success.extend(written),
  faults: ['sign_in_required'],
})
