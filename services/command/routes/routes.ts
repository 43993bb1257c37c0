/** All routes of the command service. */
import { agentKeyRoutes } from './agentKeys.ts'
import { authRoutes } from './auth.ts'
import { chatRoutes } from './chat.ts'
import { comparisonRoutes } from './comparison.ts'
import { cleanUpRoutes } from './cleanUp.ts'
import { environmentRoutes } from './environment.ts'
import { feedbackRoutes } from './feedback.ts'
import { questionRoutes } from './questions.ts'
import { instructionRoutes } from './instructions.ts'
import { forkRoutes } from './fork.ts'
import { undoRoutes } from './undo.ts'
import { mcpServerRoutes } from './mcpServers.ts'
import { mcpSignInRoutes } from './mcpSignIns.ts'
import { prepareRoutes, taskRoutes } from './tasks.ts'
import { projectSettingsRoutes } from './projectSettings.ts'
import { projectRoutes } from './projects.ts'
import { pullRequestRoutes } from './pullRequest.ts'

export const commandRoutes = [
  ...authRoutes,
  ...agentKeyRoutes,
  ...projectRoutes,
  ...projectSettingsRoutes,
  ...environmentRoutes,
  ...mcpServerRoutes,
  ...mcpSignInRoutes,
  ...prepareRoutes,
  ...taskRoutes,
  ...forkRoutes,
  ...undoRoutes,
  ...comparisonRoutes,
  ...chatRoutes,
  ...pullRequestRoutes,
  ...feedbackRoutes,
  ...questionRoutes,
  ...cleanUpRoutes,
  ...instructionRoutes,
]
