/** All routes of the query service, which serves most reads of the API. */
import { abilityRoutes } from './abilities.ts'
import { authRoutes, githubRoutes } from './user.ts'
import { adminRoutes } from './admin.ts'
import { artifactRoutes } from './artifacts.ts'
import { gitHubAccessRoutes } from './gitHubAccess.ts'
import { gitHubRightsRoutes } from './gitHubAppStatus.ts'
import { figuresRoutes } from './figures.ts'
import { comparisonRoutes } from './comparison.ts'
import { chatRoutes } from './chat.ts'
import { environmentRoutes } from './environment.ts'
import { feedbackRoutes } from './pullRequestFeedback.ts'
import { questionRoutes } from './questions.ts'
import { historyRoutes } from './history.ts'
import { mcpServerRoutes } from './mcpServers.ts'
import { projectSettingsRoutes, projectRoutes } from './projects.ts'
import { taskFileRoutes } from './taskFiles.ts'
import { taskRoutes } from './tasks.ts'
import { provenanceRoutes } from './provenance.ts'
import { undoRoutes } from './undo.ts'

export const queryRoutes = [
  ...authRoutes,
  ...projectRoutes,
  ...projectSettingsRoutes,
  ...environmentRoutes,
  ...mcpServerRoutes,
  ...taskRoutes,
  ...taskFileRoutes,
  ...undoRoutes,
  ...provenanceRoutes,
  ...comparisonRoutes,
  ...chatRoutes,
  ...artifactRoutes,
  ...feedbackRoutes,
  ...questionRoutes,
  ...historyRoutes,
  ...githubRoutes,
  ...gitHubAccessRoutes,
  ...figuresRoutes,
  ...adminRoutes,
  ...gitHubRightsRoutes,
  ...abilityRoutes,
]
