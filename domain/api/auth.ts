/** Signing in, the profile, onboarding. */
import { z } from 'zod'
import { CompanySize, Role } from '../user/events.ts'
import { defineRead, defineWrite } from './call.ts'
import { limits, required, success, Text } from './fields.ts'

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

const userAnswer = { user: User }
const Email = Text.pipe(z.email('Enter an e-mail address.').max(254))

export const getMe = defineRead({
  path: '/auth/me',
  summary: 'The person who is signed in.',
  open: 'signed_in',
  answer: userAnswer,
})

export const updateProfile = defineWrite({
  method: 'PUT',
  path: '/auth/profile',
  summary: 'Changes the profile.',
  open: 'signed_in',
  body: z.object({
    fullName: required('Please enter your full name.', limits.nameLength).optional(),
    name: required('Please enter your full name.', limits.nameLength).optional(),
    email: Email.nullable().optional(),
  }),
  answer: userAnswer,
})

export const completeOnboarding = defineWrite({
  method: 'POST',
  path: '/auth/complete-onboarding',
  summary: 'Finishes the onboarding.',
  open: 'signed_in',
  body: z.object({
    fullName: required('Please enter your full name.', limits.nameLength),
    email: z.union([Email, z.literal('')]).optional(),
    companySize: CompanySize,
    role: Role,
  }),
  answer: userAnswer,
})

export const disconnectGitHub = defineWrite({
  method: 'POST',
  path: '/auth/disconnect-github',
  summary: 'Revokes the access to the code host; the sign-in stays.',
  answer: { ...success, user: User },
})

export const logout = defineWrite({
  method: 'POST',
  path: '/auth/logout',
  summary: 'Ends the session of the token.',
  open: 'signed_in',
  answer: success,
})
