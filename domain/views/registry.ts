/** All views. The projector folds the events of each view into the view's own collection. */
import { auditLogView } from './auditLog.ts'
import { chatView } from './chat.ts'
import { feedbackView } from './feedback.ts'
import { figuresView } from './figures.ts'
import { imagesView } from './images.ts'
import { instructionsView } from './instructions.ts'
import { taskCommentsView } from './taskComments.ts'
import { logView } from './commandLog.ts'
import { mcpServersView } from './mcpServers.ts'
import { projectEnvironmentsView } from './projectEnvironments.ts'
import { projectIssuesView } from './projectIssues.ts'
import { projectSettingsView } from './projectSettings.ts'
import { projectsView } from './projects.ts'
import { questionsView } from './questions.ts'
import { runFactsView } from './runFacts.ts'
import { pullRequestsView } from './pullRequests.ts'
import { tasksView } from './tasks.ts'
import { usersView } from './users.ts'
import type { View, ViewDocument } from './view.ts'

export const views: readonly View<ViewDocument>[] = [
  usersView,
  projectsView,
  projectSettingsView,
  mcpServersView,
  chatView,
  logView,
  imagesView,
  auditLogView,
  figuresView,
  runFactsView,
  pullRequestsView,
  feedbackView,
  questionsView,
  projectIssuesView,
  taskCommentsView,
  projectEnvironmentsView,
  instructionsView,
  // Last, because collections are written in this order, one after the other: the version of a task must not be ahead of its messages and tool calls.
  tasksView,
]
