import type { completeOnboarding } from '#domain/api/auth.schema.ts'
import type { BodyInputOf } from '#domain/api/call.schema.ts'

type Answers = BodyInputOf<typeof completeOnboarding>

export const companySizes: readonly { readonly value: Answers['companySize']; readonly label: string }[] = [
  { value: 'solo', label: 'Just me' },
  { value: '2-5', label: '2-5' },
  { value: '6-20', label: '6-20' },
  { value: '21-50', label: '21-50' },
  { value: '51-200', label: '51-200' },
  { value: '200+', label: '200+' },
]

export const roles: readonly { readonly value: Answers['role']; readonly label: string }[] = [
  { value: 'developer', label: 'Developer' },
  { value: 'designer', label: 'Designer' },
  { value: 'product_manager', label: 'Product Manager' },
  { value: 'team_lead', label: 'Team Lead' },
  { value: 'cto', label: 'CTO' },
  { value: 'other', label: 'Other' },
]

export const texts = {
  logout: 'Logout',
  pageTitle: 'Onboarding',
  step: (step: number) => `Step ${step} of 2`,
  percent: (percent: number) => `${percent}%`,
  progress: 'Onboarding progress',
  you: 'About you',
  team: 'About your team',
  fullName: 'Full Name',
  email: 'Email Address',
  fetched: 'Email was fetched from your GitHub account',
  companySize: 'Team Size',
  role: 'Role',
  continue: 'Continue',
  back: 'Back',
  complete: 'Complete Setup',
  failed: 'Onboarding completion failed',
} as const
