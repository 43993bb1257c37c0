/** What is said where a call about projects failed. Apart from what the pages say: the dashboard makes these calls too. */
export const errorTexts = {
  notFetched: 'Failed to fetch projects',
  oneNotFetched: 'Failed to fetch project',
  branchesNotFetched: 'Failed to fetch branches',
  notCreated: 'Failed to create project',
  notSynced: 'Failed to sync project',
  notUpdated: 'Failed to update project',
  notDeleted: 'Failed to delete project',
  repositoriesNotFetched: 'Failed to fetch repositories',
  repositoryFailedWhy: 'An error occurred while creating the repository.',
} as const
