/** Signing in, the profile, onboarding, sessions, and the deletion of an account. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { CompanySize, Role } from '../user/events.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { limits } from './limits.ts'
import { required, success, Text } from './fields.schema.ts'
import { authRoutes, otherSignInRoutes } from './auth.ts'

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

const userAnswer = { user: User }
export const Email = Text.pipe(z.email('Enter a valid email address.').max(254))
/** The email address of a profile; `''` for none. The route checks a changed one by `Email`, since the code host may have given the stored one. */
const ProfileEmail = Text.max(1_000).nullable().optional()

/** The email address that a person signs in with, in one canonical form. */
const SignInEmail = z
  .string({ error: 'Enter a valid email address.' })
  .max(1_000, 'Enter a valid email address.')
  .transform((email) => email.trim().toLowerCase().normalize('NFC'))
  .pipe(Email)
const passwordLength = { min: 8, max: 200 }
const passwordSentence = `A password must be ${passwordLength.min} to ${passwordLength.max} characters long.`
const NewPassword = z
  .string({ error: 'Enter a password.' })
  .max(2 * passwordLength.max, passwordSentence)
  .pipe(Text)
  .refine((password) => {
    const characters = [...password].length
    return characters >= passwordLength.min && characters <= passwordLength.max
  }, passwordSentence)
/** A password as entered, not checked against the rules for new passwords. */
const Password = z
  .string({ error: 'Enter your password.' })
  .min(1, 'Enter your password.')
  .max(2_000, 'A password can be at most 2,000 characters long.')

/** Registers a person. 409 when the address is taken. Like every call that is open to anybody, it takes no `Idempotency-Key`. */
export const register = defineWrite(otherSignInRoutes.register, {
  summary: 'Creates an account with a password and signs in.',
  open: 'anybody',
  status: 201,
  body: z.object({
    name: required('Please enter your name.', limits.nameLength),
    email: SignInEmail,
    password: NewPassword,
  }),
  answer: { token: z.string(), user: User },
  faults: ['already_exists', 'not_allowed', 'password_sign_in_off', 'rate_limited'],
})

/** Signs in with a password. 401 both for an unknown address and for a wrong password. Takes no `Idempotency-Key`, like `register`. */
export const login = defineWrite(otherSignInRoutes.login, {
  summary: 'Signs in with a password.',
  open: 'anybody',
  body: z.object({ email: SignInEmail, password: Password }),
  answer: { token: z.string(), user: User },
  faults: ['wrong_password', 'not_allowed', 'password_sign_in_off', 'rate_limited'],
})

/**
 * Starts connecting an account at the code host. The browser must open `url`, which works once, within a minute, and only in the session and browser
 * that requested it; a cookie set by this response identifies the browser. The browser then shows the task `taskId` or, without one, `/settings`.
 * After a failure it shows `/settings` or, if the session or the flow's cookie is gone, `/auth/callback`, with an `error` in the address.
 */
export const linkGitHub = defineWrite(authRoutes.linkGitHub, {
  summary: 'Starts connecting an account on the code host to the signed-in user.',
  open: 'signed_in',
  body: z.object({ taskId: TaskId.optional() }).optional(),
  answer: { url: z.string() },
})

/** For the page that shows why a sign-in ended with `not_allowed`. Only the refused browser gets the reason, for ten minutes; others get a 404. */
export const getRefusal = defineRead(authRoutes.getRefusal, {
  summary: 'Which account was refused at sign-in, and who can grant access.',
  open: 'anybody',
  answer: { login: z.string(), sentence: z.string() },
  faults: ['not_found'],
})

/** The signed-in person. `isAdmin` is true for people named in `ADMINS`, and in single-user mode for the owner of `GITHUB_TOKEN`. */
export const getMe = defineRead(authRoutes.getMe, {
  summary: 'The signed-in user.',
  open: 'signed_in',
  answer: { ...userAnswer, isAdmin: z.boolean() },
})

export const updateProfile = defineWrite(authRoutes.updateProfile, {
  summary: 'Changes the profile.',
  open: 'signed_in',
  body: z.object({
    fullName: required('Please enter your full name.', limits.nameLength).optional(),
    name: required('Please enter your full name.', limits.nameLength).optional(),
    email: ProfileEmail,
  }),
  answer: userAnswer,
})

export const completeOnboarding = defineWrite(authRoutes.completeOnboarding, {
  summary: 'Completes onboarding.',
  open: 'signed_in',
  body: z.object({
    fullName: required('Please enter your full name.', limits.nameLength),
    email: ProfileEmail,
    companySize: CompanySize,
    role: Role,
  }),
  answer: userAnswer,
})

export const disconnectGitHub = defineWrite(authRoutes.disconnectGitHub, {
  summary: 'Revokes access to the code host. The user stays signed in.',
  answer: { ...success, user: User },
})

/** Deletes the account at once: the client must ask for confirmation first. Ends all sessions; a later sign-in or registration creates a new user. */
export const deleteAccount = defineWrite(authRoutes.deleteAccount, {
  summary:
    'Deletes the account with all its projects, tasks, images and secrets, and revokes access to the code host.',
  open: 'signed_in',
  answer: success,
})

export const logout = defineWrite(authRoutes.logout, {
  summary: 'Ends the session that the token belongs to.',
  open: 'signed_in',
  answer: success,
})

const Session = z.object({
  id: z.uuid(),
  startedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  client: z.string().nullable(),
  current: z.boolean(),
})
export type Session = z.infer<typeof Session>

/**
 * The person's sessions. `client` is the browser and its system, such as 'Chrome on Linux', if known; `current` marks the session of this request.
 */
export const listSessions = defineRead(authRoutes.listSessions, {
  summary: "The user's sessions, newest first.",
  open: 'signed_in',
  answer: { sessions: z.array(Session) },
})

/** Ends a session: its token is refused from then on, and its sockets are closed. */
export const endSession = defineWrite(authRoutes.endSession, {
  summary: "Ends one of the user's sessions.",
  open: 'signed_in',
  params: z.object({ sessionId: z.uuid() }),
  answer: success,
  faults: ['not_found'],
})

export const endSessions = defineWrite(authRoutes.endSessions, {
  summary: "Ends all of the user's sessions, including this one.",
  open: 'signed_in',
  answer: success,
})
