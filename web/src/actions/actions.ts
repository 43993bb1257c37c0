/**
 * All actions that have a key or are in the palette. The keys, the palette and the list of shortcuts are made from this list. A part of the page
 * offers an action with `useAction`; an action that no part offers does nothing. When two actions share a key, the first available one in the list
 * runs: actions on Escape are therefore listed in the order in which Escape closes things. An overlay handles Escape before any of them.
 */
export interface ActionFacts {
  readonly id: string
  readonly label: string
  readonly group: 'Everywhere' | 'Dashboard' | 'Project' | 'Task' | 'Chat' | 'Terminal' | 'Code Changes'
  /**
   * For example `mod+k` (Ctrl, on a Mac Cmd), `?` or `n`: in lower case, in the order mod, shift, alt, key. `g d` means G, then D. Empty for an
   * action without a key.
   */
  readonly keys: readonly string[]
}

export const actions = [
  { id: 'palette', label: 'Search or run a command', group: 'Everywhere', keys: ['mod+k'] },
  { id: 'shortcuts', label: 'Show all shortcuts', group: 'Everywhere', keys: ['?'] },
  { id: 'stopVoice', label: 'Stop voice recording', group: 'Everywhere', keys: ['escape'] },
  { id: 'toggleVoice', label: 'Start or stop voice recording', group: 'Everywhere', keys: ['mod+shift+m'] },
  { id: 'undoDelete', label: 'Undo last delete', group: 'Everywhere', keys: ['z'] },
  // Of two available actions with the same key, the first runs. `commentOnLine` comes before `newTask`, as it needs a line with the focus.
  { id: 'commentOnLine', label: 'Comment on line', group: 'Code Changes', keys: ['c'] },
  { id: 'newTask', label: 'New task', group: 'Everywhere', keys: ['c'] },
  { id: 'goDashboard', label: 'Go to dashboard', group: 'Everywhere', keys: ['g d'] },
  { id: 'goProjects', label: 'Go to projects', group: 'Everywhere', keys: ['g p'] },
  { id: 'newProject', label: 'New project', group: 'Everywhere', keys: ['g n'] },
  { id: 'goFigures', label: 'Go to figures', group: 'Everywhere', keys: ['g f'] },
  { id: 'goSettings', label: 'Go to settings', group: 'Everywhere', keys: ['g s'] },
  { id: 'themeLight', label: 'Theme: light', group: 'Everywhere', keys: [] },
  { id: 'themeDark', label: 'Theme: dark', group: 'Everywhere', keys: [] },
  { id: 'themeSystem', label: 'Theme: system', group: 'Everywhere', keys: [] },
  { id: 'logout', label: 'Log out', group: 'Everywhere', keys: [] },
  { id: 'editProject', label: 'Edit project', group: 'Project', keys: [] },
  { id: 'projectSettings', label: 'Project settings', group: 'Project', keys: [] },
  { id: 'syncProject', label: 'Sync project', group: 'Project', keys: [] },
  { id: 'deleteProject', label: 'Delete project', group: 'Project', keys: [] },
  { id: 'cancelTask', label: 'Cancel run', group: 'Task', keys: [] },
  { id: 'retryTask', label: 'Retry task', group: 'Task', keys: [] },
  { id: 'createPullRequest', label: 'Create pull request', group: 'Task', keys: [] },
  { id: 'updatePullRequest', label: 'Update pull request', group: 'Task', keys: [] },
  { id: 'openPullRequest', label: 'Open pull request in a new tab', group: 'Task', keys: [] },
  { id: 'copyBranch', label: 'Copy branch name', group: 'Task', keys: [] },
  { id: 'undoTurn', label: 'Undo last turn', group: 'Task', keys: [] },
  { id: 'forkTask', label: 'New task from last turn', group: 'Task', keys: [] },
  { id: 'compareTask', label: 'Compare with another run', group: 'Task', keys: [] },
  { id: 'nextFailure', label: 'Next failure in replay', group: 'Task', keys: [] },
  { id: 'previousFailure', label: 'Previous failure in replay', group: 'Task', keys: [] },
  { id: 'deleteTask', label: 'Delete task', group: 'Task', keys: [] },
  { id: 'terminalFind', label: 'Find in output', group: 'Terminal', keys: ['mod+f'] },
  { id: 'terminalNext', label: 'Next match in output', group: 'Terminal', keys: ['mod+g'] },
  { id: 'terminalPrevious', label: 'Previous match in output', group: 'Terminal', keys: ['mod+shift+g'] },
  { id: 'terminalFindClose', label: 'Close output search', group: 'Terminal', keys: ['escape'] },
  { id: 'searchChat', label: 'Search messages', group: 'Chat', keys: ['/'] },
  { id: 'findInChat', label: 'Search messages in the chat', group: 'Chat', keys: ['mod+f'] },
  { id: 'closeChatSearch', label: 'Close message search', group: 'Chat', keys: ['escape'] },
  { id: 'closeFindInChanges', label: 'Close search in changes', group: 'Code Changes', keys: ['escape'] },
  { id: 'commandMode', label: 'Enter or leave command mode', group: 'Chat', keys: [] },
  { id: 'leaveCommandMode', label: 'Leave command mode', group: 'Chat', keys: ['escape'] },
  { id: 'stopTurn', label: 'Stop turn', group: 'Chat', keys: ['escape'] },
  { id: 'nextFile', label: 'Next file', group: 'Code Changes', keys: ['n'] },
  { id: 'previousFile', label: 'Previous file', group: 'Code Changes', keys: ['p'] },
  { id: 'nextHunk', label: 'Next change', group: 'Code Changes', keys: ['j'] },
  { id: 'previousHunk', label: 'Previous change', group: 'Code Changes', keys: ['k'] },
  { id: 'originOfLine', label: 'Origin of line', group: 'Code Changes', keys: ['o'] },
  { id: 'findInChanges', label: 'Find in changes', group: 'Code Changes', keys: ['mod+f'] },
  { id: 'nextInChanges', label: 'Next match in changes', group: 'Code Changes', keys: ['mod+g'] },
  {
    id: 'previousInChanges',
    label: 'Previous match in changes',
    group: 'Code Changes',
    keys: ['mod+shift+g'],
  },
] as const satisfies readonly ActionFacts[]

export type ActionId = (typeof actions)[number]['id']
